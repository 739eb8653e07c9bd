// Package receipt keeps the record of turns: what one was held to, what it did, what it changed, and how it ended.
//
// # Words
//
// A receipt is the record of one turn, or of an undo or a redo, which are turns of their own kind. The log is all receipts of a
// project: one file a month, one receipt a line, each with its number (seq), the hash of the one before (previous) and its own. The head is
// a small file beside it that says how many receipts there are and the hash of the last. A torn tail is what a writer left that died
// within a line; it is set aside in a file of its own. A verdict is what a check of the user's said after a turn.
//
// # Invariants
//
//   - A receipt has no file contents, prompts, thoughts, titles or values of the environment. What looks like a secret in a target, a
//     reason or a source is replaced before it is written, and so are queries of addresses (see Redact).
//   - Lists are bounded, and say how many there were. Changes that the user made, or may have made, are the last to be cut.
//   - The hash of a receipt is over the bytes of its line as written, without the hash itself: fields that a later version adds count too.
//   - A line that was written is never changed or removed by us. Only a torn tail is, after it was copied.
//   - A receipt is on the disk before Append returns without an error, and after an error the log is as it was. A crash leaves either.
//   - The order of a log is that of its numbers, also when the clock goes back: a later receipt is in the same file or a later one.
//   - One writer at a time, of all processes. Readers need no lock: they see whole lines.
//   - A log that was tampered with takes further receipts, and Verify keeps naming what was done to the others. Only what was
//     put after the last receipt, hashes and all, shows no longer than until the next one, as the head is then made anew.
//   - Files are 0600 in folders of 0700. They may hold anything when they are read: a line is at most 16 MiB, and none of it
//     reaches a terminal but through workspace/text.Visible.
//
// # Deliberately absent
//
// Signatures: who may write the user's state folder may write a whole new chain; the chain finds accidents and clumsy hands, and
// makes a sly one redo all that came after. Also absent: what decides attribution and what runs the checks (turns and the bridge),
// and any way to remove a receipt.
package receipt
