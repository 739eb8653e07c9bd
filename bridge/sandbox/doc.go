// Package sandbox starts an agent's process tree inside the fences of its session, held by the kernel.
//
// # Words
//
//   - layout: what a policy asks of the kernel (fence.Layout)
//   - needs: what the agent itself must be able to write, by its manifest
//   - backend: what holds the layout: bubblewrap, Landlock, macOS' seatbelt, or nothing
//   - inner step: this program, started again inside the fence; it adds Landlock, tests the fence, and becomes the agent
//   - mask: a mount that closes or hides one path
//   - ghost: an empty folder (or git's commondir) that is made on disk so that a mask can stand on it
//   - level: full, partial (gaps are named) or none
//
// # How
//
// bubblewrap makes file system, processes and IPC private; the inner step adds Landlock's scopes, which close signals and
// abstract sockets, and no Landlock rules on files, which would forbid the agent's own sandbox its mounts. Where bubblewrap
// is missing or refused, Landlock alone holds what it can. A backend is chosen by running it.
//
//	us → guard (bridge/process) → bwrap → inner step → agent
//
// # Invariants
//
//   - What a fence holds comes from the session's policy alone, the one that fs/* is judged by.
//   - What an agent says of the program that is to be started (Said) reaches what is inside and opens nothing.
//   - The list of mounts, the agent's environment and the inner step's orders travel on descriptors: never in arguments or
//     environment. bwrap is started with an empty environment, from a fixed path that only root can write.
//   - A report says that something is held when the inner step tried it inside the fence and was refused.
//   - What was promised and does not hold ends the start: status 126, a sentence on standard error, no agent.
//   - A program that is given a terminal has it in a session of its own, which the fence is not in.
//   - The agent gets descriptors 0, 1 and 2, no capability and no new privileges, also as root.
//   - Nothing is left on disk when the fence is closed. After a SIGKILL the next start in the same place clears it.
//   - Files are never made in a project, except git's commondir, which then says what git does without it.
//   - A program that imports this package becomes an inner step when it is started as one, before its main function.
//
// # Not held
//
// Hard links that were there before; what reaches a daemon over the network or over a socket that is not on the list; masks
// that the user takes away by replacing a file or folder, and disks mounted meanwhile, which is noticed and told (Watch); a folder's new reserved files,
// which are told.
//
// # Deliberately absent
//
// Mount namespaces of our own (Ubuntu permits them to bwrap, not to us), seccomp, decisions on what is to be held
// (workspace/fence), and on what to do when a mask is lost (bridge).
package sandbox
