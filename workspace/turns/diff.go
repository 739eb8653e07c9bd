package turns

import (
	"context"

	"sallyport/workspace/receipt"
)

// FileDiff is what became of one path, for people.
type FileDiff struct {
	Root   string              `json:"root"`
	Path   string              `json:"path"` // slashed, relative to Root
	Kind   string              `json:"kind"` // as in receipt.Change
	By     receipt.Attribution `json:"by"`
	Before Side                `json:"before"`
	After  Side                `json:"after"`
	Buffer bool                `json:"buffer,omitzero"` // of an open document, not of the disk
	Shown
}

// Side is one state of a path.
type Side struct {
	Kind   string `json:"kind"`            // as in receipt.State
	Mode   string `json:"mode,omitzero"`   // as in receipt.State
	Size   int64  `json:"size"`            // bytes of a file; -1 when not known
	Target string `json:"target,omitzero"` // of a link
}

// Shown is the difference as text.
type Shown struct {
	Binary  bool   `json:"binary,omitzero"`  // one side is no text
	Omitted string `json:"omitted,omitzero"` // why Unified is empty although the text differs, one clause
	Unified string `json:"unified,omitzero"` // as of text.Unified
}

// Diff gives what a record changed, by root and path. Errors: as of Find, and *GoneError.
func (s *Store) Diff(ctx context.Context, folder, turn string) ([]FileDiff, error) {
	return nil, errNotYet
}
