package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxQueued is how much may wait to be written. Only messages that never block
// can get there, to a peer that takes nothing any more: it is given up.
const maxQueued = 512 << 20

var errClogged = errors.New("the peer takes no output any more")

const (
	gatherBytes = 128 << 10        // gathered messages go out when they are so many
	gatherDelay = time.Millisecond // or so old
	roomy       = 256 << 10        // a buffer larger than this is not kept while idle
)

// writer gathers messages and writes them. While one write is under way the
// next messages gather, and go out as one write.
type writer struct {
	w       io.Writer
	framing Framing
	linger  lingerer    // writes for a short time; nil if that cannot be done
	late    *time.Timer // wakes for what was gathered and not flushed
	signals
	mu    sync.Mutex
	queue // guarded by mu
}

type signals struct {
	wake    chan struct{} // one slot: there is something to write
	done    chan struct{} // closed by Run at its end
	clogged chan struct{} // one slot: maxQueued was passed
}

// lingerer writes as much as goes within a short time, maybe nothing.
type lingerer interface {
	do(out []byte) (n int, err error)
}

type queue struct {
	buf      []byte // what waits
	spare    []byte // an empty buffer
	out      []byte // what is being written, or comes next; nil if nothing
	busy     bool   // a write is under way
	gathered bool   // late is set
	sizes
	err      error         // why nothing can be written any more
	progress chan struct{} // closed when a write ends or err is set; nil if nobody waits
}

type sizes struct {
	last    int   // of the message added last, without framing
	queued  int64 // of all that ever entered
	written int64 // of all that was written
}

func newWriter(w io.Writer, f Framing) *writer {
	wr := &writer{w: w, framing: f, linger: newLinger(w), signals: signals{
		wake: make(chan struct{}, 1), done: make(chan struct{}), clogged: make(chan struct{}, 1),
	}}
	wr.late = time.AfterFunc(time.Hour, wr.kick)
	wr.late.Stop()
	return wr
}

// kick has what waits written soon.
func (w *writer) kick() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// add appends one message that build appends in place. It does not block.
// The result is the stream's length after the message.
func (w *writer) add(build func(dst []byte) []byte) (end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.addLocked(w.framing, build)
	w.kick()
	return w.queued, w.err
}

// addNow is add that writes on the caller's goroutine what goes at once.
func (w *writer) addNow(build func(dst []byte) []byte) (end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.addLocked(w.framing, build)
	end = w.queued
	w.tryLocked()
	return end, w.err
}

func (w *writer) addLocked(f Framing, build func(dst []byte) []byte) {
	at := len(w.buf)
	w.buf = f.begin(w.buf, w.last)
	room := len(w.buf)
	w.buf = build(w.buf)
	if len(w.buf) == room { // nothing was built
		w.buf = w.buf[:at]
		return
	}
	size := len(w.buf) - room
	w.buf = f.end(w.buf, at, w.last)
	w.last = size
	w.queued += int64(len(w.buf) - at)
	if len(w.buf) > maxQueued {
		w.failLocked(errClogged)
		w.clogged <- struct{}{} // there is room: failing happens once
	}
}

// stream is add, but waits first until at most high bytes are unwritten. With
// gather it leaves the message to the next flush where that may come soon.
func (w *writer) stream(ctx context.Context, high int, gather bool, f Framing, build func(dst []byte) []byte) error {
	w.mu.Lock()
	for w.err == nil && len(w.buf)+len(w.out) > high {
		if err := w.waitLocked(ctx); err != nil {
			w.mu.Unlock()
			return err
		}
	}
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.addLocked(f, build)
	switch {
	case !gather:
		w.kick()
	case len(w.buf) >= gatherBytes:
		w.tryLocked()
	case !w.gathered:
		w.gathered = true
		w.late.Reset(gatherDelay)
	}
	return w.err
}

// full reports whether more than high bytes are unwritten.
func (w *writer) full(high int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.buf)+len(w.out) > high
}

// drain waits until everything is written that was added before.
func (w *writer) drain(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for until := w.queued; w.err == nil && w.written < until; {
		if err := w.waitLocked(ctx); err != nil {
			return err
		}
	}
	return w.err
}

// waitLocked waits, without mu, for a write to end.
func (w *writer) waitLocked(ctx context.Context) error {
	if w.progress == nil {
		w.progress = make(chan struct{})
	}
	progress := w.progress
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-progress:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progressLocked wakes those who wait.
func (w *writer) progressLocked() {
	if w.progress != nil {
		close(w.progress)
		w.progress = nil
	}
}

// flush has what was gathered written.
func (w *writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buf) > 0 {
		w.tryLocked()
	}
}

// tryLocked writes what goes within a short time, here and now, and leaves the
// rest to run: a burst that the peer takes as it comes needs no second goroutine.
func (w *writer) tryLocked() {
	if w.linger != nil && !w.busy && w.err == nil {
		out := w.takeLocked()
		w.mu.Unlock()
		n, err := w.linger.do(out)
		w.mu.Lock()
		w.tookLocked(out, n, err)
	}
	if len(w.buf)+len(w.out) > 0 {
		w.kick()
	}
}

// run writes until stop or an error, which it returns.
func (w *writer) run() error {
	for {
		select {
		case <-w.wake:
			if err := w.write(); err != nil {
				return err
			}
		case <-w.done:
			return nil
		}
	}
}

// write writes what waits, and what gathers meanwhile.
func (w *writer) write() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && !w.busy && len(w.buf)+len(w.out) > 0 {
		out := w.takeLocked()
		w.mu.Unlock()
		n, err := w.w.Write(out)
		w.mu.Lock()
		if err == nil && n < len(out) {
			err = io.ErrShortWrite
		}
		w.tookLocked(out, n, err)
	}
	return w.err
}

// takeLocked begins a write: it returns what comes next.
func (w *writer) takeLocked() []byte {
	w.busy = true
	if len(w.out) == 0 {
		w.out, w.buf, w.spare = w.buf, w.spare, nil
		if w.gathered {
			w.gathered = false
			w.late.Stop()
		}
	}
	return w.out
}

// tookLocked ends a write of out, of which n bytes went.
func (w *writer) tookLocked(out []byte, n int, err error) {
	w.busy = false
	w.written += int64(n)
	w.out = out[n:]
	if n == len(out) {
		w.out = nil
		if cap(out) <= 2*keep {
			w.spare = out[:0]
		}
	}
	if err != nil {
		w.failLocked(fmt.Errorf("writing: %w", err))
	}
	w.progressLocked()
}

// fail ends all writing with err.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(err)
}

func (w *writer) failLocked(err error) {
	if w.err == nil {
		w.err = err
		w.buf, w.spare, w.out = nil, nil, nil
		w.progressLocked()
	}
}
