package checkpoint

import (
	"path"
	"strings"
	"sync"

	"sallyport/workspace/checkpoint/ignore"
)

// base is an earlier checkpoint of a root, for what is ignored now: what that held is held again, and rules that it had not hide
// nothing.
type base struct {
	store *Store
	tree  Hash

	mu     sync.Mutex
	lists  map[Hash][]item
	scopes map[string]*scope // by folder
}

func (s *Store) baseOf(c *Checkpoint, root string) *base {
	if c == nil {
		return nil
	}
	for _, r := range c.Roots {
		if r.Path == root {
			return &base{store: s, tree: r.Tree, lists: map[Hash][]item{}, scopes: map[string]*scope{}}
		}
	}
	return nil
}

// holds says what is held of a path that is ignored now. Errors are of the store.
func (b *base) holds(path string, folder bool) (held, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state, err := b.stateLocked(path)
	switch {
	case err != nil:
		return held{}, err
	case state.partly() && state.Reason == Ignored && folder:
		items, err := b.listLocked(state.Hash)
		names := make([]string, 0, len(items))
		for _, it := range items {
			names = append(names, it.name)
		}
		return held{only: names}, err
	case state.Kind == Absent:
		s, err := b.scopeLocked(parentOf(path))
		return held{whole: !s.ignores(path, folder)}, err
	default:
		return held{whole: state.Kind != LeftOut || state.Reason != Ignored}, nil
	}
}

func parentOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// stateLocked is what the checkpoint had at a path; a folder that is partly held is as it is in the tree.
func (b *base) stateLocked(path string) (State, error) {
	in := State{Kind: Folder, Hash: b.tree}
	for name := range strings.SplitSeq(path, "/") {
		if in.Kind != Folder {
			break
		}
		items, err := b.listLocked(in.Hash)
		if err != nil {
			return State{}, err
		}
		it, ok := find(items, name)
		if !ok && in.partly() {
			return State{Kind: LeftOut, Reason: in.Reason}, nil
		}
		in = it.State
	}
	return in, nil
}

func (b *base) listLocked(tree Hash) ([]item, error) {
	if items, ok := b.lists[tree]; ok {
		return items, nil
	}
	items, err := b.store.tree(tree)
	if err == nil {
		b.lists[tree] = items
	}
	return items, err
}

// scopeLocked are the rules in a folder as the checkpoint has them.
func (b *base) scopeLocked(folder string) (*scope, error) {
	if s, ok := b.scopes[folder]; ok {
		return s, nil
	}
	var above *scope
	name, cut := rulesFile, 0
	if folder != "" {
		var err error
		if above, err = b.scopeLocked(parentOf(folder)); err != nil {
			return nil, err
		}
		if above.ignores(folder, true) {
			s := &scope{above: above, whole: true}
			b.scopes[folder] = s
			return s, nil
		}
		name, cut = folder+"/"+rulesFile, len(folder)+1
	}
	s := above
	state, err := b.stateLocked(name)
	if err != nil {
		return nil, err
	}
	switch state.Kind {
	case File:
		s = &scope{above: above, cut: cut}
		if n, err := b.store.objects.Size(state.Hash); err != nil {
			return nil, err
		} else if n <= ignore.MaxSize {
			text, err := b.store.content(state.Hash)
			if err != nil {
				return nil, err
			}
			s.own = ignore.Parse(text)
		}
	case LeftOut:
		if folder == "" || state.Reason != Ignored {
			s = &scope{above: above, cut: cut} // nobody knows
		}
	default: // none, as a link is none
	}
	b.scopes[folder] = s
	return s, nil
}
