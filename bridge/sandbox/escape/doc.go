// Package escape holds the acceptance of the fences: what a process tree inside
// one may and may not do, each way out tried for real. It has tests only.
//
// # Words
//
//   - row: one way out, or one piece of ordinary work, as a small command; its
//     id (W04, R02, …) is the one that documents and code use
//   - scene: a row being played: a fresh copy of the fixture, one user, one
//     backend of package sandbox
//   - bridge: here, a process of its own, started by the test as the scene's
//     user, that starts the command as Sallyport starts an agent
//   - outcome: what became of it, told from outside: an attack is held, or it
//     is a gap; work is allowed or refused
//   - limit: a gap that nothing can close where we stand; it is asserted, too
//
// # Invariants
//
//   - A row says what it expects for each backend and user, in both directions:
//     what is promised and not held fails, and so does a gap that is held.
//   - The command's own message decides nothing: files, processes and sockets
//     outside do, and whether a secret was in its output.
//   - Every attack is also run without a fence, where it has to succeed; one
//     that does not is marked as held by something else, with what holds it.
//   - A row that can also be asked through fs/* is, and must agree.
//   - A row that cannot run here is counted as not run, with the reason.
//   - Nothing outside the fixture is changed, other than files of names that no
//     one else uses, which are removed.
//
// testdata/escape.json keeps the outcomes; docs/FENCES.md is made from it.
//
// # Deliberately absent
//
// Real agents (server/realtest has those), and the other systems' backends.
package escape
