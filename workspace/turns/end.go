package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// errOver says that a turn was ended before.
var errOver = errors.New("the turn is over")

// End writes the receipt, and the turn runs no more, also after an error: then the receipt is written later, as after a crash.
// Without a Compare it makes one itself, which knows of no declared path, and takes documents to be as they were.
func (r *Running) End(ctx context.Context, end receipt.End, tokens *receipt.Tokens, verdicts []receipt.Verdict) (*receipt.Receipt, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("ending turn %s: %w", r.begun.Turn, err)
	}
	defer leave()
	r.mu.Lock()
	over, compared := r.over, r.trace != nil
	r.mu.Unlock()
	if over {
		return nil, fmt.Errorf("ending turn %s: %w", r.begun.Turn, errOver)
	}
	if !compared {
		docs, err := r.asBefore(ctx)
		if err == nil {
			_, err = r.compare(ctx, Declared{}, docs)
		}
		if err != nil {
			r.store.warn("a turn was not compared", err, "turn", r.begun.Turn)
			r.Alarm("what the turn changed could not be found: " + clause(err))
		}
	}
	r.mu.Lock()
	r.over = true
	out := r.receipt(&ended{Time: r.store.config.Now(), End: end, Tokens: tokens, Verifier: verdicts})
	r.mu.Unlock()
	close(r.stop)
	r.beats.Wait()
	if r.journal == nil {
		return out, r.store.receipts.Append(ctx, out)
	}
	_ = r.journal.write(&line{Ended: &ended{Time: out.Ended, End: end, Tokens: tokens, Verifier: verdicts}})
	if err := r.store.receipts.Append(ctx, out); err != nil {
		r.journal.leave()
		return out, fmt.Errorf("ending turn %s: %w", r.begun.Turn, err)
	}
	r.journal.remove()
	return out, nil
}

// asBefore are the documents as they were at the beginning.
func (r *Running) asBefore(ctx context.Context) ([]Buffer, error) {
	r.mu.Lock()
	before := r.before
	r.mu.Unlock()
	if before == nil || len(before.Texts) == 0 {
		return nil, nil
	}
	held, err := r.store.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	var out []Buffer
	for path, h := range before.Texts {
		data, err := readAll(ctx, held, h)
		if err != nil {
			return nil, err
		}
		out = append(out, Buffer{Path: path, Text: string(data)})
	}
	return out, nil
}

// receipt is the turn's receipt. mu is held.
func (r *Running) receipt(e *ended) *receipt.Receipt {
	m := making{begun: &r.begun, covered: &r.covered, account: &r.account, trace: r.trace, changes: r.changes}
	if r.before != nil {
		m.skipped = r.before.Skipped
	}
	return m.receipt(e)
}

// making is a receipt in the making.
type making struct {
	begun   *begun
	covered *covered
	account *account
	trace   *trace // nil without a checkpoint after
	changes []receipt.Change
	skipped []checkpoint.Skipped
}

func (m *making) receipt(e *ended) *receipt.Receipt {
	p := m.begun.project()
	out := &receipt.Receipt{
		Head:  m.begun.Head,
		Where: receipt.Where{Folder: p.folder, Roots: slices.Clone(p.roots[1:])},
		When:  receipt.When{Started: m.begun.Started, Ended: e.Time},
		Held:  m.begun.Held,
		Did:   m.account.did,
	}
	out.Held.Changes = append(slices.Clone(out.Held.Changes), m.account.postures...)
	out.Cover = receipt.Cover{Before: m.covered.Before, None: m.covered.None, Files: int(m.covered.Files)}
	if m.trace != nil && len(m.trace.Pairs) > 0 {
		out.Cover.After = m.trace.Pairs[0].After
	}
	for _, s := range m.skipped {
		out.Cover.Skipped.Add(receipt.Skipped{Root: s.Root, Path: s.Path, Reason: s.Reason.String()}, maxNoted)
	}
	out.Did.Changes = receipt.ListOf(m.changes)
	out.Outcome = receipt.Outcome{Taint: m.account.taint, Verifier: e.Verifier, Tokens: e.Tokens, End: e.End}
	return out
}

// shortly bounds what is written when a turn's own context may be over.
const shortly = 10 * time.Second
