package bridge

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/workspace/receipt"
)

// NewSession says how to begin a session.
type NewSession struct {
	Agent  string         // harness id; empty: the user's default
	Folder string         // absolute; the session's working folder
	Roots  []string       // additional folders
	Mode   permit.Mode    // empty: the configuration's
	MCP    jsontext.Value // the editor's mcpServers array; empty: none
	Wire   *Wire          // of a client that speaks ACP; nil: Ready
	// Ready, when set, is called once before anything of the session is shown:
	// a client that must know the id first answers its own request in it. It
	// must not wait for a call of the Bridge.
	Ready func(Info)
}

// LoadSession names a conversation that an agent kept.
type LoadSession struct {
	Agent   string
	ID      string // the agent's own session id
	Folder  string
	Roots   []string
	Replays bool // session/load (history is told again) rather than session/resume
	Wire    *Wire
	// Instead is a live session in whose place it comes: that one is ended when the
	// agent is known to offer this, and no sooner. Empty: none.
	Instead string
	// Ready is as in NewSession, called before the history is told.
	Ready func(Info)
}

// Wire is the request by which a client that speaks ACP opens a session.
type Wire struct {
	// Params of session/new, load, resume or fork as the client sent them.
	Params jsontext.Value
	// Fork: session/fork, of the conversation that Params name.
	Fork bool
	// Answered is called once with the agent's answer as it came, borrowed, on the
	// agent's read loop: before anything else of a new session is shown, and behind
	// the history of one that is loaded. It must not wait for a call of the Bridge.
	Answered func(i Info, answer jsontext.Value)
}

// StoredSession is one row of an agent's session/list.
type StoredSession struct {
	ID      string `json:"agentSessionId"`
	Folder  string `json:"cwd"`
	Title   string `json:"title,omitzero"`
	Updated string `json:"updatedAt,omitzero"` // RFC 3339, as the agent said it
}

// Info is a live session as a client sees it.
type Info struct {
	ID      string      `json:"sessionId"`      // ours
	AgentID string      `json:"agentSessionId"` // the agent's own
	Agent   string      `json:"agent"`          // harness id
	Folder  string      `json:"cwd"`
	Mode    permit.Mode `json:"mode"`
	Terms
	Busy bool `json:"busy"` // a turn runs, or is about to
}

// Terms are what can be had of a session, and what holds in it.
type Terms struct {
	Modes        []ModeInfo     `json:"modes"`
	AgentOffer   jsontext.Value `json:"agentOffer,omitzero"` // the agent's answer to session/new, unchanged: modes, models, configOptions
	Capabilities Capabilities   `json:"capabilities"`        // of its agent, while that lives
	Posture      Posture        `json:"posture"`
	Taint        []permit.Mark  `json:"taint,omitzero"` // untrusted content that the session has taken in
}

// ModeInfo is one mode that the harness offers, with its honest meaning.
type ModeInfo struct {
	ID      permit.Mode `json:"id"`
	Meaning string      `json:"meaning,omitzero"`
}

// Capabilities is what can be asked of a session's agent.
type Capabilities struct {
	Load            bool `json:"load"`
	Resume          bool `json:"resume"`
	List            bool `json:"list"`
	Delete          bool `json:"delete"`
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// Grade is how strongly a fence holds.
type Grade string

// The grades, strongest first.
const (
	Enforced Grade = "enforced"
	Mediated Grade = "mediated"
	Observed Grade = "observed"
)

// Posture is the grades that hold now for one session, with the sentence a
// person reads. It never says more than was seen to hold.
type Posture struct {
	Reads    Grade  `json:"reads"`
	Writes   Grade  `json:"writes"`
	Commands Grade  `json:"commands"`
	Sentence string `json:"sentence"`
	// Kernel is how much of the fences the kernel holds: "full", "partial" or
	// "none"; empty before an agent was started.
	Kernel string `json:"kernel,omitzero"`
}

// StopReason is why a turn ended: end_turn, max_tokens, max_turn_requests,
// refusal, cancelled, or a text we do not know, kept as it is.
type StopReason string

// TurnResult is the end of a turn.
type TurnResult struct {
	Turn       string         `json:"turnId"`
	StopReason StopReason     `json:"stopReason"`
	AgentSaid  StopReason     `json:"agentStopReason,omitzero"` // when it differs: we cancelled, the agent said end_turn
	Usage      jsontext.Value `json:"usage,omitzero"`           // as the agent gave it; absent when it did not
	// Raw is the agent's answer as it came; nil when there was none.
	Raw jsontext.Value `json:"-"`
	TurnRecord
}

// TurnRecord is what the record says of a turn that has ended; all of it is
// absent where turns are not kept.
type TurnRecord struct {
	Changes  []receipt.Change  `json:"changes,omitzero"`  // the first of them
	Changed  int               `json:"changed,omitzero"`  // how many there are
	Undoable bool              `json:"undoable,omitzero"` // something of it can be taken back
	Verifier []receipt.Verdict `json:"verifier,omitzero"` // of the user's checks, in their order
}

// AuthMethod is one way to sign in to an agent. Command is the exact line for
// a terminal when the agent signs in there: ours, which has it do so in the fences.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Command     string `json:"command,omitzero"`
}

// Sessions is what the editors' side asks of a Bridge; *Bridge implements it.
//
// Errors that a caller branches on: *UnknownAgentError, *UnknownSessionError,
// *AuthError, *StartError, *BusyError, *GoneError, *AgentError, *UnsupportedError, and ctx.Err().
type Sessions interface {
	New(ctx context.Context, n NewSession) (Info, error)
	Load(ctx context.Context, l LoadSession) (Info, error)
	Stored(ctx context.Context, agent, folder, cursor string) (rows []StoredSession, next string, err error)
	Live() []Info
	Info(session string) (Info, error)
	// Prompt runs one turn and returns at its end. blocks are ACP content
	// blocks, forwarded as they are. Cancelling ctx cancels the turn.
	Prompt(ctx context.Context, session string, blocks []jsontext.Value) (TurnResult, error)
	Cancel(ctx context.Context, session string) error
	SetMode(ctx context.Context, session string, mode permit.Mode) (Info, error)
	SetConfigOption(ctx context.Context, session, option string, value jsontext.Value) (jsontext.Value, error)
	SetModel(ctx context.Context, session, model string) error
	Authenticate(ctx context.Context, agent, folder, method string) error
	CloseSession(ctx context.Context, session string) error
	DeleteStored(ctx context.Context, agent, folder, id string) error
	// Close ends every agent and waits until nothing of them is left.
	Close(ctx context.Context) error
}
