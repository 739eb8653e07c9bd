// Package sallyport is the module's root. It has no code; its tests hold the
// house rules: which package may call which, what every package and file must
// have or must not hold, and that the list of cases in testdata/cases.json
// agrees with the tests.
//
// # Invariants
//
//   - A new edge between two packages is a design change: its own commit, a
//     reason, and a line in edges.
//   - A case has a test named after it, or names the later work it waits for.
package sallyport
