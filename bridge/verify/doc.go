// Package verify runs the user's own checks after a turn.
//
// # Words
//
// A check is a command of the user's configuration. Its verdict is what the receipt says of it: passed, failed, timeout, not run or
// cancelled. What it wrote is kept in a file beside the receipts.
//
// # Invariants
//
//   - Only the user's configuration names a check, never a project's file. It is a program with arguments: no shell reads the line.
//   - Its environment is built up as an agent's is (process.Environ): nothing passes that is not named. Its input is empty.
//   - When Run returns, nothing of a check is left, neither what ignores TERM nor what put itself in a session of its own, as far
//     as package process holds.
//   - A check that could not be started is "not run", never "passed"; so is one whose end was not seen.
//   - Kept output is bounded, 0600, named after the turn, and never goes over or through another file.
//   - A check runs what the agent wrote, and so inside the session's fences, unless the user says otherwise; its verdict says how much
//     the kernel held.
//   - Checks run one after the other, in the user's order. After the context is done none is started.
//
// # Deliberately absent
//
// How the fence is made, when to run the checks, and whom to tell: the bridge does.
package verify
