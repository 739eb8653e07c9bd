package receipt

import "time"

// The grades: how strongly a fence holds.
const (
	Enforced = "enforced" // the kernel refuses
	Mediated = "mediated" // only what passes through us
	Observed = "observed" // seen afterwards
)

// Held is what the turn was held to.
type Held struct {
	Posture                     // at the start
	Changes     []PostureChange `json:"changes,omitzero"` // of the posture during the turn
	Environment []string        `json:"environment"`      // names of the variables that the agent has, sorted; never values
	Mode        string          `json:"mode,omitzero"`    // of permissions
	Policy      string          `json:"policy,omitzero"`  // when nobody answers
}

// Posture is the grades that hold, with the sentence a person reads.
type Posture struct {
	Reads    string `json:"reads,omitzero"` // Enforced, Mediated or Observed
	Writes   string `json:"writes,omitzero"`
	Commands string `json:"commands,omitzero"`
	Sentence string `json:"sentence,omitzero"`
}

// PostureChange is a posture that held from a moment on.
type PostureChange struct {
	Posture
	Time time.Time `json:"time"`
}

// Cover is what can be taken back.
type Cover struct {
	Before  string        `json:"before,omitzero"` // id of the checkpoint before the turn; "" without one
	After   string        `json:"after,omitzero"`  // id of the one at its end; "" without one
	None    string        `json:"none,omitzero"`   // why there is no checkpoint before the turn
	Files   int           `json:"files"`           // in the checkpoint before the turn
	Skipped List[Skipped] `json:"skipped"`         // what it left out
}

// Skipped is a file, or a folder with all in it, that the checkpoint does not hold.
type Skipped struct {
	Root   string `json:"root"`
	Path   string `json:"path"` // slashed, relative to Root
	Reason string `json:"reason"`
}

// List is bounded: it holds the first of all that there were, or those that matter most.
type List[T any] struct {
	Total int `json:"total"` // of all, at least len(List)
	List  []T `json:"list"`
}

// Add counts an entry and takes it in while fewer than limit are (limit ≤ 0: always).
func (l *List[T]) Add(v T, limit int) {
	l.Total++
	if limit <= 0 || len(l.List) < limit {
		l.List = append(l.List, v)
	}
}

// Cut is how many entries are not in the list.
func (l List[T]) Cut() int { return max(0, l.Total-len(l.List)) }

// ListOf is a list of all there were.
func ListOf[T any](all []T) List[T] { return List[T]{Total: len(all), List: all} }
