package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxQueued is how much may wait to be written. Only messages that never block
// can get there, to a peer that takes nothing any more: it is given up.
const maxQueued = 512 << 20

var errClogged = errors.New("the peer takes no output any more")

// writer gathers messages and writes them. While one write is under way the
// next messages gather, and go out as one write.
type writer struct {
	w       io.Writer
	framing Framing
	wake    chan struct{} // one slot: there is something to write
	done    chan struct{} // closed by Run at its end
	clogged chan struct{} // one slot: maxQueued was passed
	mu      sync.Mutex
	queue   // guarded by mu
}

type queue struct {
	buf      []byte        // what waits
	spare    []byte        // the buffer of the last write, or of the one under way
	writing  int           // bytes of the write under way
	queued   int64         // bytes that ever entered
	written  int64         // bytes that were written
	err      error         // why nothing can be written any more
	progress chan struct{} // closed when a write ends or err is set; nil if nobody waits
}

func newWriter(w io.Writer, f Framing) *writer {
	return &writer{
		w: w, framing: f,
		wake: make(chan struct{}, 1), done: make(chan struct{}), clogged: make(chan struct{}, 1),
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
	w.addLocked(build)
	return w.queued, w.err
}

func (w *writer) addLocked(build func(dst []byte) []byte) {
	at := len(w.buf)
	w.buf = w.framing.begin(w.buf)
	room := len(w.buf)
	w.buf = build(w.buf)
	if len(w.buf) == room { // nothing was built
		w.buf = w.buf[:at]
		return
	}
	w.buf = w.framing.end(w.buf, at)
	w.queued += int64(len(w.buf) - at)
	if len(w.buf) > maxQueued {
		w.failLocked(errClogged)
		w.clogged <- struct{}{} // there is room: failing happens once
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// stream is add, but waits first until at most high bytes are unwritten.
func (w *writer) stream(ctx context.Context, high int, build func(dst []byte) []byte) error {
	w.mu.Lock()
	for w.err == nil && len(w.buf)+w.writing > high {
		if err := w.waitLocked(ctx); err != nil {
			w.mu.Unlock()
			return err
		}
	}
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.addLocked(build)
	return w.err
}

// full reports whether more than high bytes are unwritten.
func (w *writer) full(high int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.buf)+w.writing > high
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

// run writes until stop or an error, which it returns.
func (w *writer) run() error {
	for {
		select {
		case <-w.wake:
			if err := w.flush(); err != nil {
				return err
			}
		case <-w.done:
			return nil
		}
	}
}

// flush writes what waits, and what gathers meanwhile.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && len(w.buf) > 0 {
		out := w.buf
		w.buf = w.spare[:0]
		w.writing = len(out)
		w.mu.Unlock()
		n, err := w.w.Write(out)
		w.mu.Lock()
		w.writing = 0
		w.written += int64(n)
		w.spare = nil
		if cap(out) <= keep {
			w.spare = out
		}
		if err != nil {
			w.failLocked(fmt.Errorf("writing: %w", err))
		}
		w.progressLocked()
	}
	return w.err
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
		w.buf, w.spare = nil, nil
		w.progressLocked()
	}
}
