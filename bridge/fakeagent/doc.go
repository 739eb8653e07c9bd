// Package fakeagent is an ACP agent that does what a script says: for tests,
// for "sallyport demo", and for authors of plugins. Its polite half is served
// by the connection of github.com/coder/acp-go-sdk, so that the bridge meets
// an implementation other than its own; everything rude goes to the wire
// directly.
//
// # A script
//
// A script is JSON; comments and trailing commas are allowed. The JSON Schema
// is in Schema; errors name file, line and JSON pointer.
//
//	{
//	  "agent": {"name": "x", "version": "1"},      // agentInfo
//	  "protocolVersion": 1,                        // any JSON value, also a wrong one
//	  "capabilities": {"loadSession": true},       // agentCapabilities
//	  "authMethods": [], "authRequired": false,    // true: session/new is -32000 until authenticate
//	  "modes": {…}, "models": {…}, "configOptions": […],  // as ACP has them; set_mode and the like then work
//	  "sessionPrefix": "fake-",                    // sessions are fake-1, fake-2, …
//	  "strict": true,                              // a message outside ACP v1, or with a null, ends it with status 3
//	  "stubborn": ["eof", "term"],                 // outlives the end of stdin; ignores SIGTERM
//	  "start": [STEP…],                            // before anything is read
//	  "on": {"session/new": BEHAVIOR},             // around the answer to any method but session/prompt
//	  "prompts": [{"match": "word", "steps": [STEP…]}]
//	}
//
// A method that the capabilities do not hold is answered -32601. A prompt takes
// the first entry whose match is in its text; entries without match are taken
// in order, once each. The prompt is answered end_turn behind its last step,
// also when no entry is left.
//
// BEHAVIOR is {"before": [STEP…], "answer": ANSWER, "after": [STEP…]}, or a list
// of these for the first call, the second and so on; the last serves the rest.
// Steps in before run ahead of the answer (a session's id is already known to
// them: this is how updates before the session/new response, or the history of
// session/load, are sent).
//
// ANSWER is a stop reason ("end_turn", "x_new"), or "never", or an object:
//
//	{"stopReason": "…"} {"result": ANY} {"error": {"code": -32000, "message": "…", "data": …}}
//	{"raw": "these bytes and a newline"} {"never": true}   "twice": true sends it again
//
// # Variables
//
// Strings may hold ${name}: cwd, session, prompt (the prompt's text), id (the
// request's id as JSON), i (the round of a repeat, from 0), pid, environ (all of
// the environment, NAME=value lines), env.NAME, and what "as" and "let"
// remembered. "as": "x" sets ${x} to the text that came of the step,
// ${x.error} to the error's message and ${x.code} to its code, both empty
// without an error. An unknown name fails the script.
//
// # Steps
//
// A step is an object with one member. Paths are sent as they are: write
// "${cwd}/a.txt" for a file of the session.
//
//	{"say": "text"}                 agent_message_chunk
//	{"think": "text"}               agent_thought_chunk
//	{"update": {…}}                 session/update, the object as it is
//	{"toolCall": {…}}               tool_call; toolCallId defaults to the last one used, at first "call-1"
//	{"toolUpdate": {…}}             tool_call_update, the same
//	{"notify": {"method", "params"}}
//	{"request": {"method", "params", "id", "as"}}   any request; ${as} is the result's JSON
//	{"read": {"path", "line", "limit", "id", "as"}}             fs/read_text_file; ${as} is the text
//	{"write": {"path", "text" | "replace", "id", "as"}}         fs/write_text_file
//	{"ask": {"toolCall", "options", "meta", "id", "as", "then"}} session/request_permission; see below
//	{"directRead": {"path", "as"}}                      the disk, with its own tools; ${as.error} "missing"
//	{"directWrite": {"path", "text" | "replace"}}       the same; parents are made
//	{"shell": "line"} {"shell": {"command" | "argv", "background", "as"}}
//	                                a child process in the session's folder; ${as} its output, ${as.code} its
//	                                status; in the background it is left running
//	{"let": {"name": "value"}}      remember
//	{"replace": {"in": "x", "old", "new", "as"}}        change the first old in ${x}; fails when there is none
//	{"expect": {"that": "${x}", "is" | "contains" | "lacks" | "matches": "…"}}   fails with status 3
//	{"repeat": {"times": 1000, "steps": […]}}
//	{"parallel": [[STEP…], [STEP…]]}  at the same time, each starting once the one before waits for the client
//	{"sleep": ms}
//	{"waitCancel": true}            until session/cancel; the prompt then goes on although cancelled
//	{"answer": ANSWER}              answers the prompt now; the steps behind it run after the answer
//	{"noise": "text"} {"noise": {"text", "bytes", "times", "to": "stderr"}}      lines that are no messages
//	{"flood": {"n": 200000, "size": 265, "burst": false}}
//	                                text chunks, a write each (in bursts of 64 KiB if so said); each text starts
//	                                with its number in eight digits and a space; size is the whole line's
//	{"hugeLine": {"bytes": N, "chunk": 4096, "garbage": false}}
//	                                a text chunk whose line is N bytes with its newline, or so much garbage;
//	                                with "head" and "tail" these, and as much between them
//	{"raw": "bytes"} {"raw": {"text" | "base64", "chunk": 1, "to": "stderr"}}    as they are, no newline added
//	{"exit": 7} {"crash": true}     ends the process, crash by SIGKILL
//	{"hang": true} {"hang": "deaf"} does nothing more; deaf also stops reading
//
// In write, directWrite: "replace": {"in": "x", "old": "a", "new": "b"} writes ${x} so changed.
//
// ask: options default to allow (allow_once) and reject (reject_once). then maps
// the chosen option's id, or else the outcome's class (allow, reject, cancelled,
// error), to steps. An option that was not offered fails the script.
//
// A prompt heeds session/cancel: its steps end at the next one (a sleep, a shell
// and a flood at once) and the answer is cancelled. A prompt whose steps hold a
// waitCancel or a hang does not heed it, nor does a cancelled branch of ask.
//
// # Invariants
//
//   - Steps take effect on the wire in their order; a step behind an answer is
//     behind it on the wire too.
//   - One step's bytes are never interleaved with another's.
//   - A session/cancel counts for the prompts whose lines came before it.
//   - When stdin ends, requests already read are still answered; whatever waits
//     for the client is given up.
//   - A script that fails says so on stderr and ends the process with status 3.
//
// Deliberately absent: a model, conditions other than ask's branches, and
// anything that depends on chance.
package fakeagent
