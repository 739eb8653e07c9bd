//go:build unix

package process

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// output reads a pipe of a program to its end. Once the program has ended, a
// silence of drainGrace is the end, too: what it started may hold the pipe open.
//
// It waits in the kernel, on a thread of its own, and not in Go's poller; see
// blockingPipe.
type output struct {
	file   *os.File
	wake   *os.File // read end of a pipe that ends when the program has, or at Close
	waker  *os.File // its other end
	once   sync.Once
	ended  atomic.Bool
	closed atomic.Bool
	mu     sync.Mutex     // held while reading: Close must not take the files away
	fds    [2]unix.PollFd // guarded by mu
}

// finish says that the program has ended.
func (o *output) finish() {
	o.ended.Store(true)
	o.once.Do(func() { _ = o.waker.Close() })
}

// Read waits for output. Its deadlines are those of the type.
func (o *output) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.closed.Load() {
			return 0, os.ErrClosed
		}
		fd := int(o.file.Fd())
		o.fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		o.fds[1] = unix.PollFd{Fd: int32(o.wake.Fd()), Events: unix.POLLIN}
		fds, timeout := o.fds[:], -1
		if o.ended.Load() {
			fds, timeout = fds[:1], int(drainGrace.Milliseconds())
		}
		_, err := unix.Poll(fds, timeout)
		switch {
		case err == unix.EINTR || o.closed.Load():
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		case fds[0].Revents == 0 && timeout >= 0:
			return 0, io.EOF // nothing came any more
		case fds[0].Revents == 0:
			continue // the program has ended, just now
		}
		n, err := syscall.Read(fd, b)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close makes a Read that is under way return.
func (o *output) Close() error {
	o.closed.Store(true)
	o.finish()
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.wake.Close() // may be closed already, as below
	return o.file.Close()
}
