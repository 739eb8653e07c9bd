package turns

import (
	"context"
	"slices"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// endUndo makes the receipt of an undo whose process died: what it had planned and what is there now say what it did. No receipt
// means that it did nothing.
func (s *Store) endUndo(ctx context.Context, r *recorded) (*receipt.Receipt, error) {
	if r.undoing == nil || !r.undoing.whole() || len(r.undoing.Pairs)%2 != 0 {
		return nil, nil
	}
	held, err := s.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.trace(r.project().folder, r.Turn)
	if err != nil {
		t = r.undoing
		done, err := s.findDone(ctx, held, r)
		if err != nil {
			return nil, err
		}
		t.settle(done)
		t.Buffers = nil // what the editor has is not known
		t.Rest = true   // maybe
		if len(t.Changes) == 0 {
			return nil, nil
		}
		if err := s.saveTrace(t); err != nil {
			return nil, err
		}
	}
	out, err := s.undoReceipt(ctx, held, &r.begun, t)
	if err != nil {
		return nil, err
	}
	out.Ended = r.alive
	out.End = receipt.End{Interrupted: true, Error: "Sallyport ended before it was done"}
	return out, nil
}

// findDone finds which paths of a planned undo are as it wanted them.
func (s *Store) findDone(ctx context.Context, held *checkpoint.Store, r *recorded) (*outcome, error) {
	t := r.undoing
	out := &outcome{disk: map[string]bool{}, kept: make([]string, len(t.Pairs)/2)}
	for i, p := range t.Pairs[:len(out.kept)] {
		in := map[string]bool{}
		for _, c := range t.Changes {
			if c.Pair%len(out.kept) == i {
				in[c.key()] = true
			}
		}
		before, err := held.Load(p.Before)
		if err != nil {
			return nil, err
		}
		after, err := held.Load(p.After)
		if err != nil {
			return nil, err
		}
		plan, err := held.Plan(ctx, after, before, checkpoint.RestoreOptions{Only: func(root, path string) bool { return in[key(root, path)] }})
		if err != nil {
			return nil, err
		}
		for _, c := range plan.Already {
			out.disk[key(c.Root, c.Path)] = true
		}
	}
	return out, s.findKept(held, r, out)
}

// findKept finds the checkpoints of what was overwritten by force: of one process and not there before. Of several that fit, the
// first is of the first pair, as they were made.
func (s *Store) findKept(held *checkpoint.Store, r *recorded, out *outcome) error {
	t := r.undoing
	var wanted []int
	for i := range out.kept {
		if slices.ContainsFunc(t.Changes, func(c change) bool { return c.Pair == len(out.kept)+i }) {
			wanted = append(wanted, i)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	ids, err := held.List()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if len(wanted) == 0 || slices.Contains(r.had, id) {
			continue
		}
		c, err := held.Load(id)
		if err != nil || !c.Partial || !overlaps(r.project().roots, rootsOf(c)) {
			continue
		}
		out.kept[wanted[0]] = id
		wanted = wanted[1:]
	}
	for _, i := range wanted { // nothing was overwritten yet
		for _, c := range t.Changes {
			if c.Pair == len(out.kept)+i {
				delete(out.disk, c.key())
			}
		}
	}
	return nil
}

func rootsOf(c *checkpoint.Checkpoint) []string {
	var out []string
	for _, r := range c.Roots {
		out = append(out, r.Path)
	}
	return out
}
