// Package decidertest is a decider's program in this process, for tests. It can be
// slow, silent, wrong, and it can crash.
//
// # Words
//
// A life is one run of a program. A move is what a program does with a question,
// and when.
//
// # Invariants
//
//   - Its standard input and output are pipes in memory: it lives in a bubble of
//     testing/synctest, too.
//   - After Stop nothing of a life runs.
//   - It imports nothing of package decider, whose own tests use it.
package decidertest
