// Package server is the editors' side: an LSP server on one stream, with the
// sallyport/* methods for editors that have our plugin and plain LSP for those
// that do not. It shows what agents do (bridge.Display) and gives them the
// editor's open documents (workspace.Editor).
//
// Words: a plugin is a client that declared itself in
// initializationOptions.sallyport; a feature is one rich message that it takes;
// plain is everything else. A card is a permission in front of the user. The
// mirror is our copy of the open documents. A talk is the one session that a
// plain editor has for a workspace folder.
//
// Invariants:
//   - Document sync runs on the read loop, in the order of the wire, and waits
//     for nothing. Everything that waits runs on a goroutine that the connection
//     owns, with a context that ends by $/cancelRequest and with the connection.
//   - The connection never dies of a message: what cannot be understood is
//     answered with an error or dropped.
//   - A request is answered exactly once.
//   - An edit counts as applied only when the mirror has shown it, whatever the
//     editor answered. Edits of one document are applied one after the other.
//   - A document whose changes could not be followed is lost: it is neither read
//     nor written until the editor sends its whole text again.
//   - The folders of open documents are watched while any is open, and no others. A plain
//     editor that loads a file by itself is not given an edit of it.
//   - Nobody's silence, error or unknown answer ever grants a permission.
//   - Updates are forwarded byte for byte, in order, and block while the editor
//     does not read: a slow editor slows its agents. At most rpc.DefaultHighWater
//     (1 MiB) and one message for each agent wait in memory for it.
//   - When Run returns, every session is closed and no goroutine is left.
//
// LSP's types stop here. Document sync, initialize and code actions are read with
// small types of our own, because go.lsp.dev/protocol rewrites URIs and the editor
// must get back its own spelling.
//
// Deliberately absent: deciding permissions, reading or writing files, and
// knowing how an agent is started.
package server
