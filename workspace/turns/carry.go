package turns

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"sallyport/workspace"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

func sumOf(s string) checkpoint.Hash { return sha256.Sum256([]byte(s)) }

// run plans and carries out an undo, and puts it on the record. Its journal is over afterwards.
func (o *undoing) run(ctx context.Context) error {
	if err := o.plan(ctx); err != nil {
		o.journal.remove()
		return err
	}
	if !o.any() && (len(o.result.Already) == 0 || o.rest()) {
		o.journal.remove()
		return nil
	}
	next, err := o.announce(ctx)
	if err != nil {
		o.journal.remove()
		return err
	}
	o.result.Turn = o.begun.Turn
	done, err := o.carryOut(ctx)
	record, stop := context.WithTimeout(context.WithoutCancel(ctx), shortly) // what was done is on the record whatever happened
	defer stop()
	return errors.Join(err, o.record(record, next, done, err))
}

func (o *undoing) any() bool {
	for _, p := range o.disk {
		if len(p.Steps) > 0 {
			return true
		}
	}
	return len(o.texts) > 0
}

// announce stores the texts that are going to be overwritten, and writes into the journal what is about to be done.
func (o *undoing) announce(ctx context.Context) (*trace, error) {
	t := &trace{Turn: o.begun.Turn, Kind: o.begun.Kind, Takes: o.begun.Takes, Roots: o.begun.Roots}
	if len(o.keep) > 0 {
		options := o.store.config.Checkpoint
		options.Texts = texts(o.project, o.keep)
		c, err := o.held.Take(ctx, o.project.roots, options)
		if err != nil {
			return nil, err
		}
		t.Texts = append(t.Texts, c.ID)
		for i := range o.texts {
			if s := &o.texts[i]; s.kept {
				s.After = version{Text: sumOf(s.doc.Text), Clean: !s.doc.Dirty}
			}
		}
	}
	if len(o.target.Buffers) > 0 || len(o.texts) > 0 {
		t.Texts = append(t.Texts, o.target.needs()...) // they hold the texts
	}
	force := false
	for _, p := range o.target.Pairs {
		t.Pairs = append(t.Pairs, pair{p.After, p.Before})
	}
	for _, p := range o.target.Pairs { // what force overwrites, when it is stored
		t.Pairs = append(t.Pairs, pair{"", p.Before})
	}
	for i, p := range o.disk {
		for _, s := range p.Steps {
			t.addStep(&s, i, len(o.disk))
			force = force || s.Keep
		}
	}
	for _, s := range o.texts {
		t.Buffers = append(t.Buffers, buffer{Path: s.Path, By: receipt.ByMediated, Before: s.After, After: s.Before})
	}
	if force {
		had, err := o.held.List()
		if err != nil {
			return nil, err
		}
		if err := o.journal.write(&line{Had: had}); err != nil {
			return nil, err
		}
	}
	if err := o.journal.write(&line{Undoing: t}); err != nil {
		return nil, err
	}
	if !force {
		return t, nil // all that is overwritten is in the store, and that lasts
	}
	return t, o.journal.sync()
}

// addStep adds a step of the plan of one of the target's pairs. Those that overwrite something else than the target left are of a
// pair behind the others.
func (t *trace) addStep(s *checkpoint.Step, of, pairs int) {
	c := change{Root: []byte(s.Root), Path: []byte(s.Path), By: receipt.ByMediated, Pair: of}
	was := s.After
	if s.Keep {
		c.Pair, was = pairs+of, s.Now
	}
	switch {
	case s.Before.Kind == checkpoint.Absent:
		c.Kind = checkpoint.Deleted
	case was.Kind == checkpoint.Absent:
		c.Kind = checkpoint.Added
	case was.Kind != s.Before.Kind && was.Kind != checkpoint.LeftOut:
		c.Kind = checkpoint.Type
	case was.Hash == s.Before.Hash:
		c.Kind = checkpoint.Mode
	default:
		c.Kind = checkpoint.Modified
	}
	t.Changes = append(t.Changes, c)
}

// outcome is what an undo did.
type outcome struct {
	disk map[string]bool // key of each path that was restored
	kept []string        // by pair: the checkpoint of what was overwritten by force, or ""
}

// carryOut restores the files and then the documents. After an error it says what was done until then.
func (o *undoing) carryOut(ctx context.Context) (*outcome, error) {
	out := &outcome{disk: map[string]bool{}, kept: make([]string, len(o.disk))}
	by := map[string]*change{}
	for i := range o.target.Changes {
		by[o.target.Changes[i].key()] = &o.target.Changes[i]
	}
	for i, p := range o.disk {
		for _, root := range o.points[i][0].Roots {
			if err := makeRoot(root.Path, p); err != nil {
				return out, err
			}
		}
		r, err := o.held.Restore(ctx, p)
		for _, s := range r.Done {
			out.disk[key(s.Root, s.Path)] = true
			o.result.Done = append(o.result.Done, o.stateFor(s.Change, by))
		}
		for _, c := range r.Conflicts {
			s := o.stateFor(c.Change, by)
			s.Why, s.Forceable = c.Why, c.Forceable
			o.result.Conflicts = append(o.result.Conflicts, s)
		}
		if r.Kept != nil {
			out.kept[i] = r.Kept.ID
		}
		o.followAll(ctx, r.Done)
		if err != nil {
			return out, err
		}
	}
	for i := range o.texts {
		t := &o.texts[i]
		if err := ctx.Err(); err != nil {
			return out, err
		}
		s := o.stateOfText(&t.buffer)
		if err := o.apply(ctx, t); err != nil {
			s.Why = documentWhy(err)
			o.result.Conflicts = append(o.result.Conflicts, s)
			continue
		}
		o.result.Done = append(o.result.Done, s)
	}
	return out, nil
}

