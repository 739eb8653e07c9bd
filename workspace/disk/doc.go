// Package disk reads and writes text files on disk, through the fences of package fence.
//
// # Words
//
// The text of a file is its content as UTF-8 without a leading byte order mark. Hashes are of the text, in the form of
// text.Hash; so the hash of a file equals that of an editor's buffer that was loaded from it. A whole read has neither line nor
// limit; every other is a window. The survey of a file is what one pass over it tells without keeping it.
//
// # Invariants
//
//   - Every file is opened by package fence, or beneath the folder that it opened. This package follows no path by itself.
//   - What is not UTF-8 text is an error for reading and for overwriting. Nothing is decoded lossily, cut short or masked.
//   - Reading never blocks on a fifo or device, and takes no more memory than the text asked for and one buffer.
//   - A write replaces the file whole: at every moment the path shows the old content or the new, also when we are killed.
//     Content reaches the disk (fsync) before the rename.
//   - A file that has several hard links is never written in place: its other names keep the old content.
//
// # Decisions
//
//   - A file whose lines all end in CRLF keeps these when the new content has no CR at all; Written says so. Any other content
//     is written as sent.
//   - A byte order mark stays when it was there and is never added: content that begins with U+FEFF loses it when the
//     file had none. A new file is written as sent.
//   - Kept by a replacement: permission bits, owner and group, extended attributes (on Linux, access lists among them). Dropped,
//     as the system's own write does: setuid, setgid and file capabilities.
//   - A file marked read-only, or that we could not open for writing, is not replaced although its folder would permit it.
//   - In place, so not atomically: only where the owner cannot be kept, the folder takes no new file, or the file is a
//     mount point; and then only with a single link.
//   - Overwriting looks at the old file in one pass, whatever its size.
//
// # Deliberately absent
//
// Open documents, merging, ordering of writes, undo: package workspace. Folder access lists of macOS. A directory fsync: after
// a power cut the old file may be back, whole.
package disk
