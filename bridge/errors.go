package bridge

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// UnknownAgentError names a harness that is not known here.
type UnknownAgentError struct {
	Agent string // empty: none was named, and there is no default
	Known []string
	Hint  string
}

func (e *UnknownAgentError) Error() string {
	if e.Agent == "" {
		return "no agent was named, and there is no default"
	}
	return fmt.Sprintf("no agent named %q", e.Agent)
}

// UnknownSessionError names a session that is not live.
type UnknownSessionError struct{ Session string }

func (e *UnknownSessionError) Error() string { return fmt.Sprintf("no session %q", e.Session) }

// BusyError says that a session has a turn running.
type BusyError struct{ Session string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("session %s has a turn running; cancel it or wait for its end", e.Session)
}

// AuthError says that the agent wants a sign-in first. Methods are its ways;
// none was tried: no browser is opened without the user.
type AuthError struct {
	Agent   string
	Message string
	Methods []AuthMethod
	Raw     *rpc.Error // the agent's own error
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s asks for a sign-in: %s", e.Agent, text.Visible(e.Message))
}

// StartError says that an agent could not be started, with what to do.
type StartError struct {
	Agent  string
	Reason string
	Hint   string
	Stderr string // its last lines
	Err    error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("starting %s: %s", e.Agent, text.Visible(e.Reason))
}

func (e *StartError) Unwrap() error { return e.Err }

// HintOf is what to do about an agent that could not be started, or is not known; ""
// where that is not said.
func HintOf(err error) string {
	var (
		start   *StartError
		unknown *UnknownAgentError
	)
	switch {
	case errors.As(err, &start):
		return start.Hint
	case errors.As(err, &unknown):
		return unknown.Hint
	default:
		return ""
	}
}

// GoneError says that the agent's process ended while it was needed.
type GoneError struct {
	Agent  string
	Exit   string // "exit status 3", "signal: killed"
	Stderr string
}

func (e *GoneError) Error() string { return fmt.Sprintf("%s ended (%s)", e.Agent, e.Exit) }

// AgentError is a JSON-RPC error of the agent, in its own words. Very long ones
// are cut.
type AgentError struct {
	Agent   string
	Code    int64
	Message string
	Data    string     // raw JSON, as long as it is whole
	Raw     *rpc.Error // as it came
}

// Error is the message with its controls made visible.
func (e *AgentError) Error() string { return fmt.Sprintf("%s: %s", e.Agent, text.Visible(e.Message)) }

// Bounds of what is kept of an agent's error.
const (
	maxErrorText = 8 << 10
	maxErrorData = 64 << 10
)

func (a *agent) said(e *rpc.Error) *AgentError {
	return &AgentError{
		Agent: a.harness.Name, Code: int64(e.Code),
		Message: clip(e.Message, maxErrorText), Data: clip(string(e.Data), maxErrorData), Raw: e,
	}
}

// malformed is an answer that cannot be used.
func (a *agent) malformed(why string, raw []byte) *AgentError {
	return a.said(&rpc.Error{Code: rpc.InternalError, Message: why, Data: raw})
}

// UnsupportedError says that the agent does not offer what was asked.
type UnsupportedError struct{ Agent, What string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s does not offer %s", e.Agent, e.What)
}

// loggable is an error without a word of the agent: it may be a secret.
func loggable(err error) string {
	var (
		said      *AgentError
		auth      *AuthError
		start     *StartError
		gone      *GoneError
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &said):
		return fmt.Sprintf("%s answered with error %d", said.Agent, said.Code)
	case errors.As(err, &auth):
		return auth.Agent + " asks for a sign-in"
	case errors.As(err, &gone):
		return gone.Error()
	case errors.As(err, &start) && (start.Err == nil || errors.As(err, &syntactic) || errors.As(err, &semantic)):
		return start.Agent + " gave an answer that makes no sense"
	default:
		return err.Error()
	}
}
