// Package answers keeps what a person answered for good: the rules that their
// "always" and "never" became, one file for each project.
//
// # Words
//
// An answer is one rule with the agent that it is for and the day it was given. A
// project is the folder of its sessions, absolute and with every link followed.
//
// # Invariants
//
//   - The files are in the user's state folder, which every fence keeps from agents,
//     and readable by their user only. Nothing is written into a project.
//   - A file is whole or absent: it is replaced at once, by one process at a time.
//   - A file that cannot be read whole is an error, never fewer answers: one that is
//     lost may be one that forbids. It is never written over.
//   - An answer that allows ends after [Lasts]; one that forbids lasts until it is
//     taken back.
//   - Memory is bounded: [Most] answers a project, [maxFile] bytes a file.
//
// # Deliberately absent
//
// Rules are texts here; what they mean is known elsewhere.
package answers
