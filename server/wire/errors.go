package wire

import "sallyport/bridge"

// The error codes that sallyport/* requests are answered with, of JSON-RPC and
// LSP. What a client branches on is ErrorData.Kind.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600 // also: a request after shutdown
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602 // ErrorData.Field says which
	CodeInternal       = -32603
	CodeNotInitialized = -32002 // a request before initialize
	CodeFailed         = -32803 // LSP RequestFailed: the request was understood and could not be done
	CodeCancelled      = -32800 // LSP RequestCancelled: by $/cancelRequest
)

// ErrorKind says why a request failed.
type ErrorKind string

// The kinds.
const (
	ErrorParams         ErrorKind = "params"
	ErrorUnknownAgent   ErrorKind = "unknownAgent"
	ErrorUnknownSession ErrorKind = "unknownSession"
	ErrorAuth           ErrorKind = "auth"  // Methods are the ways to sign in
	ErrorStart          ErrorKind = "start" // the agent could not be started
	ErrorBusy           ErrorKind = "busy"  // a turn is running
	ErrorGone           ErrorKind = "gone"  // the agent's process ended
	ErrorAgent          ErrorKind = "agent" // the agent answered with an error
	ErrorUnsupported    ErrorKind = "unsupported"
	ErrorUnknownTurn    ErrorKind = "unknownTurn" // no turn, or several, of that id
	ErrorNothing        ErrorKind = "nothing"     // there is no turn to take back
	ErrorTurnGone       ErrorKind = "turnGone"    // what it takes to show it or take it back is not kept
	ErrorCancelled      ErrorKind = "cancelled"
	ErrorInternal       ErrorKind = "internal"
)

// ErrorData is the data member of every error that a sallyport/* request is
// answered with.
type ErrorData struct {
	Kind    ErrorKind           `json:"kind"`
	Hint    string              `json:"hint,omitzero"`    // what to do, one line
	Agent   string              `json:"agent,omitzero"`   // harness id
	Field   string              `json:"field,omitzero"`   // params: the JSON pointer of the bad field
	Known   []string            `json:"known,omitzero"`   // unknownAgent: the ids that are known
	Methods []bridge.AuthMethod `json:"methods,omitzero"` // auth
	Detail  *ErrorDetail        `json:"detail,omitzero"`  // start, gone, agent
}

// ErrorDetail is what the agent itself said.
type ErrorDetail struct {
	Stderr string `json:"stderr,omitzero"` // its last lines
	Exit   string `json:"exit,omitzero"`   // "exit status 3", "signal: killed"
	Code   int64  `json:"code,omitzero"`   // of its JSON-RPC error
	Data   string `json:"data,omitzero"`   // of its JSON-RPC error, raw JSON
}

// ErrorKinds lists every kind.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{
		ErrorParams, ErrorUnknownAgent, ErrorUnknownSession, ErrorAuth, ErrorStart,
		ErrorBusy, ErrorGone, ErrorAgent, ErrorUnsupported,
		ErrorUnknownTurn, ErrorNothing, ErrorTurnGone, ErrorCancelled, ErrorInternal,
	}
}
