package fence

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// openFlags open a file to be judged.
const openFlags = os.O_RDONLY

// isLinkError is false: a link that was swapped in is followed here, and seen by handlePath.
func isLinkError(error) bool { return false }

// birth is the creation time of node in nanoseconds, 0 when unknown.
func birth(node fs.FileInfo, _ string) int64 {
	if data, ok := node.Sys().(*syscall.Win32FileAttributeData); ok {
		return data.CreationTime.Nanoseconds()
	}
	return 0
}

// handlePath is where the system says that an open file is, without the \\?\ prefix.
func handlePath(f *os.File) (string, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	buf := make([]uint16, 512)
	var inner error
	err = raw.Control(func(fd uintptr) {
		for {
			var n uint32
			n, inner = windows.GetFinalPathNameByHandle(windows.Handle(fd), &buf[0], uint32(len(buf)), 0)
			if inner != nil || int(n) < len(buf) {
				return
			}
			buf = make([]uint16, n+1)
		}
	})
	if err = errors.Join(err, inner); err != nil {
		return "", os.NewSyscallError("GetFinalPathNameByHandle", err)
	}
	path := strings.TrimPrefix(windows.UTF16ToString(buf), `\\?\`)
	if unc, ok := strings.CutPrefix(path, `UNC\`); ok {
		path = `\\` + unc
	}
	return path, nil
}

// isProcess is false: Windows has no process file system.
func isProcess(*os.File) bool { return false }

// mountsInside is empty: volumes mounted into folders are links to readLink.
func mountsInside(string) []string { return nil }

// otherNames is empty, as mountsInside is.
func otherNames(string) []string { return nil }
