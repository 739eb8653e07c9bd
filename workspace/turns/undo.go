package turns

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	Done      []PathState `json:"done"`            // each list by root and path
	Conflicts []PathState `json:"conflicts"`       // left alone
	Already   []PathState `json:"already"`         // as they were before
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

// Undo takes a record back, or with Redo takes back that it was taken back. Errors: those of Find and FindUndone, *BusyError (not of
// a dry run), *GoneError, of the store, and ctx's. What is wrong with one path is a conflict. With an error the answer says what
// was done until then, if anything was.
func (s *Store) Undo(ctx context.Context, u Undo) (*Undone, error) {
	unpin, err := s.pinned(ctx)
	if err != nil {
		return nil, fmt.Errorf("taking back a turn: %w", err)
	}
	defer unpin()
	target, err := s.target(ctx, u)
	if err != nil {
		return nil, err
	}
	return s.undo(ctx, u, target)
}

// sort orders all paths by root and path.
func (u *Undone) sort() {
	for _, list := range [][]PathState{u.Done, u.Conflicts, u.Already} {
		slices.SortStableFunc(list, func(a, b PathState) int {
			return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Path, b.Path))
		})
	}
}

func (s *Store) undo(ctx context.Context, u Undo, target entry) (_ *Undone, err error) {
	o := &undoing{store: s, ask: u, target: target.trace, project: target.trace.project(), result: &Undone{Of: target.Turn, DryRun: u.DryRun}}
	defer o.result.sort()
	o.begun = begun{
		Head:  receipt.Head{Kind: receipt.Undo, Turn: "u-" + strings.ToLower(rand.Text()[:16]), Of: target.Turn, Session: u.Session},
		Takes: target.Turn, Roots: target.trace.Roots, Started: s.config.Now(),
	}
	if u.Redo {
		o.begun.Kind, o.begun.Of, o.result.Of = receipt.Redo, target.Of, target.Of
	}
	for _, root := range o.project.roots {
		if now := settle(root); now != root {
			return nil, &GoneError{Turn: target.Turn, Why: "its folder " + root + " is behind a link now, at " + now}
		}
	}
	if o.held, o.points, err = s.points(ctx, target.trace); err != nil {
		return nil, fmt.Errorf("taking back %s: %w", target.Turn, err)
	}
	if u.DryRun {
		if err := o.plan(ctx); err != nil {
			return nil, fmt.Errorf("planning to take back %s: %w", target.Turn, err)
		}
		return o.rehearse(ctx)
	}
	if o.journal, err = s.enter(ctx, &o.begun); err != nil {
		return nil, fmt.Errorf("taking back %s: %w", target.Turn, err)
	}
	if err := o.run(ctx); err != nil {
		return o.result, fmt.Errorf("taking back %s: %w", target.Turn, err)
	}
	return o.result, nil
}

// target finds the record that is to be taken back.
func (s *Store) target(ctx context.Context, u Undo) (entry, error) {
	if !filepath.IsAbs(u.Folder) {
		return entry{}, fmt.Errorf("taking back a turn: folder %q is not absolute", u.Folder)
	}
	find := s.find
	if u.Redo {
		find = s.findUndo
	}
	target, err := find(ctx, u.Folder, u.Turn)
	switch {
	case err != nil:
		return entry{}, err
	case target.Running:
		return entry{}, &BusyError{Turn: target.Turn, Kind: target.Kind, Folder: target.Folder}
	case !target.Undoable:
		return entry{}, &GoneError{Turn: target.Turn, Why: target.Why}
	}
	return target, nil
}

// points loads the checkpoints of a trace's pairs.
func (s *Store) points(ctx context.Context, t *trace) (*checkpoint.Store, [][2]*checkpoint.Checkpoint, error) {
	held, err := s.checkpoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out [][2]*checkpoint.Checkpoint
	for _, p := range t.Pairs {
		before, err := held.Load(p.Before)
		if err != nil {
			return nil, nil, err
		}
		after, err := held.Load(p.After)
		if err != nil {
			return nil, nil, err
		}
		for _, root := range append(rootsOf(before), rootsOf(after)...) {
			if !slices.Contains(t.project().roots, root) {
				return nil, nil, fmt.Errorf("checkpoint of %s: %w", root, errNoTrace)
			}
		}
		out = append(out, [2]*checkpoint.Checkpoint{before, after})
	}
	return held, out, nil
}
