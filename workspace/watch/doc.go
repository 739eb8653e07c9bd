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
// Cost, measured on Linux with two slow cores (BenchmarkStart): a tree of 1,000 folders with
// 10,000 files is watched 85 ms after New, holds 0.5 MiB of our memory and about 1 MiB of the
// kernel's, and is closed in 11 ms; New itself does not wait. A flat folder costs one
// thousandth of that. macOS opens every file of a watched folder (kqueue), so fewer folders
// are watched there.
//
// Known limit: a flat folder that is moved because a folder above it was renamed is still
// watched where it went, and not where it was, until Set is called or the system's queue
// runs over. A tree knows.
//
// Absent on purpose: what changed in a file, who did it, ignore files (Skip is the caller's),
// polling.
package watch
