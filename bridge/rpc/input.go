package rpc

import (
	"io"
	"sync/atomic"
	"time"
)

const (
	minBuffer = 256 << 10 // several reads of a full pipe, so that what is left of a message seldom moves
	keep      = 1 << 20   // larger buffers are released after use
	headSize  = 4 << 10   // what is kept of a message that is too long
)

// input is the read buffer under both framings. The bytes that wait to be used
// are buf[start:end].
type input struct {
	r          io.Reader
	buf        []byte
	start, end int
	limit      int         // how large buf need be
	coming     int         // how many bytes are to be had at once, as far as that is known
	idle       func()      // called before each read; may be nil
	reading    atomic.Bool // a read is under way
	stopped    atomic.Bool // Run has given up: read no more
	burst      burst
}

func (in *input) bytes() []byte { return in.buf[in.start:in.end] }

// drop throws away the first n of the waiting bytes.
func (in *input) drop(n int) {
	in.start += n
	if in.start == in.end {
		in.start, in.end = 0, 0
	}
}

// fill reads more, at least one byte unless it returns an error. What was
// returned by bytes before is void.
func (in *input) fill() error {
	if in.idle != nil {
		in.idle()
	}
	in.makeRoom()
	if in.burst.due() {
		pauseShortly()
	}
	asked := time.Now()
	for empty := 0; ; {
		if in.stopped.Load() {
			return io.ErrClosedPipe
		}
		in.reading.Store(true)
		n, err := in.r.Read(in.buf[in.end:])
		in.reading.Store(false)
		in.end += n
		switch {
		case n > 0:
			in.burst.came(n, time.Since(asked))
			return nil // an error comes again with the next read
		case err != nil:
			return err
		}
		if empty++; empty == 100 {
			return io.ErrNoProgress
		}
	}
}

// makeRoom leaves space for at least a quarter of the smallest buffer. Each byte
// of a long message is moved a constant number of times.
func (in *input) makeRoom() {
	waiting := in.end - in.start
	switch {
	case len(in.buf) > keep && waiting < minBuffer/2, in.buf == nil:
		old := in.bytes()
		in.buf = make([]byte, minBuffer)
		copy(in.buf, old)
	case len(in.buf)-in.end >= minBuffer/4:
		return
	case waiting <= len(in.buf)/2:
		copy(in.buf, in.bytes())
	default:
		size := 2 * len(in.buf)
		if waiting >= keep && in.coming > size { // who sent so much will send the rest
			size = in.coming + minBuffer
		}
		if size > in.limit {
			size = max(in.limit, len(in.buf)+minBuffer)
		}
		grown := make([]byte, size)
		copy(grown, in.bytes())
		in.buf = grown
	}
	in.start, in.end = 0, waiting
}
