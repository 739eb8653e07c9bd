// Package conversation keeps what was said and done in one session as a
// Markdown document, for editors that have no view of their own for it.
//
// Words: a block is one piece of the document that stands by itself (a
// heading, what one party said, a tool call, a diff, a note).
//
// Invariants:
//   - Nothing that an agent or a user says can look like the document's own
//     structure. What they say stands in block quotes, every line of it; titles
//     stand in code spans and contents in fences that are longer than any run
//     of backticks inside. Control characters are shown, never written.
//   - The document only grows at its end, until it reaches its limit; then the
//     oldest whole blocks go and a line says so. One block is cut, and says so,
//     long before it could fill the document.
//   - The file is readable by its owner only.
//
// Deliberately absent: reading a document back, and anything that decides.
// The document is for eyes; the record of a turn is its receipt.
package conversation
