package checkpoint

import (
	"context"
	"fmt"
)

// ChangeKind says what became of a path.
type ChangeKind string

const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified" // content, or the target of a link
	Deleted  ChangeKind = "deleted"
	Mode     ChangeKind = "mode"    // the mode alone
	Type     ChangeKind = "type"    // another kind stands there
	Unknown  ChangeKind = "unknown" // one of the checkpoints left it out, so it may have changed
)

// Change is a path that is not the same in two checkpoints. A folder that was added or deleted is a change, and so is everything in it.
type Change struct {
	Root, Path    string // as in Skipped
	Kind          ChangeKind
	Before, After State // the Hash of folders is zero
}

// container marks folders of a partial checkpoint that only lead to what it holds.
const container Reason = 254

// Compare lists what changed, by root and path. Folders that only one of them has are not compared, nor what a partial one
// does not hold.
func (s *Store) Compare(ctx context.Context, before, after *Checkpoint) ([]Change, error) {
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.compare(ctx, before, after)
}

func (s *Store) compare(ctx context.Context, before, after *Checkpoint) ([]Change, error) {
	d := differ{store: s, ctx: ctx}
	partial := [2]bool{before.Partial, after.Partial}
	for _, b := range before.Roots {
		for _, a := range after.Roots {
			if a.Path != b.Path {
				continue
			}
			d.root = a.Path
			if err := d.folders("", [2]Hash{b.Tree, a.Tree}, partial); err != nil {
				return nil, fmt.Errorf("comparing checkpoints %s and %s: %w", before.ID, after.ID, err)
			}
		}
	}
	return d.changes, nil
}

type differ struct {
	store   *Store
	ctx     context.Context
	root    string
	changes []Change
}

// folders compares two trees; the zero Hash is an empty one. Nothing is known of names that a partial one has not.
func (d *differ) folders(path string, trees [2]Hash, partial [2]bool) error {
	if trees[0] == trees[1] {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	var lists [2][]item
	for i, tree := range trees {
		if tree.IsZero() {
			continue
		}
		var err error
		if lists[i], err = d.store.tree(tree); err != nil {
			return err
		}
	}
	for len(lists[0]) > 0 || len(lists[1]) > 0 {
		name := firstName(lists)
		var pair [2]State
		skip := false
		for i, list := range lists {
			if len(list) > 0 && list[0].name == name {
				pair[i], lists[i] = list[0].State, list[1:]
			} else {
				skip = skip || partial[i]
			}
		}
		if skip {
			continue
		}
		if path != "" {
			name = path + "/" + name
		}
		if err := d.states(name, pair, partial); err != nil {
			return err
		}
	}
	return nil
}

func firstName(lists [2][]item) string {
	if len(lists[0]) == 0 || len(lists[1]) > 0 && lists[1][0].name < lists[0][0].name {
		return lists[1][0].name
	}
	return lists[0][0].name
}

func (d *differ) states(path string, pair [2]State, partial [2]bool) error {
	if pair[0] == pair[1] {
		return nil
	}
	var trees [2]Hash
	deeper, leads, closed := false, false, false
	for i, s := range pair {
		leads = leads || s.Reason == container
		closed = closed || s.Kind == LeftOut
		if s.Kind != Folder {
			continue
		}
		deeper = true
		trees[i], pair[i].Hash = s.Hash, Hash{}
		partial[i] = partial[i] || s.partly()
		if s.partly() {
			pair[i] = s.asLeftOut()
		}
	}
	if !leads && pair[0] != pair[1] {
		d.changes = append(d.changes, Change{d.root, path, kindOf(pair[0], pair[1]), pair[0], pair[1]})
	}
	if closed || !deeper {
		return nil // what is in it is not known of one of them: no file of it was added or deleted
	}
	return d.folders(path, trees, partial)
}

// asLeftOut is how a folder that is partly held is told to others.
func (s State) asLeftOut() State {
	out := State{Kind: LeftOut, Reason: s.Reason}
	if s.Reason == Denied {
		out.Mode, out.Hash = s.Mode, emptyTree
	}
	return out
}

func kindOf(before, after State) ChangeKind {
	b, a := before.Kind, after.Kind
	switch {
	case b == Absent:
		return Added
	case a == Absent:
		return Deleted
	case b == LeftOut && a == LeftOut && before.Reason == after.Reason:
		return Modified
	case b == LeftOut && before.Reason == TooLarge && a == File, a == LeftOut && after.Reason == TooLarge && b == File:
		return Modified
	case b == LeftOut || a == LeftOut:
		return Unknown
	case b != a:
		return Type
	case before.Hash == after.Hash:
		return Mode
	default:
		return Modified
	}
}
