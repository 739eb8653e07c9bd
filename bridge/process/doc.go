// Package process starts one program and ends it with all that came of it.
//
// It also builds the program's environment from nothing (Environ) and finds the
// program (LookPath, Finder, CheckScript).
//
// # Words
//
//   - agent: here, any program started by Start
//   - tree: the agent and whatever it started, directly or not
//   - guard: on Unix, a small process of ours between us and each agent
//
// # How a tree is held
//
// Unix: Start runs this program again as a guard, and the guard starts the
// agent. The agent's stdin, stdout and stderr are pipes between us and the agent;
// no byte passes through the guard; or one terminal is all three, and the agent
// leads a session whose terminal that is. Nothing is on its command line or in its
// environment: what to start comes over a pipe. When that pipe ends, because we
// stopped or died, even by SIGKILL, the guard ends the tree: it waits a second,
// sends TERM, waits another, and kills.
//
// Linux: the guard is a subreaper (prctl(2)): what loses its parent becomes its
// child, also with a session and a group of its own. So the descendants of the
// guard are the whole tree, at any time, and "nothing is left" is what wait4
// says. One guard for all agents would be smaller, but could not tell whose an
// orphan is. Measured: a guard adds 2 ms to the start of an agent and has 4 MB
// resident, of which 1 MB is its own and the rest the shared program text.
//
// macOS and other Unix: the guard finds the agent's group and, on macOS, the
// descendants of the agent. Not held: a process that left the group and lost its
// parent before the guard looked.
//
// Windows: a job object that kills what is in it when its last handle, ours, is
// closed. The agent is started suspended and put into it first. There is no TERM:
// after its input is closed and the grace is over the tree is killed.
//
// # Invariants
//
//   - When the agent ends, by itself or not, what it left behind is ended within
//     half a second. When we end, the tree is gone within three.
//   - After Stop returned nil, nothing of the tree is left.
//   - An agent never gets a variable that the base or its EnvSpec does not name,
//     nor a file of ours but its three pipes or its terminal; a fence (Wrap) is
//     given its files.
//   - Stderr is always drained, and takes bounded memory.
//   - Stdout ends after the agent did, also if its pipe does not; what the agent
//     wrote is read first, however slow the reader.
//   - A program that imports this package becomes a guard when it is started as
//     one, before its main function. This also holds for tests of other packages.
//
// # Not held
//
// What other services start at the agent's wish (at, cron, systemd-run, a
// container engine), and processes with the rights of another user, which may
// not be killed. If the guard itself is killed, the agent dies with it on Linux,
// and we kill its group and its remaining descendants; an orphan with a session
// of its own is then lost.
//
// # Deliberately absent
//
// Command lines and what must not be in one (plugins/harness), shells, making terminals, sandboxes, and
// the limits on how many agents live, which are the bridge's.
package process
