package turns

import (
	"context"
	"errors"

	"sallyport/workspace/receipt"
)

// Row is one record for a list.
type Row struct {
	RowHead
	receipt.When                              // Ended is zero while it runs
	StopReason    string                      `json:"stopReason,omitzero"`
	Changed       int                         `json:"changed"` // paths
	ByAttribution map[receipt.Attribution]int `json:"byAttribution,omitzero"`
	RowState
}

// RowHead says which record it is, and whose.
type RowHead struct {
	Turn    string       `json:"turnId"`
	Kind    receipt.Kind `json:"kind"`
	Of      string       `json:"of,omitzero"` // of undo and redo: the turn
	Session string       `json:"sessionId,omitzero"`
	Folder  string       `json:"folder"`
	Agent   string       `json:"agent,omitzero"` // id
}

// RowState says what can be done with it.
type RowState struct {
	Running     bool   `json:"running,omitzero"`
	Interrupted bool   `json:"interrupted,omitzero"` // its process was gone before its end
	Undone      bool   `json:"undone,omitzero"`      // nothing of it is left to take back
	Undoable    bool   `json:"undoable"`
	Why         string `json:"why,omitzero"` // it cannot be taken back, one clause
}

// The errors of Find.
var (
	ErrNotFound  = errors.New("no such turn")
	ErrAmbiguous = errors.New("several turns begin so")
	ErrNothing   = errors.New("nothing to take back")
)

// List gives the newest records of a folder, newest first, those of all folders for "". limit ≤ 0 is all. It ends turns whose
// process is gone.
func (s *Store) List(ctx context.Context, folder string, limit int) ([]Row, error) {
	return nil, errNotYet
}

// Find gives the record whose id is ref or begins so; for "" the last turn that can be taken back. Errors: ErrNotFound,
// ErrAmbiguous, ErrNothing.
func (s *Store) Find(ctx context.Context, folder, ref string) (Row, error) {
	return Row{}, errNotYet
}

// FindUndone is Find for a redo: "" is the last turn that was taken back.
func (s *Store) FindUndone(ctx context.Context, folder, ref string) (Row, error) {
	return Row{}, errNotYet
}
