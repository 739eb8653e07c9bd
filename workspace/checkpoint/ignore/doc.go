// Package ignore decides what a .gitignore names, as git does, and reads which paths git tracks.
//
// # Words
//
// Rules are those of one .gitignore file. A verdict is what they say of one path: nothing, Ignored, Kept (a rule that begins with
// "!"), or Doubt. An index is git's list of what it tracks, of which it ignores nothing.
//
// # Invariants
//
//   - Verdicts are those of git (dir.c and wildmatch.c of git 2.39), tested against it.
//   - Hostile rules cost bounded time: a path for which matching takes too many steps, and a file that is too large, are Doubt, and whoever asks
//     holds in doubt.
//   - Paths and rules are bytes.
//
// # Decisions
//
// Own code, as the libraries at hand differ from git: on brackets, on trailing spaces, on "**" beside other characters, on bytes that are
// no UTF-8; and none bounds its time.
//
// # Deliberately absent
//
// Folding case (core.ignoreCase is a setting of git). Which .gitignore files and which index count for a path: package checkpoint.
// Everything in an index but the paths.
package ignore
