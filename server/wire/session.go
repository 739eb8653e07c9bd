package wire

import (
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// Empty is a result without content: {}.
type Empty struct{}

// Info is a live session. See bridge.Info: sessionId (ours, the one that every
// other message uses), agentSessionId (the agent's, for session/load), agent,
// cwd, mode, modes, agentOffer, capabilities, posture, busy.
type Info = bridge.Info

// TurnResult is the end of a turn. stopReason is an ACP stop reason or a text
// we do not know, kept as it is; agentStopReason is there when the agent said
// something else; usage is absent when the agent gave none.
type TurnResult = bridge.TurnResult

// StoredSession is one conversation that an agent kept.
type StoredSession = bridge.StoredSession

// SessionParams names a live session. sallyport/session/cancel takes it as a
// notification and as a request; both cancel.
type SessionParams struct {
	Session string `json:"sessionId"`
}

// NewParams are the params of sallyport/session/new (ACP session/new behind
// it). Starting an agent may take 90 s; $/cancelRequest ends the wait.
type NewParams struct {
	Agent  string         `json:"agent,omitzero"`                 // harness id; absent: the user's default
	Folder string         `json:"cwd,omitzero"`                   // absolute path; absent: the first workspace folder
	Roots  []string       `json:"additionalDirectories,omitzero"` // absolute paths
	Mode   permit.Mode    `json:"mode,omitzero"`                  // absent: the configuration's
	MCP    jsontext.Value `json:"mcpServers,omitzero"`            // ACP's array; absent: none
}

// ListParams are the params of sallyport/session/list. Without an agent only
// live sessions are listed and no agent is started.
type ListParams struct {
	Agent  string `json:"agent,omitzero"`
	Folder string `json:"cwd,omitzero"`    // absent: the first workspace folder
	Cursor string `json:"cursor,omitzero"` // nextCursor of the answer before
}

// ListResult is what sallyport/session/list answers.
type ListResult struct {
	Live   []Info          `json:"live"`
	Stored []StoredSession `json:"stored"`
	Next   string          `json:"nextCursor,omitzero"` // absent: no more rows
}

// LoadParams are the params of sallyport/session/load. With replay the agent
// tells the history again (ACP session/load) as updates marked replay; without
// it the conversation goes on silently (session/resume).
type LoadParams struct {
	Agent  string   `json:"agent"`
	ID     string   `json:"agentSessionId"`
	Folder string   `json:"cwd,omitzero"` // absent: the first workspace folder
	Roots  []string `json:"additionalDirectories,omitzero"`
	Replay bool     `json:"replay"`
}

// DeleteParams are the params of sallyport/session/delete: the agent forgets
// a conversation that it kept.
type DeleteParams struct {
	Agent  string `json:"agent"`
	ID     string `json:"agentSessionId"`
	Folder string `json:"cwd,omitzero"` // absent: the first workspace folder
}

// PromptParams are the params of sallyport/session/prompt. The request is
// answered at the end of the turn; $/cancelRequest cancels the turn.
type PromptParams struct {
	Session string           `json:"sessionId"`
	Prompt  []jsontext.Value `json:"prompt"`           // ACP content blocks, at least one
	Context bool             `json:"context,omitzero"` // ask sallyport/document/context and add what it says
}

// SetModeParams are the params of sallyport/session/setMode.
type SetModeParams struct {
	Session string      `json:"sessionId"`
	Mode    permit.Mode `json:"mode"` // one of Info.modes
}

// SetConfigOptionParams are the params of sallyport/session/setConfigOption
// (ACP session/set_config_option).
type SetConfigOptionParams struct {
	Session string         `json:"sessionId"`
	Option  string         `json:"configId"`
	Value   jsontext.Value `json:"value"` // a string or a boolean, as the option wants it
}

// SetConfigOptionResult is the agent's answer, unchanged.
type SetConfigOptionResult struct {
	Agent jsontext.Value `json:"agentAnswer"`
}

// SetModelParams are the params of sallyport/session/setModel.
type SetModelParams struct {
	Session string `json:"sessionId"`
	Model   string `json:"modelId"`
}

// AuthenticateParams are the params of sallyport/session/authenticate: the
// user picked one of the ways to sign in that an error of kind "auth" listed.
type AuthenticateParams struct {
	Agent  string `json:"agent"`
	Folder string `json:"cwd,omitzero"` // absent: the first workspace folder
	Method string `json:"methodId"`
}

// UpdateParams are the params of sallyport/session/update: one ACP
// session/update of the agent, byte for byte. Updates come in the agent's
// order and before the answer of the prompt they belong to.
type UpdateParams struct {
	Session string         `json:"sessionId"`
	Turn    string         `json:"turnId"` // empty outside a turn
	Replay  bool           `json:"replay"` // history told by session/load: show it, do nothing
	Update  jsontext.Value `json:"update"`
}

// Notice is sallyport/session/notice: one sentence to the user. See
// bridge.Notice for the kinds; one that is not known is shown as plain text.
type Notice = bridge.Notice
