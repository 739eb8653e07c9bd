package fence

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openFlags open a file to be judged: a fifo must not block, a link swapped in must not be followed.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW | syscall.O_NOCTTY

// isLinkError reports the error of openFlags for a link.
func isLinkError(err error) bool { return errors.Is(err, syscall.ELOOP) }

// birth is the birth time of node in nanoseconds, 0 when unknown.
func birth(node fs.FileInfo, _ string) int64 {
	if st, ok := node.Sys().(*syscall.Stat_t); ok {
		return st.Birthtimespec.Nano()
	}
	return 0
}

// handlePath is where the kernel says that an open file is (F_GETPATH).
func handlePath(f *os.File) (string, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	buf := make([]byte, 4*unix.PathMax)
	var pin runtime.Pinner
	pin.Pin(&buf[0])
	defer pin.Unpin()
	var inner error
	err = raw.Control(func(fd uintptr) {
		_, inner = unix.FcntlInt(fd, unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	})
	if err = errors.Join(err, inner); err != nil {
		return "", os.NewSyscallError("fcntl", err)
	}
	path, _, _ := bytes.Cut(buf, []byte{0})
	return string(path), nil
}

// isProcess is false: macOS has no process file system.
func isProcess(*os.File) bool { return false }

// mountsInside is empty: macOS has no bind mounts.
func mountsInside(string) []string { return nil }

// otherNames is empty, as mountsInside is.
func otherNames(string) []string { return nil }
