package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sallyport/workspace"
)

// watch judges by the mirror what became of an edit. Editors' answers lie:
// Neovim says "applied" for an edit that it dropped because the buffer was
// newer. What counts is a state of the document, seen since just before the
// edit was sent, that contains the change.
type watch struct {
	docs *workspace.Documents
	base workspace.Document // what the edit was made for
	want string             // base with the edit
	// result is the hash that the plugin says the document has now, when it
	// knows: a formatter may have run on save.
	result string
	// retry: the editor checks versions, so an edit that is not there was
	// dropped and can be made again.
	retry bool

	expect *workspace.Expectation
	*seen
}

// seen are the states that the mirror went through.
type seen struct {
	mu     sync.Mutex
	states []workspace.Document
	wake   chan struct{} // one slot
}

// maxSeen bounds the states that wait to be looked at.
const maxSeen = 64

// watch begins to look at a document.
func (m *mirror) watch(key string, now workspace.Document, want string) *watch {
	w := &watch{docs: m.docs, base: now, want: want, seen: &seen{wake: make(chan struct{}, 1)}}
	w.expect = m.docs.Expect(key, w.note)
	return w
}

func (w *watch) stop() { w.expect.Stop() }

// note is called by the mirror for each state; it never waits.
func (s *seen) note(d workspace.Document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == maxSeen {
		s.states = s.states[1:]
	}
	s.states = append(s.states, d)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return false // go on
}

// take returns the states that came since the last call.
func (s *seen) take() []workspace.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := s.states
	s.states = nil
	return states
}

// holds reports whether a state contains the change: it is what the plugin
// says it is, or the expected text, or that with what was typed beside it.
func (w *watch) holds(d workspace.Document) bool {
	switch {
	case d.Text == w.want:
		return true
	case d.Hash == w.base.Hash:
		return false
	case w.result != "" && d.Hash == w.result:
		return true
	case w.want == w.base.Text: // only saved
		return true
	}
	return workspace.Landed(w.base.Text, d.Text, w.want)
}

// shown waits, after the editor said "applied", for a state that contains the
// change, and returns the document as it is then. Where the plugin said what
// the text is now, with what a formatter made of it, that is waited for too.
func (w *watch) shown(ctx context.Context, settle time.Duration) (workspace.Document, error) {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	closed := make(chan error, 1)
	wg.Go(func() {
		if _, err := w.expect.Wait(ctx); errors.Is(err, workspace.ErrClosed) {
			closed <- err
		}
	})
	landed, moved := false, false
	for first := true; ; first = false {
		for _, d := range w.take() {
			switch {
			case w.holds(d):
				landed = true
				if w.result == "" || d.Hash == w.result {
					return w.now(d), nil
				}
			case d.Version == w.base.Version: // the state that we began with, or a save
			case !first && !landed:
				// The first change after the answer shows the whole buffer: what is not
				// in it was dropped.
				return d, w.dropped()
			default:
				moved = true
			}
		}
		select {
		case <-w.wake:
		case err := <-closed:
			return w.base, err
		case <-ctx.Done():
			switch {
			case landed: // and more was typed since
				return w.now(w.base), nil
			case moved:
				return w.base, w.dropped()
			default:
				return w.base, errUnclear
			}
		}
	}
}

// now is the document as it is at present, d when it cannot be had.
func (w *watch) now(d workspace.Document) workspace.Document {
	key := d.Path
	if key == "" {
		key = d.URI
	}
	if doc, ok := w.docs.Get(key); ok {
		return doc
	}
	return d
}

func (w *watch) dropped() error {
	if w.retry {
		return because(workspace.ErrStale, "the editor dropped the edit")
	}
	return errUnclear
}

// newsWait is how long the text that an editor holds against an edit may be on
// its way.
const newsWait = 500 * time.Millisecond

// news waits a moment for a newer state: an editor that refuses an edit for its
// version has a text that we do not have yet.
func (w *watch) news(ctx context.Context) {
	timer := time.NewTimer(newsWait)
	defer timer.Stop()
	newer := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.states, func(d workspace.Document) bool { return d.Version != w.base.Version })
	}
	for !newer() {
		select {
		case <-w.wake:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// afterError judges an edit that the editor did not say it applied. The mirror
// decides here too: it may have been applied before the answer went wrong.
func (w *watch) afterError(err error) (workspace.Applied, error) {
	moved := false
	for _, d := range w.take() {
		if d.Version != w.base.Version && w.holds(d) {
			return applied(w.now(d), false), nil
		}
		moved = moved || d.Version != w.base.Version
	}
	if moved {
		return workspace.Applied{}, fmt.Errorf("%w: %w", workspace.ErrStale, err)
	}
	return workspace.Applied{}, fmt.Errorf("%w: %w", workspace.ErrNotApplied, err)
}
