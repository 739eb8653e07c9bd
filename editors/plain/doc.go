// Package plain tests "sallyport serve" with real editors that have no plugin
// of ours: Neovim 0.10 and 0.12, and Helix. It holds tests only.
//
// Neovim runs headless with testdata/driver.lua, one Lua file of
// testdata/scenarios a test, and in a terminal (tmux) where what a person sees
// matters. Helix runs in a terminal only. The agent is "sallyport fake-agent"
// with testdata/agent.jsonc, configured as a user configures an agent of his
// own; one test has Gemini CLI with a scripted model.
//
// The editors come from testdata/peers/editors.sh, the agents from
// testdata/peers/agents.sh. A missing one skips its tests, and fails them
// where CI is "true".
//
// Invariants:
//   - Every run has a home, a project and a terminal of its own; nothing of the
//     person who runs the tests is read or written.
//   - Nothing waits for a time: a state is waited for, with a deadline.
//   - Every run ends with no process of it left.
//
// Deliberately absent: anything that an editor does by our plugin.
package plain
