//go:build unix

package rpc

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lingerTime is how long a write waits in the kernel for the peer to make room,
// before it is left to another goroutine and Go's poller. Within a burst that is
// several times cheaper: the goroutine keeps its thread, and none is woken.
const lingerTime = 2 * time.Millisecond

// lingerFile writes to a file for a short time.
type lingerFile struct {
	conn  syscall.RawConn
	write func(fd uintptr) bool // l.run, made once
	out   []byte                // of the call under way, as n and err
	n     int
	err   error
}

// newLinger returns a way to write to w that waits for lingerTime at most, nil
// if there is none, as for a pipe that blocks.
func newLinger(w io.Writer) lingerer {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil || !neverBlocks(f, conn) {
		return nil
	}
	l := &lingerFile{conn: conn}
	l.write = l.run
	return l
}

// neverBlocks reports whether a write to f returns at once.
func neverBlocks(f *os.File, conn syscall.RawConn) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if null, err := os.Stat(os.DevNull); info.Mode().IsRegular() || err == nil && os.SameFile(info, null) {
		return true
	}
	nonblocking := false
	err = conn.Control(func(fd uintptr) {
		flags, errno := unix.FcntlInt(fd, unix.F_GETFL, 0)
		nonblocking = errno == nil && flags&unix.O_NONBLOCK != 0
	})
	return err == nil && nonblocking
}

// do returns how much was written. It is not safe for concurrent use.
func (l *lingerFile) do(out []byte) (int, error) {
	l.out, l.n, l.err = out, 0, nil
	err := l.conn.Write(l.write)
	l.out = nil
	if err == nil {
		err = l.err
	}
	return l.n, err
}

// run is called with the file's descriptor. It always returns true: Go's poller
// is not to wait.
func (l *lingerFile) run(fd uintptr) bool {
	var end time.Time
	for l.n < len(l.out) {
		n, err := syscall.Write(int(fd), l.out[l.n:])
		switch err {
		case nil:
			l.n += n
			continue
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			l.err = err
			return true
		}
		now := time.Now()
		if end.IsZero() {
			end = now.Add(lingerTime)
		}
		left := end.Sub(now)
		if left <= 0 {
			return true
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		_, _ = unix.Poll(fds, int((left+time.Millisecond-1)/time.Millisecond)) // the write will tell
	}
	return true
}

// Stdio returns this process's stdin and stdout for New. Where they are pipes or
// sockets they are made not to block, so that reads and writes end when Run does
// and Gather can write on the goroutine that calls it. A pipe on stdout is made
// to hold more, where that can be. Call it once.
func Stdio() (in, out *os.File) {
	widen(os.Stdout.Fd())
	return unblocked(os.Stdin), unblocked(os.Stdout)
}

func unblocked(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f
	}
	fd := f.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return f
	}
	return os.NewFile(fd, f.Name()) // now known to the poller
}
