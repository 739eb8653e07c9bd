package permit

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/text"
)

// Kind says what a permission is about. The first six are the kinds that
// deciders and rules know; a plan or a question goes to the user only.
type Kind string

// The closed set of kinds. What cannot be classified is Tool and is asked.
const (
	Command  Kind = "command"
	Edit     Kind = "edit"
	Read     Kind = "read"
	Fetch    Kind = "fetch"
	MCP      Kind = "mcp"
	Tool     Kind = "tool"
	Plan     Kind = "plan"
	Question Kind = "question"
)

// Request is a permission in one shape for every agent: the tool is named as
// Claude Code names it (Bash, Edit, Write, Read, WebFetch, mcp__server__tool).
type Request struct {
	ID    string         `json:"id"`
	Kind  Kind           `json:"kind"`
	Tool  string         `json:"tool"`
	Input jsontext.Value `json:"input,omitzero"`
}

// Option is one answer the agent offers, as it named it but for Offer. Kind is
// allow_once, allow_always, reject_once, reject_always, or a kind we do not
// know, which is shown and never chosen for the user.
type Option struct {
	ID   string         `json:"optionId"`
	Name string         `json:"name"`
	Kind string         `json:"kind"`
	Meta jsontext.Value `json:"_meta,omitzero"`
	// Rule is the rule of ours that is kept when a person picks this lasting option,
	// "" for none; see [Card.Offer].
	Rule string `json:"rule,omitzero"`
}

// Label is the option's name as it may be shown: whole, controls made visible.
func (o Option) Label() string { return text.Visible(o.Name) }

// Diff is a change the agent says it wants to make. Old is nil for a new file
// or when the agent did not say.
type Diff struct {
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  string  `json:"newText"`
}

// Card is a permission as a person sees it.
type Card struct {
	ID      string         // ours, unique in one process
	Session string         // our session id
	Turn    string         // the turn it belongs to
	Title   string         // the agent's whole title, controls made visible
	Request Request        // what it is about, classified
	Options []Option       // in the agent's order
	Diffs   []Diff         // from the request or from the tool call before it
	Paths   []string       // every file it names, as the agent spelt them
	Raw     jsontext.Value // the agent's toolCall, unchanged
	Params  jsontext.Value // the whole of the agent's request, unchanged but for Offer; nil for a card that we made
	Reason  string         // why a person is asked where something else might have allowed it; empty: for no such reason
	// Deciding is set while deciders are asked: a person can answer, and is not
	// called. Another may still settle it.
	Deciding bool
}

// Answer is what a person picked on a card. The zero value is "no answer":
// the card was withdrawn or closed.
type Answer struct {
	Option string // an option id of the card; anything else counts as a refusal
	// Raw is the answer of a client that speaks ACP (RequestPermissionResponse), as
	// it came; nil for others.
	Raw jsontext.Value
}

// Party says who settled a permission.
type Party string

// The parties, in the order in which they are heard.
const (
	ByFence   Party = "fence"
	ByDecider Party = "decider"
	ByTaint   Party = "taint" // it only ever sends a card to the user
	ByMode    Party = "mode"
	ByUser    Party = "user"
	ByPolicy  Party = "policy"
	ByCancel  Party = "cancel" // the turn was cancelled or the agent went away
)

// Outcome is a settled permission. Option is the option id sent to the agent;
// empty means the outcome "cancelled".
type Outcome struct {
	Allowed bool
	Option  string
	By      Party
	ID      string // of the decider that is a program; empty of all others
	Name    string // which fence, decider or mode, for people
	Why     string // one sentence for the user, the agent and the receipt
	Delay   time.Duration
	Raw     jsontext.Value // Answer.Raw where that was the person's word
	Rule    string         // what the person answered for good, as a rule; "" for once
}

// Mode is a session's permission mode, named as Claude Code names them.
type Mode string

// The modes.
const (
	Default     Mode = "default"
	AcceptEdits Mode = "acceptEdits"
	PlanMode    Mode = "plan"
	Bypass      Mode = "bypassPermissions"
)

// Policy says what happens when nobody is there to answer.
type Policy string

// The policies: wait for the user, grant once and record, refuse.
const (
	Ask    Policy = "ask"
	Record Policy = "record"
	Deny   Policy = "deny"
)
