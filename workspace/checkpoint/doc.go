// Package checkpoint keeps the state of a project's folders before a turn, compares it with what is there later, and takes
// back what changed.
//
// # Words
//
// A root is a folder of a project. A checkpoint is the state of all roots at about one moment: for each a tree of names with kind,
// mode and hash. What a checkpoint does not hold is left out, and stands in the tree with its reason. The resident index is what
// the last walk of a root saw: with it, the next one reads only what changed. A plan is what takes a turn back, before it is
// carried out; a conflict is a path that stays as it is. A partial checkpoint holds single paths: what was overwritten by force. A
// folder is partly held when it is left out but for single paths in it: those that git tracks though they are ignored, and those that
// Store.Add took up.
//
// # Invariants
//
//   - A checkpoint is whole or absent: contents and trees are on the disk before the manifest is, and it is renamed into place. Each step of
//     a prune leaves all that the kept checkpoints need. When a prune does not know what is needed, it removes nothing.
//   - No link is followed: folders are opened one name at a time, beneath the root, and are no links; the root is none either.
//     A tree that is swapped for a link while it is walked is left out.
//   - Names that fold to .git are no part of a checkpoint, at any depth, files or folders, and are never written or
//     removed. A nested repository and a submodule are their files. No git runs, and no setting of git has an effect.
//   - A file whose bytes could not all be had at one moment is left out: never a half, never a mix.
//   - What is left out is never deleted or written. A folder of which only a part could be listed is left out whole.
//   - Restore touches the paths of the plan and no others, and each only if what stands there is what the turn left, seen
//     again just before. With force, what is overwritten is stored first. Folders go only when they are empty.
//   - Files and links are replaced by rename: a path shows the old or the new. Restoring again after a crash does the rest.
//   - Paths are bytes: names need not be UTF-8.
//
// # Decisions
//
//   - The key of a file is size, mtime, ctime, inode and mode. One that was read within a clock's tick of its last change is
//     read again the next time. On Windows change time and file id take an open file each, which would make a walk many times slower:
//     an edit that keeps size and mtime is not seen there.
//   - Two checkpoints in a row that are the same are one; its age is that of its last use.
//   - The first checkpoint of a root is stored as it is, for speed; later ones, up to 8 MiB, compressed, and a prune compresses what
//     it moves. Contents above 1 MiB are stored in chunks of it, so a file that grows takes only its new end.
//   - A tree is stored as what is different from that of the walk before: else a few changed files in a small project take more for
//     the trees above them than for themselves.
//   - What the .gitignore files of a tree name is left out when it is large: files above 1 MiB, and folders, which are not walked. It is
//     the user's build output; an agent's change in it is not seen. No .gitignore above the root is read, and none of git's own lists:
//     not the user's excludes, not info/exclude.
//   - What git tracks is not ignored, as for git: so a turn that writes "*" into a .gitignore does not hide the sources from the next
//     one. Only the paths in git's index are read, that of the repository around the root too, and only when something is ignored.
//   - When it cannot be decided whether something is ignored, it is held. Decisions are kept with the index, until a .gitignore changes.
//   - With Options.Base, a path is left out as ignored only if the .gitignore files of that checkpoint name it too.
//   - Restored files have a new mtime, so that builds see them. All other files keep theirs.
//   - A restored file is a new inode. It gets owner, extended attributes and access lists of the file whose place it takes, and names
//     of one file that all come back are one file again. A checkpoint itself has none of that, so a file that was deleted comes back
//     with those of a new one. What is known to be lost is in Step.Lost. Setuid does not go with another owner.
//   - Of a folder that nobody may list, the mode is held and comes back; what is in it is not known.
//   - A root that is gone is an error of Take; one that only one checkpoint has is not compared.
//   - With several roots in one another, the outermost counts, unless what is within is left out there.
//
// # Deliberately absent
//
// Open documents, who changed what, receipts, retention of turns: whoever calls this. Ownership and
// extended attributes of what is gone, holes of sparse files. Reuse of git's objects.
package checkpoint
