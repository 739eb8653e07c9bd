package turns

import (
	"context"
	"fmt"

	"sallyport/workspace"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Undo is what is to be taken back.
type Undo struct {
	Folder string // of the project
	Turn   string // id or its beginning; "" is the last one
	// Redo: Turn was taken back, and that is taken back.
	Redo   bool
	DryRun bool
	// Force takes back also what changed since, and what may be the user's. What is overwritten stays in the store.
	Force bool
	// Paths, if any, are all that is taken back, with what is beneath them: absolute, or relative to Folder.
	Paths   []string
	Editor  workspace.Editor // nil: no document is open
	Session string
}

// Undone is what an undo did, or would do.
type Undone struct {
	Turn      string      `json:"turnId,omitzero"` // id of this undo; "" when nothing was done
	Of        string      `json:"of"`              // what was taken back, or done again
	Done      []PathState `json:"done"`
	Conflicts []PathState `json:"conflicts"` // left alone
	Already   []PathState `json:"already"`   // as they were before
	DryRun    bool        `json:"dryRun,omitzero"`
	Diffs     []FileDiff  `json:"diffs,omitzero"` // of a dry run: from what is there now to what would be
}

// PathState is one path of an undo.
type PathState struct {
	Root      string                `json:"root"`
	Path      string                `json:"path"`   // slashed, relative to Root
	Change    checkpoint.ChangeKind `json:"change"` // of the turn
	By        receipt.Attribution   `json:"by"`
	Buffer    bool                  `json:"buffer,omitzero"`
	Why       string                `json:"why,omitzero"`       // of a conflict, one clause
	Forceable bool                  `json:"forceable,omitzero"` // a conflict that Force takes back
}

// BusyError says that a turn or another undo runs on these folders.
type BusyError struct {
	Turn   string
	Kind   receipt.Kind
	Folder string

	passes bool // who waits gets in
}

// Error names it.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s %s is running in %s", e.Kind, e.Turn, e.Folder)
}

// GoneError says that a record can no longer be taken back or shown, or never could.
type GoneError struct {
	Turn string
	Why  string // one clause
}

// Error says why.
func (e *GoneError) Error() string { return fmt.Sprintf("turn %s: %s", e.Turn, e.Why) }

// Undo takes a record back, or with Redo takes back that it was taken back. Errors: those of Find, *BusyError, *GoneError, of the
// store, and ctx's. What is wrong with one path is a conflict.
func (s *Store) Undo(ctx context.Context, u Undo) (*Undone, error) { return nil, errNotYet }
