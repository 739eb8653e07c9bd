package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sallyport/workspace/text"
)

// gap is how long a change waits for those with lower versions. It is shorter
// than a pause of the typing (quiet), so that no edit is made for half a text.
const gap = 100 * time.Millisecond

// maxEarly bounds the changes that wait.
const maxEarly = 256

// order gives the changes of a document to the mirror in the order of their
// versions. Helix (25.01) sends each from a task of its own, so that quick
// typing arrives in another order than it was typed. It counts versions by one,
// but for changes of which it tells nobody (previews of completions): what is
// missing after a while does not come any more. Other editors send in order.
type order struct {
	apply func(change) // never called twice at a time
	lost  func(uri string, version int32, why error)
	later func(f func(ctx context.Context)) bool // runs f on a goroutine that is waited for

	mu   sync.Mutex
	docs map[string]*versions // by URI
}

// change is one didChange.
type change struct {
	uri     string
	version int32
	changes []text.Change
}

// versions are those of one open document.
type versions struct {
	last    int32
	early   []change // by version, all above last+1
	waiting bool     // somebody will look after the early ones
}

var (
	errBackwards = errors.New("its versions went backwards")
	errEarly     = errors.New("too many of its changes came too early")
)

func (o *order) opened(uri string, version int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.docs == nil {
		o.docs = map[string]*versions{}
	}
	o.docs[uri] = &versions{last: version}
}

func (o *order) closed(uri string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.docs, uri)
}

// add takes a change. counts says that the editor counts versions by one.
func (o *order) add(c change, counts bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := o.docs[c.uri]
	switch {
	case v == nil: // not open: the mirror says so
		o.apply(c)
	case c.version < v.last || counts && c.version == v.last:
		o.lost(c.uri, c.version, errBackwards)
	case len(v.early) == maxEarly:
		o.lost(c.uri, c.version, errEarly)
	case !counts || c.version == v.last+1:
		v.last = c.version
		o.apply(c)
		o.releaseLocked(v, false)
	default:
		at, twice := slices.BinarySearchFunc(v.early, c.version, func(x change, n int32) int { return cmp.Compare(x.version, n) })
		if twice {
			o.lost(c.uri, c.version, errBackwards)
			return
		}
		v.early = slices.Insert(v.early, at, c)
		if !v.waiting {
			v.waiting = o.later(func(ctx context.Context) { o.late(ctx, c.uri, v) })
		}
	}
}

// releaseLocked applies the early changes whose turn it is, or all of them.
func (o *order) releaseLocked(v *versions, all bool) {
	for len(v.early) > 0 && (all || v.early[0].version <= v.last+1) {
		c := v.early[0]
		v.early = v.early[1:]
		v.last = c.version
		o.apply(c)
	}
}

// late gives up waiting for what is missing.
func (o *order) late(ctx context.Context, uri string, v *versions) {
	timer := time.NewTimer(gap)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	v.waiting = false
	if o.docs[uri] == v { // not closed meanwhile
		o.releaseLocked(v, true)
	}
}
