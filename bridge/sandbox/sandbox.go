package sandbox

import (
	"fmt"

	"sallyport/bridge/process"
	"sallyport/workspace/fence"
)

// Backend is what holds a fence.
type Backend string

// The backends, strongest first.
const (
	Bubblewrap Backend = "bubblewrap"
	Seatbelt   Backend = "seatbelt"
	Landlock   Backend = "landlock"
	None       Backend = "none"
)

// Level is how much of a layout a backend holds.
type Level string

// The levels. Partial comes with gaps.
const (
	Full    Level = "full"
	Partial Level = "partial"
	Nothing Level = "none"
)

// Network is what the agent's processes reach.
type Network string

// The networks. Loopback is one of the agent's own: the services of this machine are not in it. The zero value is open.
const (
	NetworkOpen     Network = ""
	NetworkLoopback Network = "loopback"
	NetworkOff      Network = "off"
)

// Request says what to start, and inside which fence.
type Request struct {
	// Program is started; its Wrap must be empty.
	Program process.Spec
	Said    Said
	Layout  *fence.Layout
	Needs   Needs
	Network Network
	// Backend is the one to use; empty: the best that works here.
	Backend Backend
}

// Needs are an agent's own files, as absolute paths.
type Needs struct {
	State    []string // it must be able to write these; a missing folder is made
	Settings []string // closed to its writes, also inside State
	Sockets  []string // not closed, though they may be on the list of closed ones
}

// Report is what a fence holds. Reads, Writes and Reserved come from the test inside it.
type Report struct {
	Backend  Backend  `json:"backend"`
	Level    Level    `json:"level"`
	Reads    bool     `json:"reads"`    // a hidden file cannot be read
	Writes   bool     `json:"writes"`   // outside the region nothing can be written
	Reserved bool     `json:"reserved"` // reserved names in the region cannot be written
	Network  Network  `json:"network,omitzero"`
	Gaps     []string `json:"gaps,omitempty"`   // what is not held, one sentence each, without a full stop
	Limits   []string `json:"limits,omitempty"` // what no backend holds, of this layout
	Why      string   `json:"why,omitzero"`     // why it is not full
}

// SetupError is a fence that could not be set up. No agent was started.
type SetupError struct {
	Backend Backend
	Reason  string
	Fix     string // what would mend it; may be empty
}

// Error is one sentence.
func (e *SetupError) Error() string {
	return fmt.Sprintf("the fence (%s) could not be set up: %s", e.Backend, e.Reason)
}

// ExitSetup is the exit status of an inner step that did not become the agent because a fence does not hold; ExitMissing
// when there is no such program.
const (
	ExitSetup   = 126
	ExitMissing = 127
)
