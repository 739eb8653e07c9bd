// Package crashtest kills a test's own program at each step of what it does to
// files, so that a test can look at what is left.
//
// # Words
//
// An act is something that a package does, by a name, in a folder. A step is a
// place in it that the package calls out.
//
// # Invariants
//
//   - A killed act has no chance to tidy up: SIGKILL, on the goroutine that
//     called out the step, which does nothing more.
//   - An act that fails fails the test; only the kill is expected.
//
// # Deliberately absent
//
// A crash of the machine: what the kernel was given it keeps.
package crashtest
