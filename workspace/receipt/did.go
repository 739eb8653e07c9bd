package receipt

import "time"

// Did is what happened in the turn, each list in the order of time.
type Did struct {
	Permissions List[Permission] `json:"permissions"`
	Accesses    List[Access]     `json:"accesses"` // through us, that passed the fences
	Refusals    List[Refusal]    `json:"refusals"` // by a fence
	Changes     List[Change]     `json:"changes"`  // by comparing the checkpoints, by root and path
	Alarms      List[Alarm]      `json:"alarms"`   // what a person should look at
}

// Permission is a question of the agent's, or a write that we asked about for it, and how it was settled.
type Permission struct {
	Asked
	Settled
}

// Asked is what was to be done. It has no title: those quote contents.
type Asked struct {
	Call   string `json:"callId,omitzero"` // the agent's id of the tool call
	Tool   string `json:"tool"`            // as Claude Code names it
	Kind   string `json:"kind"`            // "command", "edit", "read", "fetch", "mcp", "tool"
	Target string `json:"target,omitzero"` // path, command line, address, or server and tool; see Redact
}

// Settled is what was answered.
type Settled struct {
	Outcome string    `json:"outcome"`          // "allowed", "denied" or "cancelled"
	By      string    `json:"by"`               // "fence", "decider", "rule", "mode", "policy", "user", "cancel"
	Decider string    `json:"decider,omitzero"` // id of the decider that settled it, where it is a program
	Name    string    `json:"name,omitzero"`    // of the decider, rule, mode or policy
	Why     string    `json:"why,omitzero"`     // one clause
	Option  string    `json:"option,omitzero"`  // id of the agent's option that was answered
	Rule    string    `json:"rule,omitzero"`    // what the user answered for good, as a rule that was kept
	DelayMS int64     `json:"delayMs"`          // from the question to the answer, in milliseconds
	Time    time.Time `json:"time"`             // of the answer
}

// Access is a read or a write that the agent made through us.
type Access struct {
	Kind    string    `json:"kind"`             // "read" or "write"
	Path    string    `json:"path"`             // absolute
	Source  string    `json:"source,omitzero"`  // "buffer" or "disk"
	Before  string    `json:"before,omitzero"`  // SHA-256 of the text before a write; "" when there was none
	After   string    `json:"after,omitzero"`   // SHA-256 of the text that was read, or that a write left
	Merged  bool      `json:"merged,omitzero"`  // with what the user had typed
	Created bool      `json:"created,omitzero"` // the file was not there before
	Time    time.Time `json:"time"`
}

// Refusal is an access that a fence refused.
type Refusal struct {
	Fence  string    `json:"fence"`  // "region", "reserved", "private", "unreadable"
	Access string    `json:"access"` // "read" or "write"
	Path   string    `json:"path"`   // absolute
	Why    string    `json:"why,omitzero"`
	Time   time.Time `json:"time"`
}

// Alarm is something that a person should look at.
type Alarm struct {
	Text string    `json:"text"`
	Time time.Time `json:"time"`
}

// Attribution says whose a change is, as found by comparing trees and what passed through us, never from events alone.
type Attribution string

// The attributions. The agent's are the first three.
const (
	ByMediated Attribution = "mediated" // written through us
	ByDeclared Attribution = "declared" // the agent gave its diff
	BySilent   Attribution = "silent"   // found on the disk, never mentioned
	ByUser     Attribution = "user"     // saved from the editor during the turn
	ByUnsure   Attribution = "unsure"   // of the agent, or of the user or some other program
)

// The kinds of changes.
const (
	Added       = "added"
	Modified    = "modified"
	Deleted     = "deleted"
	ModeChanged = "mode"    // only the permissions
	TypeChanged = "type"    // a file became a link, say
	Unknown     = "unknown" // one of the checkpoints left it out
)

// Change is a path that is not as it was before the turn.
type Change struct {
	Root   string      `json:"root"`
	Path   string      `json:"path"` // slashed, relative to Root
	Kind   string      `json:"kind"` // Added, Modified, …
	By     Attribution `json:"by"`
	Before State       `json:"before"`
	After  State       `json:"after"`
	Buffer bool        `json:"buffer,omitzero"` // in a document that was open in the editor
}

// State of a path.
type State struct {
	Kind string `json:"kind"`          // "absent", "file", "link", "folder" or "left out"
	Mode string `json:"mode,omitzero"` // permissions, four octal digits: "0644"
	Hash string `json:"hash,omitzero"` // of a file's contents or a link's target: SHA-256 in lower case hex
}
