package turns

import (
	"context"
	"errors"
	"io/fs"
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
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // its checkpoints are gone: it is not known what it did
		}
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
	private := map[int][]string{} // by pair: keys of folders that were made and not yet given their modes
	var points [][2]*checkpoint.Checkpoint
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
		only := func(root, path string) bool { return in[key(root, path)] }
		plan, err := held.Plan(ctx, after, before, checkpoint.RestoreOptions{Only: only})
		if err != nil {
			return nil, err
		}
		for _, c := range plan.Already {
			out.disk[key(c.Root, c.Path)] = true
		}
		for _, c := range plan.Conflicts {
			if c.Before.Kind == checkpoint.Folder && c.Now.Kind == checkpoint.Folder && c.Now.Mode == 0o700 {
				k := key(c.Root, c.Path)
				private[i] = append(private[i], k)
				out.disk[k] = true
			}
		}
		points = append(points, [2]*checkpoint.Checkpoint{after, before})
	}
	if err := s.findKept(ctx, held, r, out); err != nil {
		return nil, err
	}
	return out, openFolders(ctx, held, points, private)
}

// openFolders gives the folders that a crash left private, as all are made at first, their modes.
func openFolders(ctx context.Context, held *checkpoint.Store, points [][2]*checkpoint.Checkpoint, private map[int][]string) error {
	for i, keys := range private {
		plan, err := held.Plan(ctx, points[i][0], points[i][1], checkpoint.RestoreOptions{
			Force: true,
			Only:  func(root, path string) bool { return slices.Contains(keys, key(root, path)) },
		})
		if err == nil {
			_, err = held.Restore(ctx, plan)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findKept finds the checkpoints of what was overwritten by force: they were not there before, and hold its paths.
func (s *Store) findKept(ctx context.Context, held *checkpoint.Store, r *recorded, out *outcome) error {
	t := r.undoing
	for i := range out.kept {
		var list []*change
		for j := range t.Changes {
			if t.Changes[j].Pair == len(out.kept)+i {
				list = append(list, &t.Changes[j])
			}
		}
		if len(list) == 0 {
			continue
		}
		id, has, err := newPartial(ctx, held, r.had, list)
		if err != nil {
			return err
		}
		out.kept[i] = id
		for _, c := range list {
			if !has[c.key()] {
				delete(out.disk, c.key()) // it was not overwritten
			}
		}
	}
	return nil
}

// newPartial is the first partial checkpoint that is not among had and holds some of the paths, and says which; or "".
func newPartial(ctx context.Context, held *checkpoint.Store, had []string, paths []*change) (string, map[string]bool, error) {
	ids, err := held.List()
	if err != nil {
		return "", nil, err
	}
	for _, id := range ids {
		if slices.Contains(had, id) {
			continue
		}
		c, err := held.Load(id)
		if err != nil || !c.Partial {
			continue
		}
		has := map[string]bool{}
		for _, p := range paths {
			state, err := held.StateOf(ctx, c, string(p.Root), string(p.Path))
			if err == nil && state.Kind != checkpoint.LeftOut {
				has[p.key()] = true
			}
		}
		if len(has) > 0 {
			return id, has, nil
		}
	}
	return "", nil, ctx.Err()
}
