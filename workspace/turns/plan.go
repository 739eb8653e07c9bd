package turns

import (
	"context"
	"fmt"
	"path/filepath"

	"sallyport/workspace"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// undoing is one undo.
type undoing struct {
	store   *Store
	ask     Undo
	target  *trace // of what is taken back
	project project
	journal *journal // nil in a dry run
	begun   begun
	result  *Undone
	planned
}

// planned is what an undo is going to do.
type planned struct {
	held   *checkpoint.Store
	points [][2]*checkpoint.Checkpoint // of the target's pairs
	disk   []*checkpoint.Plan          // by pair
	texts  []textStep
	clean  map[string]workspace.Document // open documents without unsaved text whose files are going to change, by path
	keep   []Buffer                      // texts that are overwritten, and that no checkpoint of the target has
}

// stand is why an open document stands against an undo; the zero one does not.
type stand struct {
	why       string // one clause
	forceable bool
}

// plan finds what is to be done, and what cannot be.
func (o *undoing) plan(ctx context.Context) error {
	o.result.Done, o.result.Conflicts, o.result.Already = []PathState{}, []PathState{}, []PathState{}
	only, err := o.only()
	if err != nil {
		return err
	}
	o.clean = map[string]workspace.Document{}
	known := map[string]stand{} // of documents that were planned
	for i := range o.target.Buffers {
		b := &o.target.Buffers[i]
		if mine(b.By) && only(string(b.Path)) {
			stands, err := o.planText(ctx, b)
			if err != nil {
				return err
			}
			if stands.why != "" {
				s := o.stateOfText(b)
				s.Why, s.Forceable = stands.why, stands.forceable
				o.result.Conflicts = append(o.result.Conflicts, s)
			}
			known[string(b.Path)] = stands
		}
	}
	for i, p := range o.points {
		in := map[string]*change{}
		for j := range o.target.Changes {
			c := &o.target.Changes[j]
			if c.Pair == i && mine(c.By) && only(absolute(string(c.Root), string(c.Path))) {
				in[c.key()] = c
			}
		}
		plan, err := o.held.Plan(ctx, p[0], p[1], checkpoint.RestoreOptions{
			Force: o.ask.Force,
			Only:  func(root, path string) bool { return in[key(root, path)] != nil },
		})
		if err != nil {
			return err
		}
		if err := o.planDisk(ctx, i, plan, in, known); err != nil {
			return err
		}
	}
	return nil
}

// planDisk takes in what the store of checkpoints planned, but for what may be the user's and what documents stand against.
func (o *undoing) planDisk(ctx context.Context, pair int, plan *checkpoint.Plan, in map[string]*change, known map[string]stand) error {
	out := &checkpoint.Plan{}
	for _, c := range plan.Already {
		o.result.Already = append(o.result.Already, o.stateFor(c, in))
	}
	for _, c := range plan.Conflicts {
		s := o.stateFor(c.Change, in)
		s.Why, s.Forceable = c.Why, c.Forceable
		o.result.Conflicts = append(o.result.Conflicts, s)
	}
	for _, step := range plan.Steps {
		s := o.stateFor(step.Change, in)
		if s.By == receipt.ByUnsure && !o.ask.Force {
			s.Why, s.Forceable = mayBeTheUsers, true
			o.result.Conflicts = append(o.result.Conflicts, s)
			continue
		}
		stands, planned := known[absolute(step.Root, step.Path)]
		if planned && stands.why != "" {
			stands.why = "its open document changed since"
		}
		if !planned {
			var err error
			if stands, err = o.document(ctx, pair, &step); err != nil {
				return err
			}
		}
		if stands.why != "" {
			s.Why, s.Forceable = stands.why, stands.forceable
			o.result.Conflicts = append(o.result.Conflicts, s)
			continue
		}
		out.Steps = append(out.Steps, step)
	}
	o.disk = append(o.disk, out)
	return nil
}

// stateFor is a path for the answer. A redo speaks of what the turn did, so of the reverse of the undo that it takes back.
func (o *undoing) stateFor(c checkpoint.Change, in map[string]*change) PathState {
	s := PathState{Root: c.Root, Path: c.Path, Change: c.Kind}
	if t := in[key(c.Root, c.Path)]; t != nil {
		s.Change, s.By = t.Kind, t.By
	}
	switch {
	case !o.ask.Redo:
	case s.Change == checkpoint.Added:
		s.Change = checkpoint.Deleted
	case s.Change == checkpoint.Deleted:
		s.Change = checkpoint.Added
	}
	return s
}

// only says which absolute paths were asked for. A path that the record did not change is an error. The folders that a path lay
// in and that are gone come back with it.
func (o *undoing) only() (func(path string) bool, error) {
	if len(o.ask.Paths) == 0 {
		return func(string) bool { return true }, nil
	}
	changed := map[string]bool{} // folders that the record removed, and so are needed by what was in them
	var all []string
	for _, c := range o.target.Changes {
		name := absolute(string(c.Root), string(c.Path))
		all = append(all, name)
		changed[name] = c.Kind == checkpoint.Deleted
	}
	for _, b := range o.target.Buffers {
		all = append(all, string(b.Path))
	}
	wanted := map[string]bool{}
	for _, asked := range o.ask.Paths {
		named := absoluteIn(settle(o.ask.Folder), asked)
		found := false
		for _, name := range all {
			_, in := beneath(name, named)
			_, real := beneath(name, settle(named))
			_, link := beneath(name, settleParent(named))
			if !in && !real && !link {
				continue
			}
			found = true
			wanted[name] = true
			for up := filepath.Dir(name); changed[up]; up = filepath.Dir(up) {
				wanted[up] = true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s did not change %s", o.target.Turn, asked)
		}
	}
	return func(path string) bool { return wanted[path] }, nil
}