// makeRoot makes a folder that is gone, if anything is to be restored in it.
func makeRoot(root string, p *checkpoint.Plan) error {
	if !slices.ContainsFunc(p.Steps, func(s checkpoint.Step) bool { return s.Root == root && s.Before.Kind != checkpoint.Absent }) {
		return nil
	}
	return os.MkdirAll(root, 0o755)
}

func (o *undoing) followAll(ctx context.Context, done []checkpoint.Step) {
	for _, s := range done {
		name := absolute(s.Root, s.Path)
		if _, open := o.clean[name]; !open || s.Before.Kind != checkpoint.File {
			continue
		}
		if want, ok, err := readText(ctx, o.held, s.Before.Hash); err == nil && ok {
			o.follow(ctx, name, want)
		}
	}
}

func documentWhy(err error) string {
	switch {
	case errors.Is(err, workspace.ErrStale), errors.Is(err, workspace.ErrClosed):
		return "its document changed meanwhile"
	case errors.Is(err, workspace.ErrReadOnly):
		return "its document is read-only in the editor"
	default:
		return "the editor did not take it: " + err.Error()
	}
}

// record makes the trace and the receipt of what was done. Nothing done is no record, but where all was back already: that the
// target is taken back is on the record then.
func (o *undoing) record(ctx context.Context, t *trace, done *outcome, failed error) error {
	t.settle(done)
	var buffers []buffer
	for i, s := range o.texts {
		if s.done {
			buffers = append(buffers, t.Buffers[i])
		}
	}
	t.Buffers = buffers
	t.Rest = o.rest()
	if t.empty() && t.Rest {
		o.result.Turn = ""
		o.journal.remove()
		return nil
	}
	out, err := o.store.undoReceipt(ctx, o.held, &o.begun, t)
	if err == nil {
		err = o.store.saveTrace(t)
	}
	if err == nil {
		if failed != nil {
			out.End.Error = clause(failed)
		}
		err = o.store.receipts.Append(ctx, out)
	}
	if err != nil {
		o.journal.leave() // as after a crash
		return err
	}
	o.journal.remove()
	return nil
}

// rest says whether something of the target is left to take back.
func (o *undoing) rest() bool {
	back := map[string]bool{} // by what it is, and key
	for _, list := range [][]PathState{o.result.Done, o.result.Already} {
		for _, p := range list {
			back[fmt.Sprint(p.Buffer)+key(p.Root, p.Path)] = true
		}
	}
	for _, c := range o.target.Changes {
		if mine(c.By) && c.Kind != checkpoint.Unknown && !back["false"+c.key()] {
			return true
		}
	}
	for i := range o.target.Buffers {
		b := &o.target.Buffers[i]
		s := o.stateOfText(b)
		if mine(b.By) && !back["true"+key(s.Root, s.Path)] {
			return true
		}
	}
	return false
}

// settle leaves of what an undo planned what it did.
func (t *trace) settle(done *outcome) {
	for i, id := range done.kept {
		t.Pairs[len(done.kept)+i].Before = id
	}
	var changes []change
	for _, c := range t.Changes {
		if done.disk[c.key()] {
			changes = append(changes, c)
		}
	}
	t.Changes = changes
	t.drop()
}

// drop leaves out pairs that no change is of.
func (t *trace) drop() {
	used := map[int]int{}
	var pairs []pair
	for i := range t.Changes {
		c := &t.Changes[i]
		at, ok := used[c.Pair]
		if !ok {
			at = len(pairs)
			used[c.Pair] = at
			pairs = append(pairs, t.Pairs[c.Pair])
		}
		c.Pair = at
	}
	t.Pairs = pairs
}

// undoReceipt is the receipt of an undo.
func (s *Store) undoReceipt(ctx context.Context, held *checkpoint.Store, b *begun, t *trace) (*receipt.Receipt, error) {
	changes, err := receiptChanges(ctx, held, t, t.project())
	if err != nil {
		return nil, err
	}
	m := making{begun: b, covered: &covered{}, account: &account{}, trace: t, changes: changes}
	if len(t.Pairs) > 0 {
		m.covered.Before = t.Pairs[0].Before
	}
	return m.receipt(&ended{Time: s.config.Now()}), nil
}
