// Package bridgetest has what tests of the agents' side need: a scripted agent
// as a program, the real agents, a scripted model for them, fresh places to
// run them in, and a look at the processes that are left.
//
// # Words
//
//   - peer: a program that tests run against and that is not ours: a real
//     agent or a real editor, installed by testdata/peers.
//   - place: a fresh home, temporary folder and project for one test, not
//     below /tmp, because one agent's sandbox makes all of /tmp writable.
//   - model: testdata/realagents/model.mjs, which answers the agents' requests
//     from script.json, on loopback. A prompt for the agents reads
//     "script:NAME cwd=FOLDER".
//   - ear: stands between an agent and its model, and keeps what the model is told.
//   - tree: what stands in a folder, to compare two.
//
// # How
//
// A package whose tests run the scripted agent has
//
//	func TestMain(m *testing.M) { bridgetest.Main(m) }
//
// and starts the command line that Fake gives. A test of a real agent does
//
//	place := bridgetest.NewPlace(t)
//	agent := bridgetest.RealAgent(t, "gemini")        // skips, or fails in CI, when missing
//	env := agent.Install(t, place, bridgetest.StartModel(t).URL)
//
// and then starts sallyport with env. What differs between the agents is in
// bridge/quirk and in the manifests of plugins/harness, not here.
//
// # Invariants
//
//   - A missing peer skips a test with the reason printed, and fails it where
//     the variable CI is true.
//   - Nothing is read from or written to the user's own home, except the
//     cache folder that holds the peers and the places.
//   - What a test started is ended, and its place removed, when it ends.
//
// Deliberately absent: waiting for a time. Wait for what a process says or does.
package bridgetest
