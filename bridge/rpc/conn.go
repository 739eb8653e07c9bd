package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultHighWater is how many bytes may wait before Stream blocks.
const DefaultHighWater = 1 << 20

const (
	flushGrace = time.Second            // for the last messages to be written
	stopGrace  = 100 * time.Millisecond // for a read or a write to end after its stream was closed
)

// ErrClosed is why a call failed or nothing can be sent: the connection ended,
// or its peer does not read any more. The error that wraps it says why.
var ErrClosed = errors.New("connection closed")

// Conn is one JSON-RPC connection. The fields are set before Run and not
// changed after; all may be left zero. Its methods can be called from any
// goroutine, also before Run, which then sends what they queued.
type Conn struct {
	// Handle is called for each request and notification, on the read loop and
	// in wire order. It must not wait for anything but Stream: a Call in it never
	// returns. Without it requests are answered with MethodNotFound.
	Handle func(m *Message)
	// Noise is called on the read loop with each stretch of input that is no
	// message: a line of a log, a broken message. The bytes are borrowed; of a
	// long stretch it is the beginning. It may be many: limit what is logged.
	Noise func(bytes []byte)
	// Idle is called on the read loop when all that came was handled, before it
	// waits for more: the time to Flush what Handle gathered on another Conn.
	Idle func()
	// HighWater is how many bytes may wait to be written before Stream blocks;
	// default DefaultHighWater.
	HighWater int
	// CancelMethod is the notification, with {"id": …} (LSP: $/cancelRequest, with
	// requestId instead for CancelRequest), that tells the peer that a call was given
	// up; default none. Where the context's cause is a *TakenBack by that method, its
	// params are passed on.
	CancelMethod string
	// Log gets what is dropped; never contents. Default: nothing is logged.
	Log *slog.Logger

	wire
}

// wire is what is behind a Conn.
type wire struct {
	in  reader
	out *writer
	calls
}

// reader is the reading side of a Conn.
type reader struct {
	input   input
	frames  frameReader
	scanner scanner
	message Message // the one that is handled
	counts  counts
}

// Stats counts what a connection dropped.
type Stats struct {
	Noise   int64 // stretches of input that were no message
	Invalid int64 // messages that were answered with an error, or dropped, as invalid
	Late    int64 // responses to calls unknown, answered already or given up
}

type counts struct{ noise, invalid, late atomic.Int64 }

// release lets go of the message that was handled last, and so of its buffer.
func (r *reader) release() {
	r.message = Message{}
	r.scanner.release()
}

// New returns a connection that reads messages from r and writes them to w.
// It owns both: Run closes those that are an io.Closer.
func New(r io.Reader, w io.Writer, f Framing) *Conn {
	c := &Conn{wire: wire{out: newWriter(w, f)}}
	c.in.input.r = r
	c.in.frames = f.reader(&c.in.input)
	return c
}

// Stats returns what was dropped so far.
func (c *Conn) Stats() Stats {
	n := &c.in.counts
	return Stats{Noise: n.noise.Load(), Invalid: n.invalid.Load(), Late: n.late.Load()}
}

// Run reads and handles messages, and writes, until the peer's stream ends
// (nil), reading fails, or ctx is done (its cause). It then waits up to a second
// for what is queued to be written, closes both streams, and fails the calls
// that are still pending. It returns when its goroutines have ended; only a
// stream that cannot be interrupted by closing it, such as a terminal, may hold
// one of them longer, which then touches nothing any more.
//
// Run is called once.
func (c *Conn) Run(ctx context.Context) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.in.input.idle = c.idle
	var wg sync.WaitGroup
	writing := make(chan struct{})
	wg.Go(func() {
		defer close(writing)
		if err := c.out.run(); err != nil {
			c.failUnsent(err)
		}
	})
	reading := make(chan struct{})
	var readErr error
	wg.Go(func() {
		defer close(reading)
		readErr = c.read()
	})

	var cause error
	select {
	case <-reading:
		cause = readErr
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-c.out.clogged:
		cause = errClogged
	}
	c.close(cause)
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushGrace)
	_ = c.out.drain(flush) // who does not read gets no more
	cancel()
	c.out.fail(closedBy(cause))
	c.in.input.stopped.Store(true)
	close(c.out.done)
	c.out.late.Stop()
	closeStream(c.out.w)
	closeStream(c.in.input.r)
	c.await(reading, func() bool { return c.in.input.reading.Load() })
	c.await(writing, func() bool { return true })
	c.failAll(closedBy(cause))
	if errors.Is(cause, io.EOF) {
		return nil
	}
	return cause
}

// closeStream closes s if it can be closed. Nothing depends on the error.
func closeStream(s any) {
	if s, ok := s.(io.Closer); ok {
		_ = s.Close()
	}
}

// await waits for a goroutine, and gives up only when it is stuck in a system
// call for stopGrace.
func (c *Conn) await(ended <-chan struct{}, stuck func() bool) {
	for {
		timer := time.NewTimer(stopGrace)
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
			if stuck() {
				c.Log.Debug("a stream could not be interrupted")
				return
			}
		}
	}
}

func closedBy(cause error) error {
	if cause == nil || errors.Is(cause, io.EOF) {
		return fmt.Errorf("%w: the peer ended it", ErrClosed)
	}
	return fmt.Errorf("%w: %w", ErrClosed, cause)
}

// read handles messages until the stream ends.
func (c *Conn) read() error {
	for {
		f, err := c.in.frames.next()
		if err != nil {
			return err
		}
		if c.in.input.stopped.Load() {
			return io.ErrClosedPipe
		}
		switch f.kind {
		case whole:
			c.message(f.body)
		case long:
			c.long(f.body)
		case garbage:
			c.noise(f.body)
			c.complain("", ParseError, "skipped bytes that are no message")
		}
	}
}

// idle is called before each read.
func (c *Conn) idle() {
	c.in.release()
	if c.Idle != nil {
		c.Idle()
	}
}

// message handles one framed message.
func (c *Conn) message(body []byte) {
	m := &c.in.message
	if err := c.in.scanner.message(body, m); err != nil {
		c.invalid(m, err)
		return
	}
	if m.Kind != Notification {
		c.in.input.burst.end()
	}
	switch m.Kind {
	case Response:
		c.answered(m)
	case Request, Notification:
		if c.Handle != nil {
			c.Handle(m)
		} else if m.Kind == Request {
			_ = c.ReplyError(m.ID, Errorf(MethodNotFound, "no such method"))
		}
	}
}
