package bridge

import "fmt"

// UnknownAgentError names a harness that is not known here.
type UnknownAgentError struct {
	Agent string
	Known []string
	Hint  string
}

func (e *UnknownAgentError) Error() string { return fmt.Sprintf("no agent named %q", e.Agent) }

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
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s asks for a sign-in: %s", e.Agent, e.Message)
}

// StartError says that an agent could not be started, with what to do.
type StartError struct {
	Agent  string
	Reason string
	Hint   string
	Stderr string // its last lines
	Err    error
}

func (e *StartError) Error() string { return fmt.Sprintf("starting %s: %s", e.Agent, e.Reason) }

func (e *StartError) Unwrap() error { return e.Err }

// GoneError says that the agent's process ended while it was needed.
type GoneError struct {
	Agent  string
	Exit   string // "exit status 3", "signal: killed"
	Stderr string
}

func (e *GoneError) Error() string { return fmt.Sprintf("%s ended (%s)", e.Agent, e.Exit) }

// AgentError is a JSON-RPC error of the agent, shown as it is.
type AgentError struct {
	Agent   string
	Code    int64
	Message string
	Data    string // raw JSON
}

func (e *AgentError) Error() string { return fmt.Sprintf("%s: %s", e.Agent, e.Message) }

// UnsupportedError says that the agent does not offer what was asked.
type UnsupportedError struct{ Agent, What string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s does not offer %s", e.Agent, e.What)
}
