package workspace

import (
	"context"
	"fmt"
	"slices"
)

// Expectation waits for a state of a document. It sees every state that the editor
// announces, also one that is gone by the time somebody waits.
type Expectation struct {
	documents *Documents
	path      string
	state     func(Document) bool
	came      chan Document // one slot; closed when the state can no longer come
}

// Expect begins to wait for a state of a document: the present one counts. Make it before
// asking the editor for the change, call Wait after, and Stop always. state is called with
// the lock held: it must be quick and call nothing of Documents. Dirty is judged without
// the disk there.
func (d *Documents) Expect(path string, state func(Document) bool) *Expectation {
	x := &Expectation{documents: d, path: path, state: state, came: make(chan Document, 1)}
	e := d.find(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	if e == nil || d.open[e.key()] != e {
		close(x.came)
		return x
	}
	e.expected = append(e.expected, x)
	e.changed()
	return x
}

// Wait gives the document in the expected state, ErrClosed when it was closed before, or
// the context's error.
func (x *Expectation) Wait(ctx context.Context) (Document, error) {
	select {
	case doc, ok := <-x.came:
		if !ok {
			return Document{}, fmt.Errorf("waiting for %s: %w", x.path, ErrClosed)
		}
		return doc, nil
	case <-ctx.Done():
		return Document{}, fmt.Errorf("waiting for %s: %w", x.path, ctx.Err())
	}
}

// Stop ends an expectation that nobody waits for any more. It may be called twice.
func (x *Expectation) Stop() {
	d := x.documents
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.open {
		e.expected = slices.DeleteFunc(e.expected, func(other *Expectation) bool { return other == x })
	}
}

// Wait waits until the document of path is in a state. See Expect.
func (d *Documents) Wait(ctx context.Context, path string, state func(Document) bool) (Document, error) {
	x := d.Expect(path, state)
	defer x.Stop()
	return x.Wait(ctx)
}

// changed tells those who wait. Documents.mu is held.
func (e *entry) changed() {
	if len(e.expected) == 0 {
		return
	}
	doc := e.document()
	e.expected = slices.DeleteFunc(e.expected, func(x *Expectation) bool {
		if !x.state(doc) {
			return false
		}
		x.came <- doc
		return true
	})
}

// key is what the entry is kept under.
func (e *entry) key() string {
	if e.path != "" {
		return e.path
	}
	return e.uri
}
