// Package fence says which file accesses of one session are refused, and opens the files of those that are not.
//
// # Words
//
// The fences are those of the design: the region (where an agent may write), reserved names (files that act later, such as
// .git, and our own and the agents' configuration), unreadable files (secrets, keys) and private projects. A fifth kind,
// [Special], refuses what is not a plain path at all. A place is a path after resolution: its components with every link
// followed, together with what stands on disk at each of them. A base is a folder that the user chose: the session's
// folder, its additional folders, the entries of the region.
//
// # Invariants
//
//   - A path is judged by components, as it was asked for, at every link that is followed, and as it resolved. It is cleaned
//     before anything else, so what is judged is what is opened.
//   - Deny lists of names always fold case (after NFC, without ignorable runes and trailing dots and spaces), whatever the
//     volume. Allow rules compare exactly, or by the identity of a folder on disk, which is right on every volume.
//   - Closed folders (private projects, our own state) are recognised by name and by identity, so links, other spellings, bind
//     mounts and a rename by the user make no difference.
//   - Reads: the file is opened without blocking, then the handle is asked where it really is, and judged again.
//   - Writes: the parent folder is reached from a base through real directories only, each compared before and after it was
//     opened; a link swapped in between starts the judgement anew. What the caller gets is the open parent and one name, in
//     which nothing can be redirected any more.
//   - A refusal comes before anything is made, and before it could tell whether the file exists.
//   - An error that leaves doubt (a folder that cannot be looked into) is an error, never an allowance.
//
// # Decisions
//
//   - Names count beneath the session's folder and its additional folders, so a project may itself live below
//     .claude/worktrees; .git counts in the whole path. No entry of the region opens a reserved name. .gitignore, .gitattributes and files like AGENTS.md stay writable; .gitmodules does not.
//   - An unreadable file is not written either: a change to what cannot be shown cannot be reviewed. .env.example, .env.sample,
//     .env.template, .env.dist and .env.defaults are readable; .envrc is not (it holds secrets as often as .env does).
//   - A folder that matches a list is closed with everything beneath it.
//   - In a .ssh folder everything but *.pub, known_hosts, config and authorized_keys is closed, .gnupg wholly; no setting opens them.
//   - Layout tells the kernel the same, with three differences. Git's own files are open to a process tree but for those that
//     act later, so that an agent's git works. An agent's sign-in is open to itself. A file with an unreadable name whose
//     content git tracks is closed to writes only, as git shows it anyway.
//   - A path through /proc is refused for reading: /proc/self is this program, its environment holds what agents must not get.
//   - A private folder that contains the session's own folder is not private to it.
//
// # Deliberately absent
//
// No file contents (package disk), no configuration format, no kernel fences (bridge/sandbox sets up what Layout says). Hard links made before the session cannot be
// told from their targets for reading. A folder that is laid out like a bare git repository without being named .git is not
// recognised, except where the .git of a base points to it.
package fence
