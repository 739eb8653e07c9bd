//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// output reads a pipe of a program to its end. Once the program has ended, a
// silence of drainGrace is the end, too: what it started may hold the pipe open.
type output struct {
	file  *os.File
	ended atomic.Bool
}

// finish says that the program has ended.
func (o *output) finish() {
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now().Add(drainGrace)) // fails only on a closed file
}

func (o *output) Read(b []byte) (int, error) {
	if o.ended.Load() {
		_ = o.file.SetReadDeadline(time.Now().Add(drainGrace))
	}
	n, err := o.file.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// Close makes a Read that is under way return.
func (o *output) Close() error { return o.file.Close() }
