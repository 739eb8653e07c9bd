// Package plugins is the part of Sallyport that users extend. It has no code
// of its own: each kind of extension is a package below it.
//
//   - harness: descriptions of agents
//   - rules: permissions decided by rules
//   - decider: permissions decided by programs
//
// Words: a plugin is a folder with a manifest that somebody else wrote. What it
// says is a claim, and is believed as far as its origin goes.
//
// Invariants: packages below know neither LSP nor ACP and import neither server
// nor bridge nor workspace; a broken plugin costs only itself and is reported.
//
// Deliberately absent: loading code of a plugin into this process.
package plugins
