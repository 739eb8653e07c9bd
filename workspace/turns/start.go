package turns

import (
	"context"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Buffer is the unsaved text of an open document.
type Buffer struct {
	Path string // absolute
	Text string // as the editor has it
}

// Start is how a turn begins.
type Start struct {
	Turn    string // its id: letters, digits, '-' and '_'
	Session string
	Folder  string   // of the session, absolute
	Roots   []string // additional folders, absolute
	Agent   *receipt.Agent
	Held    receipt.Held
	// Documents are all dirty ones of the editor that lie in the folders.
	Documents []Buffer
	// Options of the checkpoints; the zero value is Config.Checkpoint.
	Options checkpoint.Options
}

// Begin takes the checkpoint and begins the journal. It waits for an undo of these folders. That no checkpoint could be taken is
// no error: Running.Uncovered says so. Errors: of the arguments, and ctx's.
func (s *Store) Begin(ctx context.Context, start Start) (*Running, error) { return nil, errNotYet }
