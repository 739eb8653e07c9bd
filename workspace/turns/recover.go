package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// endDead ends the records of processes that are gone, on some folders (nil: on any), and waits for others that do. What goes wrong
// is logged, and tried again the next time.
func (s *Store) endDead(ctx context.Context, roots []string) {
	tried := map[string]bool{}
	for ctx.Err() == nil {
		dead, others, err := s.claim(ctx, roots, tried)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				s.warn("looking for interrupted turns", err)
			}
			return
		}
		for _, d := range dead {
			tried[d.base] = true
			s.warn("ending an interrupted turn", s.endOne(ctx, d.base), "journal", d.base)
			d.unlock()
		}
		if !others {
			return
		}
		if wait(ctx) != nil {
			return
		}
	}
}

// claimed is a journal of a dead process that is ours to end.
type claimed struct {
	base   string
	unlock func()
}

// claim takes the locks of all journals whose process is gone, but of those that were tried. others says that somebody else ends
// some.
func (s *Store) claim(ctx context.Context, roots []string, tried map[string]bool) (dead []claimed, others bool, err error) {
	if bases, err := s.journals(); err != nil || len(bases) == 0 {
		return nil, false, err
	}
	unlock, err := s.alone(ctx)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	bases, err := s.journals()
	if err != nil {
		return nil, false, err
	}
	for _, base := range bases {
		b, err := readBegun(base)
		whole := err == nil
		if tried[base] || whole && roots != nil && !overlaps(roots, b.project().roots) {
			continue
		}
		own, err := tryLock(base)
		if err != nil {
			_, err := os.Lstat(base + endingName)
			others = others || err == nil
			continue
		}
		if err := os.WriteFile(base+endingName, nil, 0o600); err != nil {
			own()
			return dead, false, fmt.Errorf("marking %s: %w", base, err)
		}
		dead = append(dead, claimed{base, own})
	}
	return dead, others, nil
}

// endOne ends one record as far as it got. The caller has its lock. After an error its journal is still there.
func (s *Store) endOne(ctx context.Context, base string) error {
	r, err := readJournal(base)
	if errors.Is(err, errNoBegin) {
		removeJournal(base, s.config.Step) // nothing was done
		return nil
	}
	if err != nil {
		return err
	}
	folder := r.project().folder
	_, err = s.receipts.Find(folder, r.Turn)
	if damaged := (*receipt.Damaged)(nil); err == nil || errors.As(err, &damaged) {
		removeJournal(base, s.config.Step) // all was done but this
		return nil
	}
	if !errors.Is(err, receipt.ErrNotFound) {
		return err
	}
	unpin, err := s.pinned(ctx)
	if err != nil {
		return err
	}
	defer unpin()
	var out *receipt.Receipt
	if r.Kind == receipt.Turn {
		out, err = s.endTurn(ctx, r)
	} else {
		out, err = s.endUndo(ctx, r)
	}
	if err == nil && out != nil {
		err = s.receipts.Append(ctx, out)
	}
	if err != nil {
		return err
	}
	removeJournal(base, s.config.Step)
	return nil
}

// endTurn makes the receipt of a turn whose process died. Where it had not compared yet, what is there now is compared: what
// changed up to its death is the agent's, and what changed later may be anybody's.
func (s *Store) endTurn(ctx context.Context, r *recorded) (*receipt.Receipt, error) {
	e := r.ended
	if e == nil {
		e = &ended{Time: r.alive, End: receipt.End{Interrupted: true, Error: "Sallyport ended before the turn did"}}
	}
	m := making{begun: &r.begun, covered: &r.covered, account: &r.account}
	if r.Before == "" {
		if m.covered.None == "" {
			m.covered.None = "Sallyport ended before the checkpoint was taken"
		}
		return m.receipt(e), nil
	}
	held, list, err := s.load(ctx, r.Before)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		m.covered.None = "the checkpoint before the turn is gone"
		return m.receipt(e), nil
	}
	if m.skipped, err = held.LeftOut(ctx, list[0]); err != nil {
		return nil, err
	}
	t, err := s.trace(r.project().folder, r.Turn)
	if err == nil {
		m.trace = t
		m.changes, err = receiptChanges(ctx, held, t, r.project())
		if errors.Is(err, fs.ErrNotExist) {
			e.End.Error, err = "what it changed is no longer known: its checkpoints are gone", nil
		}
		return m.receipt(e), err
	}
	t, m.changes, err = s.compareNow(ctx, held, list[0], r)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		e.End.Error = "what it changed could not be found: " + clause(err)
		return m.receipt(e), nil
	}
	m.trace = t
	return m.receipt(e), s.saveTrace(t)
}

// compareNow compares with what is there now.
func (s *Store) compareNow(ctx context.Context, held *checkpoint.Store, before *checkpoint.Checkpoint, r *recorded) (*trace, []receipt.Change, error) {
	o := r.Limits.options()
	o.Base = before
	after, gone, err := takeAgain(ctx, held, o)
	if err != nil {
		return nil, nil, err
	}
	for _, root := range gone {
		r.account.did.Alarms.Add(receipt.Alarm{Text: aboutGone(root), Time: s.config.Now()}, maxNoted)
	}
	c := &comparison{
		project: r.project(), before: before, after: after, placeholders: r.Placeholders,
		evidence: evidence{account: &r.account, shared: shared(r.base, &r.begun), alive: r.alive, held: held},
	}
	c.before.Texts = nil // what documents have now is not known
	return c.run(ctx, r.Turn)
}

// receiptChanges makes the changes of a receipt from a trace.
func receiptChanges(ctx context.Context, held *checkpoint.Store, t *trace, p project) ([]receipt.Change, error) {
	states, err := statesOf(ctx, held, t)
	if err != nil {
		return nil, err
	}
	var out []receipt.Change
	for _, c := range t.Changes {
		s := states[c.key()]
		out = append(out, receipt.Change{
			Root: string(c.Root), Path: string(c.Path), Kind: string(c.Kind), By: c.By, Before: stateOf(s[0]), After: stateOf(s[1]),
		})
	}
	for _, b := range t.Buffers {
		root, rel, _ := p.place(string(b.Path))
		out = append(out, receipt.Change{
			Root: root, Path: rel, Kind: receipt.Modified, By: b.By, Buffer: true,
			Before: receipt.State{Kind: checkpoint.File.String(), Hash: b.Before.Text.String()},
			After:  receipt.State{Kind: checkpoint.File.String(), Hash: b.After.Text.String()},
		})
	}
	return out, nil
}

// statesOf are the states before and after of all changes of a trace. An id that is gone is fs.ErrNotExist.
func statesOf(ctx context.Context, held *checkpoint.Store, t *trace) (map[string][2]checkpoint.State, error) {
	out := map[string][2]checkpoint.State{}
	for i, p := range t.Pairs {
		before, err := held.Load(p.Before)
		if err != nil {
			return nil, err
		}
		after, err := held.Load(p.After)
		if err != nil {
			return nil, err
		}
		in := map[string]bool{}
		for _, c := range t.Changes {
			if c.Pair == i {
				in[c.key()] = true
			}
		}
		list, err := held.Compare(ctx, before, after)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if k := key(c.Root, c.Path); in[k] {
				out[k] = [2]checkpoint.State{c.Before, c.After}
			}
		}
	}
	return out, nil
}

func readAll(ctx context.Context, held *checkpoint.Store, h checkpoint.Hash) ([]byte, error) {
	body, err := held.Content(ctx, h)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
