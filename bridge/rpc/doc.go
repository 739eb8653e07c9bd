// Package rpc is our end of a JSON-RPC 2.0 connection: towards editors, framed
// by Content-Length headers, and towards agents and ACP clients, one message a
// line.
//
// A Conn reads messages and gives requests and notifications to a handler, in
// the order of the wire and on its read loop; answers go to the calls that they
// answer. What it writes is gathered: while one write is under way the next
// messages collect and go out together. Calls, replies and notifications never
// block. Stream does while too much is unwritten: a handler that streams on what
// it reads slows its own peer down, which is the back-pressure of a bridge.
//
// The codes and the encoder are those of go.lsp.dev/jsonrpc2. Its connection is
// not used, because it dies of one noisy line and writes once a message; nor is
// its scanner, because we forward what we scan: it lets malformed values, bad
// UTF-8 and any depth of nesting through, loses the id of what it refuses, and
// takes twice the time of ours on large messages. The tests hold our scanner
// against it and against jsontext.
//
// Streams of chunks are most of what passes. A message that is like the one before
// but for a string is checked in that string alone (alike), a Handle may take all
// that are alike at once, and a peer that sends them one by one is read after short
// pauses (burst), so that each does not cost a wake-up. Nothing that somebody waits
// for is held up.
//
// # Words
//
//   - frame: the bytes of one message without its framing
//   - gather: to leave a message to the next write, so that a burst takes few
//   - noise: input that is no message, such as a line of a log; it is skipped
//   - garbage: bytes between messages where headers frame them
//
// # Invariants
//
//   - A Message is borrowed until its handler returns, and valid: JSON grammar,
//     UTF-8, nesting of at most MaxDepth. Its parts can be spliced as they are.
//   - A handler never waits for its own connection; the reader never waits for
//     anything but the handler, and a moment within a burst.
//   - A call's done runs once, and what the peer sent before its answer was
//     handled before.
//   - The ids of the two directions never mix; an id is answered in the very
//     bytes in which it came.
//   - One bad message costs that message alone. Where a request can be made out
//     it is answered; answers to garbage stop when the peer leaves them unread.
//   - Each member of JSON-RPC stands once in a message, or the message is
//     refused. In other objects the last of two equal names counts, as in the
//     parsers of our peers.
//   - What waits to be written is at most HighWater and one message, or the lines
//     that Alike gives, for each caller of Stream, Gather or GatherLines, and what is
//     sent without blocking; what was read and not handled is at most one message
//     and 64 KiB.
//   - Every goroutine ends before Run returns. Nothing is written after that.
//
// # Deliberately absent
//
// Batches (neither LSP nor ACP uses them; they are answered with an error),
// dispatch by method, timeouts (contexts do that), and retries.
package rpc
