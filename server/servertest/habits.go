package servertest

import (
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/server/wire"
)

// Habits are how an editor behaves. The zero value is honest and says no.
type Habits struct {
	// Permission answers a card of a plugin with an option id; nil: "". It may
	// wait.
	Permission func(wire.PermissionParams) (option string, err error)
	// Choose answers window/showMessageRequest with the index of a title, -1 for
	// none; nil: -1. It may wait.
	Choose func(message string, titles []string) (int, error)
	// Unsaved answers what to do with unsaved documents; nil: send.
	Unsaved func(wire.UnsavedParams) bridge.UnsavedChoice
	// Elicit answers a form; nil: an error.
	Elicit func(params jsontext.Value) jsontext.Value
	// Context answers what the user looks at.
	Context wire.ContextResult
	// Edits is how it takes edits from the server.
	Edits Edits
	// BeforeEdit runs just before an edit is taken: the user was faster. It is
	// called without a lock and may type.
	BeforeEdit func()
	// Format is what saving does to a text; nil: nothing.
	Format func(string) string
	// Silent: no didChange is sent.
	Silent bool
}

// Edits is how an editor takes the server's edits.
type Edits string

// The ways. All but the first are faults that real editors have shown.
const (
	Honest   Edits = ""
	Drops    Edits = "drops"     // says applied and does nothing (Neovim, newer buffer)
	Refuses  Edits = "refuses"   // says applied: false
	Mutters  Edits = "mutters"   // says applied: false and does it all the same
	Deaf     Edits = "deaf"      // never answers
	Busy     Edits = "busy"      // plugin: never answers the next one, and is honest from then on
	Rude     Edits = "rude"      // answers with an error
	Careless Edits = "careless"  // looks at no version
	ReadOnly Edits = "read-only" // plugin: the document may not be changed
	Late     Edits = "late"      // announces its changes after its answer (Neovim gathers them)
)

// SetHabits changes the editor's behaviour from the next message on.
func (e *Editor) SetHabits(f func(*Habits)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.habits)
}

func (e *Editor) habitsNow() Habits {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.habits
}
