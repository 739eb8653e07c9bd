package checkpoint

import (
	"fmt"
	"os"
	"strings"

	"sallyport/workspace/checkpoint/pack"
)

// keep stores what is going to be overwritten by force, as a partial checkpoint, before anything is. Steps whose path changes
// meanwhile become conflicts.
func (r *restore) keep(steps []Step) ([]Step, error) {
	var out []Step
	kept := map[string]*branch{} // by root
	for _, s := range steps {
		if !s.Keep {
			out = append(out, s)
			continue
		}
		if s.Now.Kind == LeftOut && s.Now.Reason == Denied {
			if err := r.letRead(&s); err != nil {
				r.conflict(s, err)
				continue
			}
		}
		state, err := r.store.keepOne(&r.at, s)
		if failed, ok := err.(storeError); ok {
			return nil, failed.error
		}
		if err != nil {
			r.conflict(s, err)
			continue
		}
		s.Now = state
		out = append(out, s)
		if kept[s.Root] == nil {
			kept[s.Root] = &branch{}
		}
		kept[s.Root].add(strings.Split(s.Path, "/"), state)
	}
	if len(kept) == 0 {
		return out, nil
	}
	c := &Checkpoint{Partial: true}
	for root, b := range kept {
		tree, _, err := b.store(r.store)
		if err != nil {
			return nil, err
		}
		c.Roots = append(c.Roots, Root{root, tree})
	}
	if err := r.store.save(c); err != nil {
		return nil, err
	}
	r.result.Kept = c
	return out, nil
}

// letRead gives the owner back the right to read a file that is going to be overwritten: else it could not be kept.
func (r *restore) letRead(s *Step) error {
	dir, name, err := r.at.parent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := r.same(dir, name, *s); err != nil {
		return err
	}
	const ownerReads = 0o400
	if err := dir.Chmod(name, s.seen.info.Mode()|ownerReads); err != nil {
		return err
	}
	s.seen, err = look(dir, name)
	return err
}

// keepOne stores what stands at a step's path, whatever its size.
func (s *Store) keepOne(at *places, step Step) (State, error) {
	if step.seen.info == nil || step.Now.Kind == Folder {
		return step.Now, nil
	}
	dir, name, err := at.parent(step.Root, step.Path)
	if err != nil {
		return State{}, err
	}
	defer dir.Close()
	if step.Now.Kind == Link {
		target, err := dir.Readlink(name)
		if err != nil {
			return State{}, err
		}
		h, _, err := s.objects.Put([]byte(target), false)
		if err != nil {
			return State{}, storeError{err}
		}
		return State{Kind: Link, Hash: h}, nil
	}
	state := State{Kind: File, Mode: modeOf(step.seen.info.Mode())}
	same := false
	err = readSame(dir, name, step.seen.info, func(f *os.File) error {
		h, _, _, err := s.objects.PutStream(f, Hash{}, true)
		state.Hash = h
		if err != nil {
			return storeError{fmt.Errorf("storing %s: %w", step.Path, err)}
		}
		return nil
	}, &same)
	if err == nil && !same {
		err = errSince
	}
	return state, err
}

// branch is a folder of a partial checkpoint in the making.
type branch struct {
	state State // of the path itself, if it is held
	held  bool
	names map[string]*branch
}

func (b *branch) add(names []string, s State) {
	if len(names) == 0 {
		b.state, b.held = s, true
		return
	}
	if b.names == nil {
		b.names = map[string]*branch{}
	}
	if b.names[names[0]] == nil {
		b.names[names[0]] = &branch{}
	}
	b.names[names[0]].add(names[1:], s)
}

func (b *branch) store(s *Store) (Hash, int64, error) {
	var items []item
	for name, child := range b.names {
		it := item{name: name, State: child.state}
		if !child.held {
			it.State = State{Kind: Folder, Reason: container}
		}
		if it.Kind == Folder {
			tree, _, err := child.store(s)
			if err != nil {
				return pack.Hash{}, 0, err
			}
			it.Hash = tree
		}
		items = append(items, it)
	}
	return s.putTree(items, Hash{}, true)
}
