package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Add takes up what stands at one absolute path now, if c left it out because of a limit of time or bytes or because it is ignored:
// a file, a link, or that there is nothing. It returns a new checkpoint, or c itself when that has the path, and also
// where nothing of it can be held: a folder, a special file, a file that is too large. In a folder that is left out, the new
// checkpoint has this path and still nothing of the others.
//
// Errors: fs.ErrNotExist for a path beneath no root of c; those of reading the path; those of the store.
func (s *Store) Add(ctx context.Context, c *Checkpoint, path string) (*Checkpoint, error) {
	at := slices.IndexFunc(c.Roots, func(r Root) bool { _, ok := beneath(path, r.Path); return ok })
	if at < 0 || !filepath.IsAbs(path) {
		return nil, fmt.Errorf("adding %s to checkpoint %s: in none of its folders: %w", path, c.ID, fs.ErrNotExist)
	}
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rel, _ := beneath(path, c.Roots[at].Path)
	a := &adding{store: s, root: c.Roots[at].Path, path: filepath.ToSlash(rel), most: orDefault(c.maxFile, defaultMaxFile)}
	defer a.at.close()
	tree, err := a.folder(c.Roots[at].Tree, strings.Split(a.path, "/"), 0)
	if errors.Is(err, errNothing) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("adding %s to checkpoint %s: %w", path, c.ID, err)
	}
	if tree == c.Roots[at].Tree {
		return c, nil
	}
	out := &Checkpoint{Time: c.Time, Roots: slices.Clone(c.Roots), Texts: c.Texts, Partial: c.Partial, Stats: c.Stats, maxFile: c.maxFile}
	out.Roots[at].Tree = tree
	for _, skipped := range c.Skipped {
		if skipped.Root != a.root || skipped.Path != a.path {
			out.Skipped = append(out.Skipped, skipped)
		}
	}
	out.Stats.Stored += a.took
	return out, s.save(out)
}

// adding is one Add.
type adding struct {
	store *Store
	at    places
	root  string
	path  string // slashed, relative to root
	most  int64  // bytes of a file
	took  int64
}

// errNothing says that nothing can be held of the path.
var errNothing = errors.New("nothing to hold")

// folder is the tree of a folder with the path in it, or the same tree. Why is the reason for what the tree has not, or 0.
func (a *adding) folder(tree Hash, names []string, why Reason) (Hash, error) {
	var items []item
	if !tree.IsZero() {
		var err error
		if items, err = a.store.tree(tree); err != nil {
			return tree, err
		}
	}
	it, known := find(items, names[0])
	if !known && why == 0 {
		return tree, nil // it is known that nothing is there
	}
	it.name = names[0]
	if !known {
		it.State = State{Kind: LeftOut, Reason: why}
	}
	was := it
	if err := a.item(&it, names[1:]); err != nil || it == was {
		return tree, err
	}
	items = slices.DeleteFunc(slices.Clone(items), func(old item) bool { return old.name == it.name })
	out, took, err := a.store.putTree(append(items, it), tree, true)
	a.took += took
	return out, err
}

// item brings up to date what a folder has under one name.
func (a *adding) item(it *item, rest []string) error {
	taken := it.Kind == LeftOut && it.Reason.takesUp()
	switch {
	case taken && len(rest) == 0:
		return a.read(it)
	case taken:
		it.State = State{Kind: Folder, Reason: it.Reason}
	case it.Kind != Folder || len(rest) == 0:
		return nil
	}
	why := Reason(0)
	if it.partly() {
		why = it.Reason
	}
	tree, err := a.folder(it.Hash, rest, why)
	it.Hash = tree
	return err
}

// takesUp says whether Add holds what was left out for this reason.
func (r Reason) takesUp() bool { return r == TimeLimit || r == OverBudget || r == Ignored }

// read stores what stands at the path.
func (a *adding) read(it *item) error {
	for range tries {
		now, err := a.at.now(a.root, a.path)
		if err != nil {
			return err
		}
		if now.Kind == Folder || now.Kind == LeftOut || now.Kind == File && now.info.Size() > a.most {
			return errNothing
		}
		state, err := a.store.keepOne(&a.at, Step{Change: Change{Root: a.root, Path: a.path}, Now: now.State, seen: now})
		if failed, ok := err.(storeError); ok {
			return failed.error
		}
		if err == nil {
			it.State = state
			return nil
		}
	}
	return fmt.Errorf("%w, each time it was read", errSince)
}
