// Package checkpointtest makes trees of files for tests and benchmarks of checkpoints.
//
// Invariants: the same number of files makes the same tree, byte for byte. Deliberately absent: anything that tests checkpoints.
package checkpointtest
