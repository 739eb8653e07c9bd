// Package terminal shows an agent's work to a person at a terminal, or as JSON
// Lines to a script. Both are a bridge.Display; neither holds open documents,
// except Buffers, which the demo uses in an editor's place.
//
// Invariants:
//
//   - Nothing an agent says acts on the terminal: controls are shown, never
//     sent.
//   - A question is asked whole, with every option in the agent's order, and
//     no answer is a refusal.
//   - Without colour the text says the same.
//
// Deliberately absent: line editing, scrolling, a screen of its own. It is a
// pipe-friendly stream of lines.
package terminal
