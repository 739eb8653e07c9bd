// Package turns puts turns on the record and takes them back.
//
// A turn begins with a checkpoint and a journal; at its end the trees before and after are compared, each changed path is
// attributed, and the receipt is written. An undo gives exactly these paths the state that they had, open documents through the
// editor, and is a turn of its own kind.
//
// # Words
//
// A turn runs from Begin to End. Its journal is what it did so far, one JSON value a line, held by a lock as long as its process
// lives. Its trace is what undoing needs of it: the checkpoints and every changed path with its attribution, where the receipt
// has only the first of them. A record is a turn, an undo or a redo. A buffer is the unsaved text of an open document. A path
// stands in conflict when it is not as the record left it.
//
// # Invariants
//
//   - Attribution compares checkpoints; what was seen meanwhile only says whose a difference is.
//   - What the user made is not taken back; what may be the user's only by force, and what is overwritten by force stays in the
//     store as long as the undo itself can be taken back.
//   - An undo changes no path but those of its record, and none that is not as the record left it, unless by force.
//   - While a turn runs on some folder no undo does, and the other way round, over all processes.
//   - A journal whose process is gone is ended by exactly one of the processes that find it.
//   - A trace is on the disk before the receipt, and the receipt before its journal goes: a crash at any moment leaves one of
//     them to say what happened.
//   - Nothing here makes a turn fail: a checkpoint that cannot be taken, or a journal that cannot be written, is said on the
//     turn and its receipt.
//
// # Decisions
//
//   - What nobody spoke of is the agent's (silent): its shell tells nobody what it does. It is unsure where another turn ran on the
//     same folders, and after a crash where it changed later than the process's last sign of life. The times of the system say
//     that, on Unix those that no program can set.
//   - A file is the user's only if its last text was saved from the editor, no write of the agent's to it is known, and the text had
//     not come from the disk before.
//   - A folder is whose what is in it is.
//   - Of a document with unsaved text the agent's part is taken back, as a text: a write through us, or what bringing its change of
//     the file into the document made. What the user alone typed is no change of the turn.
//   - Files go back first, by package checkpoint, and the documents that show them follow. A document that does not take it is behind
//     its file, and loads it as after any other write past the editor.
//   - An undo takes no checkpoint of the project, but where it overwrites a text that no other has: the two of the record hold all
//     that it writes and, without force, all that it overwrites.
//   - Undo without an id is the last turn of which nothing was taken back yet, so that repeating it goes on; redo takes back the last
//     undo that stands, so that repeating it comes forward again.
//   - After a crash in an undo it is on the record as far as it came; the same undo again does the rest.
//   - A project folder that the agent removed is an empty one, and is made again by an undo.
//   - A prune waits for who takes or reads checkpoints, and they for it.
//   - Retention goes by the time of turns, the youngest are kept; the cap comes before what could be taken back.
//
// # Deliberately absent
//
// Watching, bringing changes into open documents after a turn (package workspace), checks, and who may ask for an undo.
package turns
