// Package realtest drives real agents through the real program: "sallyport
// serve" is started by a process that stands for an editor, the agents are
// those of testdata/peers, and the model they ask is the scripted one of
// testdata/realagents.
//
// # Words
//
//   - stage: one agent's place, with its project, its model and its processes
//   - scene: one thing that happens on a stage, with what must hold after it
//   - row: what was seen of one agent; rows are kept in
//     testdata/guarantees.json, and docs/GUARANTEES.md is made from them
//
// # Invariants
//
//   - What must hold on our side is asserted in every scene; what an agent does
//     by itself is written into its row, and a row that differs from the kept
//     one fails the test. With -update it is kept instead.
//   - docs/GUARANTEES.md says nothing that is not in a row or asserted here.
//   - A scene waits for what is said or done, never for a time; only the end of
//     processes has a deadline.
//
// It has tests only. An agent that is not installed skips its tests with the
// reason, and fails them in CI (see bridge/bridgetest).
package realtest
