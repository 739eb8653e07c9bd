// Package watch tells that something changed in folders, so that whoever keeps a copy of a
// file knows to compare. It says where, never what: what a path is now, the disk says.
//
// Words. A tree is a folder that is watched with all folders below it; a flat folder is
// watched alone. An anchor is the nearest folder there is above a tree or flat folder that
// is not there: it is watched until that comes (back). An event is a batch of paths.
//
// Folders are watched and never files: editors save by a rename over the file, which ends a
// watch on it and not one on its folder.
//
// Invariants:
//   - An event says too much rather than too little: with Overflow anything may have changed.
//     It comes first of all, when watching has begun, and whenever something was missed: the
//     system's queue ran over, more paths changed than are listed, a folder came back.
//   - What cannot be watched is not missed silently: Limited is called once, and whoever
//     watches compares when it matters.
//   - Symbolic links are not followed, and what a version control system keeps for itself
//     (.git and the like) is not watched.
//   - No more than MaxFolders folders are watched, and no more than MaxPaths paths are kept
//     for an event that nobody takes.
//   - Nothing runs by the clock: timers only gather what has come.
//   - After Close nothing of it runs, and the channel of events is closed.
//
// Measured on Linux (2 slow cores, BenchmarkStart): a tree of 1,000 folders with 10,000
// files is watched MEASURED after New, and costs MEASURED of our memory and about 1 MB of
// the kernel's; closing it takes MEASURED. macOS opens every file of a watched folder
// (kqueue), so fewer folders are watched there.
//
// Absent on purpose: what changed in a file, who did it, ignore files (Skip is the caller's),
// polling.
package watch
