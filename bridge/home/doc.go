// Package home gathers the user's side of a bridge: the configuration that is
// in effect for a folder, the harnesses there are, built-in, installed and the
// user's own, and the store of turns.
//
// Invariants:
//
//   - Only the user's configuration names programs; a project's file can only
//     tighten what the user wrote.
//   - A configuration that was never read whole starts no agent: its fences
//     are not known. One that breaks later leaves the last good one in place.
//   - What is wrong with one source costs only that source, and is told.
//   - One process has one store of turns, opened when it is first asked for.
//
// Deliberately absent: any store of secrets; agents find theirs in the
// variables that the user names.
package home
