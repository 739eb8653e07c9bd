package wire

import (
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
)

// PermissionParams are the params of sallyport/permission: a card for the
// user. When the card is withdrawn the server sends $/cancelRequest for this
// request and sallyport/permission/settled; what is clicked after that does
// nothing.
type PermissionParams struct {
	Card
	Options  []permit.Option `json:"options"`         // show all, in this order, by name
	Diffs    []permit.Diff   `json:"diffs"`           // may be empty
	Paths    []string        `json:"paths"`           // every file it names, as the agent spelt them
	ToolCall jsontext.Value  `json:"toolCall"`        // the agent's toolCall, unchanged; null when there is none
	Reason   string          `json:"reason,omitzero"` // why a person is asked where a mode or a rule might have allowed it; absent: for no such reason
	// Deciding: deciders are being asked. Show the card where it disturbs nobody; an
	// answer counts, and CallParams or SettledParams follow.
	Deciding bool `json:"deciding,omitzero"`
}

// Card names a permission.
type Card struct {
	ID      string         `json:"permissionId"` // unique for one server
	Session string         `json:"sessionId"`
	Turn    string         `json:"turnId,omitzero"`
	Title   string         `json:"title"`   // whole, control characters made visible: never cut it
	Request permit.Request `json:"request"` // what it is about: id, kind, tool, input
}

// PermissionResult is the user's answer. An id that is not among the options,
// an empty one, and an error all count as a refusal.
type PermissionResult struct {
	Option string `json:"optionId"`
}

// CallParams are the params of sallyport/permission/call: no decider settled a
// card that is on the screen, so its person is to be called now. Sent once at the
// most, and to a card with Deciding only.
type CallParams struct {
	ID      string `json:"permissionId"`
	Session string `json:"sessionId"`
	Reason  string `json:"reason,omitzero"` // as in PermissionParams
}

// SettledParams are the params of sallyport/permission/settled: a card is
// closed, or one that never needed a person is recorded.
type SettledParams struct {
	Card
	Outcome Outcome `json:"outcome"`
}

// Outcome says how a permission ended. Option is the option id that the agent
// was sent; empty: the outcome "cancelled". By is fence, decider, mode, user,
// policy or cancel, and Name says which one.
type Outcome struct {
	Allowed bool         `json:"allowed"`
	Option  string       `json:"optionId,omitzero"`
	By      permit.Party `json:"by"`
	Name    string       `json:"name,omitzero"`
	Why     string       `json:"why,omitzero"`
	DelayMS int64        `json:"delayMs"` // from the agent's request to the outcome
}

// ElicitationParams are the params of sallyport/elicitation: an agent's form
// or link (ACP elicitation/create), unchanged.
type ElicitationParams struct {
	Session string         `json:"sessionId"`
	Params  jsontext.Value `json:"params"`
}

// ElicitationResult is sent to the agent as it is (ACP: action accept with
// content, decline, or cancel). An error counts as decline.
type ElicitationResult struct {
	Result jsontext.Value `json:"result"`
}
