// Package decider asks programs what an agent may do.
//
// A [Program] is started, kept running and asked by a [Decider]; a [Set] asks
// several at once and says what they come to; a [Journal] keeps what each of
// them said. A [Manifest] is the description in a decider's folder, and
// [Bench] plays requests for its author.
//
// # Words
//
// A question is one request of an agent in the shape of the wire. An answer is
// one decider's word on it. A life is one run of the program. A stray is a line
// of a program that answers nothing we asked.
//
// # The wire
//
// JSON-RPC 2.0, one message a line, on the program's standard input and output:
// initialize (protocolVersion 1), permissions/decide, shutdown. Several questions
// may be open at once. What the program asks us is answered with -32601.
//
// # Invariants
//
//   - A deny settles at once, whatever the others say. An allow settles when all
//     have answered or their time is over. Everything else is ask.
//   - No answer, a late one, one that is none of the three, an error, a crash, a
//     line over [MaxLine], a flood of strays: ask, and in the journal.
//   - A second answer to a question takes an allowance back; a denial stays.
//   - A question waits [AnswerLimit]; while the program starts for the first time
//     it waits until [StartLimit] after the first question, once.
//   - A decider that does not run answers ask at once.
//   - A program that ends is started again, later each time it ends soon after;
//     one that speaks another version of the protocol is not.
//   - Memory is bounded whatever a program writes or does not read. What it writes
//     reaches screens and logs as one line, cut, without control characters.
//   - Nothing of the conversation is in a question: it has no place for it.
//   - After Close nothing of the package runs.
//
// # Deliberately absent
//
// How a program is started, its environment and its fence: whoever opens a
// decider says it ([Program].Start). Which deciders a project has. Secrets,
// settings and journals that a program could ask for.
package decider
