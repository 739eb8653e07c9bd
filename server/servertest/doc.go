// Package servertest has the two neighbours of a server, as fakes: an editor,
// over the real wire, and the agents' side.
//
// An Editor holds documents, types into them, and answers what the server asks.
// Its habits make it a plugin or a plain LSP client, stale, slow, deaf, a liar
// or rude. Sessions is a bridge.Sessions whose turns are functions.
//
// Invariants:
//   - An editor's document is changed in one place, and every change is
//     announced (didChange) before anything that follows from it.
//   - Nothing here waits for time: a test waits for a state with Until, or for
//     an answer.
//   - What the editor saw is kept in the order in which it came.
//
// Deliberately absent: assertions, and anything that the server itself decides.
package servertest
