package rpc

import "golang.org/x/sys/unix"

// pipeBytes is how much a pipe on stdout holds, where the system lets it. With
// the usual 64 KiB, which one read fills and one write empties, both ends of a
// burst wait for each other.
const pipeBytes = 256 << 10

// widen makes a pipe hold more. It is of no consequence where it cannot.
func widen(fd uintptr) {
	if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < pipeBytes {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes)
	}
}
