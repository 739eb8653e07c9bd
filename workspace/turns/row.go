package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	ErrNothing   = errors.New("there is no turn that can be taken back")
	ErrNotUndone = errors.New("there is no turn that was taken back")
)

// List gives the newest records of a folder, newest first, those of all folders for "". limit ≤ 0 is all. It ends turns whose
// process is gone.
func (s *Store) List(ctx context.Context, folder string, limit int) ([]Row, error) {
	var out []Row
	err := s.history(ctx, folder, func(e entry) bool {
		out = append(out, e.Row)
		return limit <= 0 || len(out) < limit
	})
	if err != nil {
		return nil, fmt.Errorf("listing turns: %w", err)
	}
	if folder == "" {
		slices.SortStableFunc(out, func(a, b Row) int { return b.Started.Compare(a.Started) })
	}
	return out, nil
}

// Find gives the record whose id is ref or begins so; for "" the last turn that can be taken back, and of which
// nothing was yet. Errors: ErrNotFound, ErrAmbiguous, ErrNothing.
func (s *Store) Find(ctx context.Context, folder, ref string) (Row, error) {
	e, err := s.find(ctx, folder, ref)
	return e.Row, err
}

func (s *Store) find(ctx context.Context, folder, ref string) (entry, error) {
	if ref != "" {
		list, err := s.matching(ctx, folder, ref)
		if err != nil {
			return entry{}, err
		}
		return list[len(list)-1], nil
	}
	var found, again entry // again: of which an undo has left something
	err := s.history(ctx, folder, func(e entry) bool {
		switch {
		case e.Kind != receipt.Turn || !e.Undoable:
		case !e.parts:
			found = e
		case again.Turn == "":
			again = e
		}
		return found.Turn == ""
	})
	if found.Turn == "" {
		found = again
	}
	if err == nil && found.Turn == "" {
		err = ErrNothing
	}
	return found, err
}

// matching gives all records as far as the one whose id is ref or begins so, which is the last of them.
func (s *Store) matching(ctx context.Context, folder, ref string) ([]entry, error) {
	var seen []entry
	exact, first, several := -1, -1, false
	err := s.history(ctx, folder, func(e entry) bool {
		seen = append(seen, e)
		switch {
		case e.Turn == ref:
			exact = len(seen) - 1
		case !strings.HasPrefix(e.Turn, ref) && !strings.HasPrefix(afterKind(e.Turn), ref):
		case first >= 0:
			several = true
		default:
			first = len(seen) - 1
		}
		return exact < 0
	})
	switch {
	case err != nil:
		return nil, err
	case exact >= 0:
		return seen[:exact+1], nil
	case several:
		return nil, fmt.Errorf("%w: %s", ErrAmbiguous, ref)
	case first >= 0:
		return seen[:first+1], nil
	default:
		return nil, fmt.Errorf("%w: %s", ErrNotFound, ref)
	}
}

// afterKind is an id without what stands before its first '-'.
func afterKind(id string) string {
	_, rest, _ := strings.Cut(id, "-")
	return rest
}

// FindUndone gives the turn that a redo does again: that with this id or beginning, for "" the last one that was taken back.
// Errors: ErrNotFound, ErrAmbiguous, ErrNotUndone.
func (s *Store) FindUndone(ctx context.Context, folder, ref string) (Row, error) {
	undo, err := s.findUndo(ctx, folder, ref)
	if err != nil {
		return Row{}, err
	}
	return s.Find(ctx, folder, undo.Of)
}

// findUndo gives the undo that a redo takes back.
func (s *Store) findUndo(ctx context.Context, folder, ref string) (entry, error) {
	want := ""
	if ref != "" {
		list, err := s.matching(ctx, folder, ref)
		if err != nil {
			return entry{}, err
		}
		last := list[len(list)-1]
		if last.Kind == receipt.Undo && !last.Undone {
			return last, nil
		}
		want = last.Turn
	}
	var found entry
	err := s.history(ctx, folder, func(e entry) bool {
		if e.Kind == receipt.Undo && !e.Undone && (e.trace == nil || !e.trace.empty()) && (want == "" || e.takes == want || e.Of == want) {
			found = e
		}
		return found.Turn == "" && (want == "" || e.Turn != want)
	})
	if err == nil && found.Turn == "" {
		err = ErrNotUndone
	}
	return found, err
}
