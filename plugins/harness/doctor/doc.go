// Package doctor says which agents can be used on this machine, and what to do
// about those that cannot.
//
// For every harness it looks for the program, runs it for its version, and
// compares that with the versions tested. The result is a Report: data with a
// shipped JSON Schema (report.schema.json), and a text for a terminal.
//
// Words: an agent is available when its program was found and ran here, now.
// The fix is the one line that makes it available. What holds is what was seen
// with the tested versions (harness.Reach), or by a probe.
//
// Invariants:
//
//   - Available is never a guess: without a Run nothing is called runnable but
//     what was found, and the report says that it was not run.
//   - An agent that is not available has a fix, or the report says that none is
//     known.
//   - A check that hangs ends with its time, and costs only its own row.
//   - Rows are in the order of the set, whatever finished first.
//
// Deliberately absent: starting an agent (Probe is given from outside), running
// a fix, and the network.
package doctor
