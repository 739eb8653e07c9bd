package checkpoint

import (
	"context"
	"fmt"
)

// RestoreOptions say what is taken back. The zero value takes back everything that can be without losing anything.
type RestoreOptions struct {
	// Only, if not nil, says which paths are looked at.
	Only func(root, path string) bool
	// Force takes back also what changed since. What it overwrites is kept, see Result.Kept.
	Force bool
}

// Plan is what a restore does. It is made by Store.Plan, and can be shown without being carried out.
type Plan struct {
	Steps     []Step
	Conflicts []Conflict
	Already   []Change // paths that are as they were before
}

// Step brings one path from Change.After back to Change.Before.
type Step struct {
	Change
	Now  State // what stands there: Change.After, unless Keep
	Keep bool  // something else than Change.After stands there, which is stored before it is overwritten
	// Lost is what the path does not have any more although it was done: clauses for people, such as "the owner". Filled by Restore.
	Lost []string

	seen seen
}

const (
	lostOwner      = "the owner"
	lostAttributes = "extended attributes"
	lostLinks      = "hard links: other names keep what the turn wrote"
	lostSpecial    = "setuid and setgid, as the owner is another"
	lostInside     = "what is in the folder: nobody could read it"
)

// Conflict is a path that is left alone.
type Conflict struct {
	Change
	Now State
	Why string // one clause for people
	// Forceable says that RestoreOptions.Force takes it back.
	Forceable bool
}

// Plan compares two checkpoints, that before a turn and that after it, and what is there now, and says what takes the turn back.
// With the two exchanged it says what does the turn again. It changes nothing.
func (s *Store) Plan(ctx context.Context, before, after *Checkpoint, o RestoreOptions) (*Plan, error) {
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	changes, err := s.compare(ctx, before, after)
	if err != nil {
		return nil, err
	}
	at := &places{}
	defer at.close()
	p := &Plan{}
	for _, c := range changes {
		if o.Only != nil && !o.Only(c.Root, c.Path) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.plan(p, at, c, o.Force); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (s *Store) plan(p *Plan, at *places, c Change, force bool) error {
	now, err := at.now(c.Root, c.Path)
	if err != nil {
		p.Conflicts = append(p.Conflicts, Conflict{Change: c, Why: fmt.Sprintf("cannot be read: %v", err)})
		return nil
	}
	now.leaveOut(c.After)
	conflict := func(why string, forceable bool) {
		p.Conflicts = append(p.Conflicts, Conflict{c, now.State, why, forceable})
	}
	if c.Before.Kind == File || c.Before.Kind == Link {
		if _, err := s.objects.Size(c.Before.Hash); err != nil {
			return fmt.Errorf("planning to restore %s: %w", c.Path, err)
		}
	}
	step := Step{Change: c, Now: now.State, seen: now}
	switch {
	case now.Kind == Folder && now.Mode != c.Before.Mode && c.opensOrCloses(now.Mode):
		step.Before = State{Kind: Folder, Mode: c.Before.Mode}
		step.Lost = []string{lostInside}
		p.Steps = append(p.Steps, step)
		return nil
	case c.Kind == Unknown && c.Before.Kind == Folder:
		conflict("was left out after the turn: "+c.After.Reason.String(), false)
		return nil
	case now.State == c.Before && c.Before.Kind != LeftOut:
		p.Already = append(p.Already, c)
		return nil
	case c.Before.Kind == LeftOut:
		conflict("was left out before the turn: "+c.Before.Reason.String(), false)
		return nil
	case now.Kind == LeftOut && (now.Reason == Special || now.Reason == Changing):
		conflict("is a "+now.Reason.String()+" file", false)
		return nil
	case now.State == c.After && c.After.Kind != LeftOut, c.Kind == Type && now.Kind == Absent: // a restore that a crash ended
		p.Steps = append(p.Steps, step)
		return nil
	case now.Kind == Folder && c.Before.Kind != Folder:
		conflict("is a folder now", false)
		return nil
	case !force && now.State == c.After:
		conflict("what the turn made of it is not stored: "+c.After.Reason.String(), true)
		return nil
	case !force:
		conflict("changed since", true)
		return nil
	}
	step.Keep = true
	p.Steps = append(p.Steps, step)
	return nil
}

// opensOrCloses says whether the turn let a folder be listed, or forbade it, and nothing changed the mode since: then at least the
// mode can be taken back.
func (c *Change) opensOrCloses(now uint32) bool {
	folders := (c.Before.closed() || c.Before.Kind == Folder) && (c.After.closed() || c.After.Kind == Folder)
	return folders && (c.Before.closed() || c.After.closed()) && now == c.After.Mode
}

// leaveOut makes a file that is left out, and still the same, equal to its state in the checkpoint.
func (s *seen) leaveOut(was State) {
	if was.Kind == LeftOut && s.Kind == File && infoKey(s.info).digest() == was.Hash {
		s.State = was
	}
}
