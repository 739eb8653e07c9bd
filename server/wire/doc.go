// Package wire is the shape of everything named sallyport/* that travels
// between an editor and the server. Every type here has a mirror in the
// editors' plugins (wire.ts, wire.lua) and an example in testdata/wire that
// all of them decode.
//
// Words: a method is one JSON-RPC method name; a feature is one rich method
// that a plugin says it can take, and without which the server falls back on
// plain LSP (initializationOptions.sallyport.features).
//
// Invariants:
//   - A field is never renamed or given another type; it may be added, and a
//     reader ignores what it does not know.
//   - Positions are LSP positions: zero-based lines, characters in code units
//     of the position encoding negotiated at initialize. Lists of edits refer
//     to the text before the first of them, do not overlap, and are ordered
//     last to first.
//   - Paths are absolute and plain in the platform's spelling; URIs are exactly
//     as the editor spelt them in didOpen.
//   - Hashes are "sha256:" and the lower-case hex digest of the text's UTF-8
//     bytes.
//   - What an agent said (updates, options, tool calls, its answer to
//     session/new) is carried as the JSON it was, unknown fields included.
//
// Deliberately absent: behaviour. No type here has a method that decides
// anything, and LSP's own messages are not repeated.
package wire
