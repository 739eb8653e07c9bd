// Package bench measures the program as its users meet it: an agent, `sallyport
// serve` and an editor, as real processes, side by side in one run with what the
// same work costs at the least. What counts are the ratios, which are reported
// as metrics; times are those of the machine.
//
// Run it with `make bench`, or
//
//	go test -run '^$' -bench . -benchtime 1x ./server/bench
//
// # Words
//
//   - hop: the process between agent and editor: serve, a bare copy, or the
//     typed path of acp-go-sdk
//   - payload: a 265-byte text chunk, or a 51 KB tool_call_update with a diff
//   - floor: what the same result costs without a bridge
//   - walk: a look at each file of a tree, by four workers, which is the floor of a
//     checkpoint
//
// # How it is measured
//
//   - The processes are this test binary, started again in a role, and the real
//     binary, built once. The agent encodes before it begins, and writes each
//     message by itself unless a benchmark says otherwise.
//   - CPU is the kernel's clock of one process (CLOCK_PROCESS_CPUTIME_ID), read
//     from outside just before the prompt and just after the last update. What
//     the guard of the agent took is reported apart.
//   - Floor and ours alternate. A ratio is the median of the rounds' ratios, as
//     what else the machine does changes from one round to the next.
//   - Only Linux has the clock and /proc; elsewhere the benchmarks are skipped.
//
// # Invariants
//
//   - An editor counts every update; one that is missing, altered in its length
//     or, where it is numbered, out of order fails the run.
//   - Every process that is started is waited for.
//
// Deliberately absent: real agents and editors, and any limit that fails a
// benchmark. The tests here fail, the benchmarks tell.
package bench
