// Package text is the arithmetic of text: positions, edits, differences,
// merging, windows and line endings. Everything that a keystroke or an agent's
// write passes through on its way into a document is computed here and nowhere
// else.
//
// # Words
//
//   - A position is a line and a character as the Language Server Protocol
//     counts them: both from 0, the character in code units of an [Encoding].
//   - An offset is a byte offset into a string.
//   - An edit replaces the bytes between two offsets. A list of edits is
//     ascending, does not overlap, and all its offsets are in the text before
//     the first of them.
//   - A change is what an editor sends: a range and a text, each change in the
//     text that the one before it left.
//   - Base, current, want: what an agent last read, what the editor holds now,
//     what the agent asks for.
//
// # Two kinds of lines
//
// LSP positions end a line at "\n", at "\r\n" and at a lone "\r", as its
// section "Text Documents" says. Everything else here (windows, differences,
// conflicts, [EndingOf]) ends a line at "\n" or "\r\n" only: a lone "\r" is
// content, so that a file with stray carriage returns is read and written back
// byte for byte. Only functions that take an Encoding count the LSP way.
//
// # Invariants
//
//   - Apply(old, Diff(old, new)) is new, for every two strings.
//   - No edit made here starts or ends inside a rune or between "\r" and "\n",
//     of the old text or of the new.
//   - Diff and Rebase take time bounded by the size of their input and a fixed
//     search budget, however hostile the input; past the budget the edits get
//     coarser, never wrong.
//   - Rebase never loses an edit of the current text: it is in the result, or
//     the answer is a [ConflictError].
//   - A [Document] costs at most a small constant times its text, and an edit
//     costs time in proportion to the edit, not to the document.
//   - Nothing panics, on invalid UTF-8 neither; there it may only be coarser.
//
// # Deliberately absent
//
// Files, URIs, clocks, goroutines, versions, and any knowledge of who edits.
// There is no way to mark a conflict inside the text: a conflict is an error.
// Line endings are never converted on the way; [ToCRLF] is for the caller who
// decided to.
package text
