// Package workspace reads and writes the files of a project for agents, with an editor's
// unsaved buffers as the truth. It is the one door by which text reaches an agent and the
// one by which an agent's text reaches a buffer or the disk.
//
// Words. A document is a text that an editor has open. It is dirty when its text differs
// both from what was last loaded or saved and from the disk, judged by hash and never by
// "is open"; a clean document is behind when the disk has newer bytes. The base of a write
// is the text that the agent made its new text from.
//
// Invariants:
//   - A fence is asked before the editor and before the disk.
//   - A path that is open never falls back to the disk because the editor does not answer.
//   - What the user typed and the agent has not seen survives every write: it is in the
//     buffer afterwards, or the write failed.
//   - A success is only claimed for text that was seen in the buffer or is on the disk.
//   - Writes to one path happen in the order they came.
//   - A base is never newer than what the agent knows: an older one costs precision, a
//     newer one would cost the user's text.
//   - What somebody wrote past us comes into an open document once, whoever notices it first
//     and however often it is asked for: as it is where nothing is unsaved, else merged.
//   - No goroutine, and no timer, for a document or a session.
//
// Absent on purpose: the wire (LSP stops at server, ACP at bridge), asking for permission,
// deciding what to do with dirty documents before a prompt, and watching (see watch).
package workspace
