// Team-rules is a decider: it refuses and allows commands by the rules of a team.
//
//	go build -o team-rules .
//	sallyport plugin test .
//
// rules.json holds the beginnings of commands: what "deny" has is refused, with
// its message; what "allow" has is let through; the rest is left to the user. An
// entry is a text or {"command": …, "message": …}.
//
// # Words
//
// An entry is the beginning of a command, in whole words: "git push -f" is not
// the beginning of git push -format.
//
// # Invariants
//
//   - Every command of a line is judged, after && and within $( ) too: one that is
//     refused refuses the line, and a line is let through only if all are.
//   - The rules are read at the start; if they cannot be, the program ends, for a
//     team's ban must not be lost quietly.
//   - What is not a command is left to the user, and so is a line of which only a
//     part came.
//
// # Deliberately absent
//
// Anything but commands. Options in another order: "rm -rf" does not mean rm -r -f.
package main
