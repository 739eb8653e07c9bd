package turns

import (
	"context"
	"slices"
	"sync"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Running is a turn that runs. Its methods may be called from any goroutine, those that note something also after End, when they
// do nothing.
type Running struct {
	store   *Store
	project project
	options checkpoint.Options
	lifeline
	state
}

// lifeline is what shows that the turn's process lives.
type lifeline struct {
	journal *journal // nil when it could not be made
	beats   sync.WaitGroup
	stop    chan struct{} // closed by End
}

// state is what is known of the turn.
type state struct {
	comparing chan struct{} // one slot: BeforeWrite, Compare and End are in it one at a time

	mu      sync.Mutex
	begun   begun
	covered covered
	before  *checkpoint.Checkpoint // nil without one
	account account
	compared
	over bool
}

// compared is what the last Compare found.
type compared struct {
	trace   *trace // nil before it
	changes []receipt.Change
}

// Uncovered says in one clause why the turn cannot be taken back; "" when it can.
func (r *Running) Uncovered() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.covered.None
}

// LeftOut lists what the checkpoint before the turn does not hold.
func (r *Running) LeftOut() []checkpoint.Skipped {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before == nil {
		return nil
	}
	return slices.Clone(r.before.Skipped)
}

// Permission notes a question and its answer.
func (r *Running) Permission(p receipt.Permission) {
	p.Time = or(p.Time, r.store.config.Now())
	r.note(note{Permission: &p})
}

// Access notes a read or write through us, when it is over.
func (r *Running) Access(a receipt.Access) {
	a.Time = or(a.Time, r.store.config.Now())
	r.note(note{Access: &a})
}

// Refusal notes a refusal of a fence.
func (r *Running) Refusal(f receipt.Refusal) {
	f.Time = or(f.Time, r.store.config.Now())
	r.note(note{Refusal: &f})
}

// Taint notes untrusted content.
func (r *Running) Taint(t receipt.Taint) {
	t.Time = or(t.Time, r.store.config.Now())
	r.note(note{Taint: &t})
}

// Alarm notes what a person should look at.
func (r *Running) Alarm(text string) {
	r.note(note{Alarm: &receipt.Alarm{Text: text, Time: r.store.config.Now()}})
}

// Posture notes that another posture holds from now on.
func (r *Running) Posture(p receipt.Posture) {
	r.note(note{Posture: &receipt.PostureChange{Posture: p, Time: r.store.config.Now()}})
}

// Saved notes that this text (hash as of text.Hash) was saved from the editor. Saves that an agent's write asked for may be noted
// too, once the write is: they have the hash that it left, and do not count as the user's.
func (r *Running) Saved(path, hash string) {
	r.note(note{Saved: &saved{Path: path, Hash: bare(hash)}})
}

// Found notes that the file of an open document was found with a text (hash as of text.Hash) that the editor had not saved: somebody
// wrote it past us, and the editor may have taken it on. A save of that text is not the user's, and one after it may hold both.
func (r *Running) Found(path, hash string) {
	r.note(note{Found: &saved{Path: path, Hash: bare(hash)}})
}

func (r *Running) note(n note) {
	path := n.subject()
	r.mu.Lock()
	over := r.over
	if !over {
		r.account.add(n, path)
	}
	r.mu.Unlock()
	if over || r.journal == nil {
		return
	}
	if err := r.journal.write(&line{note: n}); err != nil {
		r.store.warn("a turn's journal was not written", err, "turn", r.begun.Turn)
	}
}

// enter takes the slot.
func (r *Running) enter(ctx context.Context) (leave func(), err error) {
	select {
	case r.comparing <- struct{}{}:
		return func() { <-r.comparing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// BeforeWrite takes up a path that the checkpoint's limits left out, before it is written through us. Whatever its error, the
// write may go on.
func (r *Running) BeforeWrite(ctx context.Context, path string) error {
	path = settle(path)
	r.mu.Lock()
	out := r.covered.None == "" && !r.over && r.before != nil && leftOut(r.before, path)
	r.mu.Unlock()
	if !out {
		return nil
	}
	leave, err := r.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	held, err := r.store.checkpoints(ctx)
	if err != nil {
		return err
	}
	unpin, err := r.store.pinned(ctx)
	if err != nil {
		return err
	}
	defer unpin()
	c, err := held.Add(ctx, r.before, path) // only written in the slot
	if err != nil || c == r.before {
		return err
	}
	r.mu.Lock()
	r.before = c
	r.covered.Before = c.ID
	now := r.covered
	r.mu.Unlock()
	return r.journal.write(&line{Covered: &now})
}

// leftOut says whether a path is, or lies in, what a checkpoint has left out and could take up.
func leftOut(c *checkpoint.Checkpoint, path string) bool {
	for _, s := range c.Skipped {
		if s.Reason != checkpoint.TimeLimit && s.Reason != checkpoint.OverBudget && s.Reason != checkpoint.Ignored {
			continue
		}
		if _, in := beneath(path, absolute(s.Root, s.Path)); in {
			return true
		}
	}
	return false
}
