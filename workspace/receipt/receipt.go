package receipt

import "time"

// Version is that of the shape of a receipt; see Schema.
const Version = 1

// Receipt is the record of one turn. Its parts are embedded where the JSON has their fields side by side.
type Receipt struct {
	Head
	Where
	When
	Held  Held  `json:"held"`
	Cover Cover `json:"cover"`
	Did   Did   `json:"did"`
	Outcome
	Chain
}

// Kind of a receipt.
type Kind string

// The kinds.
const (
	Turn Kind = "turn" // a prompt to an agent
	Undo Kind = "undo" // took a turn back
	Redo Kind = "redo" // took an undo back
)

// Head says which turn this is, and whose.
type Head struct {
	Schema  int    `json:"schema"` // Version; 0 is filled in by Log.Append
	Kind    Kind   `json:"kind"`   // "" is filled in as Turn
	Turn    string `json:"turnId"`
	Of      string `json:"of,omitzero"` // of undo and redo: the turn that was taken back or done again
	Session string `json:"sessionId,omitzero"`
	Agent   *Agent `json:"agent"` // nil (null) for an undo
}

// Agent is the program that had the turn.
type Agent struct {
	ID      string `json:"id"`               // of the harness
	Name    string `json:"name,omitzero"`    // for people
	Version string `json:"version,omitzero"` // as it gave it
	Program string `json:"program,omitzero"` // path of what was started; no arguments
}

// Where is the project.
type Where struct {
	Folder string   `json:"folder"`         // of the session, absolute, links followed; it names the log
	Roots  []string `json:"roots,omitzero"` // additional folders, absolute
}

// When is by the wall clock. Log.Append makes it UTC, in milliseconds.
type When struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// Outcome is how the turn came out.
type Outcome struct {
	Taint    []Taint   `json:"taint"`    // what untrusted content the session had taken in by the end, oldest first
	Verifier []Verdict `json:"verifier"` // in the order of the user's checks; empty when there are none
	Tokens   *Tokens   `json:"tokens"`   // nil (null) when the agent gave none
	End      End       `json:"end"`
}

// Taint is untrusted content that the session took in.
type Taint struct {
	Kind   string    `json:"kind"`   // "fetch", "mcp", "outside", "marked"
	Source string    `json:"source"` // address, server and tool, or path
	Time   time.Time `json:"time"`
}

// The outcomes of a check.
const (
	Passed    = "passed"
	Failed    = "failed"
	TimedOut  = "timeout"
	NotRun    = "not run"   // the program is missing or could not be started
	Cancelled = "cancelled" // with the turn
)

// Verdict is what one check of the user's said after the turn.
type Verdict struct {
	Name    string  `json:"name"`
	Outcome string  `json:"outcome"` // Passed, Failed, …
	Why     string  `json:"why,omitzero"`
	Seconds float64 `json:"seconds"`          // it ran
	Exit    *int    `json:"exit,omitzero"`    // its exit status; nil when it did not exit by itself
	Output  string  `json:"output,omitzero"`  // the kept output, relative to the folder of the log, slashed; only the newest outputs stay
	Omitted int64   `json:"omitted,omitzero"` // bytes of output, the first ones, that were not kept
	Kernel  string  `json:"kernel,omitzero"`  // how much of the fences the kernel held for it: full, partial, none; "" when it did not run
}

// Tokens are as the agent counted them. What it did not give is nil, never 0.
type Tokens struct {
	Input       *int64 `json:"input,omitzero"`
	Output      *int64 `json:"output,omitzero"`
	Thought     *int64 `json:"thought,omitzero"`
	CachedRead  *int64 `json:"cachedRead,omitzero"`
	CachedWrite *int64 `json:"cachedWrite,omitzero"`
	Total       *int64 `json:"total,omitzero"`
}

// End is why the turn ended.
type End struct {
	StopReason      string `json:"stopReason,omitzero"`      // as we told it to the editor
	AgentStopReason string `json:"agentStopReason,omitzero"` // as the agent gave it
	Error           string `json:"error,omitzero"`           // one clause
	Interrupted     bool   `json:"interrupted,omitzero"`     // Sallyport ended in mid-turn; the receipt was made at the next start
}

// Chain binds a receipt to the one before. Log.Append fills it in.
type Chain struct {
	Seq      int64  `json:"seq"`           // from 1, in each project
	Previous string `json:"previous"`      // Hash of the one before, "" for the first
	Hash     string `json:"hash,omitzero"` // SHA-256 of the line without this member, in lower case hex
}
