//go:build unix

package rpc_test

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// waitRead reads once, with poll before it: bridge/process does the same, to be
// woken also when a program has ended.
func waitRead(f *os.File, b []byte) (int, error) {
	for fd := int(f.Fd()); ; {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err == unix.EINTR {
			continue
		}
		n, err := syscall.Read(fd, b)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// unblockedStdout is stdout as rpc.Stdio returns it.
func unblockedStdout() *os.File {
	fd := os.Stdout.Fd()
	if info, err := os.Stdout.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.Stdout
	}
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return os.Stdout
	}
	return os.NewFile(fd, "stdout")
}
