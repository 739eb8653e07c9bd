package turns

import (
	"context"
	"fmt"
	"slices"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Declared is what the agent said that it changed.
type Declared struct {
	Paths []string // of its diffs; absolute, or relative to the session's folder
	// Placeholders are those that stand at the end; see Start.
	Placeholders []string
}

// Compare takes the checkpoint after the turn and attributes what changed, by root and path. Call it when the agent is done, with
// all documents that are dirty then. Called again, it does all anew. Without a checkpoint before the turn it finds nothing.
func (r *Running) Compare(ctx context.Context, d Declared, docs []Buffer) ([]receipt.Change, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	defer leave()
	return r.compare(ctx, d, docs)
}

// compare is Compare in the slot.
func (r *Running) compare(ctx context.Context, d Declared, docs []Buffer) ([]receipt.Change, error) {
	r.mu.Lock()
	before, over, none := r.before, r.over, r.covered.None
	r.mu.Unlock()
	if over || before == nil || none != "" {
		return nil, nil
	}
	unpin, err := r.store.pinned(ctx)
	if err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	defer unpin()
	after, gone, err := r.take(ctx, before, docs)
	if err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	held, err := r.store.checkpoints(ctx)
	if err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	for _, root := range gone {
		r.Alarm(aboutGone(root))
	}
	declared := declaredPaths(r.project, d)
	r.mu.Lock()
	account := r.account.copy() // the disk is read meanwhile
	r.mu.Unlock()
	c := &comparison{
		project: r.project, before: before, after: after, placeholders: slices.Concat(r.begun.Placeholders, bytesOf(d.Placeholders)),
		evidence: evidence{account: &account, declared: declared, shared: shared(r.journal.base, &r.begun), held: held},
	}
	t, changes, err := c.run(ctx, r.begun.Turn)
	if err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	if err := r.store.saveTrace(t); err != nil {
		return nil, fmt.Errorf("comparing turn %s: %w", r.begun.Turn, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace, r.changes = t, changes
	return changes, nil
}

// comparison finds what a turn changed.
type comparison struct {
	evidence
	project       project
	before, after *checkpoint.Checkpoint
	placeholders  [][]byte
}

func (c *comparison) run(ctx context.Context, turn string) (*trace, []receipt.Change, error) {
	list, err := c.held.Compare(ctx, c.before, c.after)
	if err != nil {
		return nil, nil, err
	}
	list = withoutPlaceholders(list, c.placeholders)
	t := &trace{Turn: turn, Kind: receipt.Turn, Roots: c.project.bytes()}
	t.Pairs = []pair{{c.before.ID, c.after.ID}}
	by := c.attribute(ctx, list)
	var out []receipt.Change
	agents := map[string]*checkpoint.Change{} // by absolute path
	for i := range list {
		l := &list[i]
		if l.Before.Kind == checkpoint.LeftOut {
			l.Kind = checkpoint.Unknown // it cannot be taken back
		}
		t.Changes = append(t.Changes, change{Root: []byte(l.Root), Path: []byte(l.Path), Kind: l.Kind, By: by[i]})
		out = append(out, receipt.Change{
			Root: l.Root, Path: l.Path, Kind: string(l.Kind), By: by[i], Before: stateOf(l.Before), After: stateOf(l.After),
		})
		if mine(by[i]) {
			agents[absolute(l.Root, l.Path)] = l
		}
	}
	more, err := c.documents(ctx, t, agents)
	return t, append(out, more...), err
}

// stateOf is a state for a receipt.
func stateOf(s checkpoint.State) receipt.State {
	out := receipt.State{Kind: s.Kind.String()}
	switch s.Kind {
	case checkpoint.File:
		out.Hash = s.Hash.String()
		out.Mode = fmt.Sprintf("%04o", s.Mode)
	case checkpoint.Folder:
		out.Mode = fmt.Sprintf("%04o", s.Mode)
	case checkpoint.Link:
		out.Hash = s.Hash.String()
	default:
	}
	return out
}
