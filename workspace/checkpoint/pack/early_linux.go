package pack

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeEarly asks the system to begin with writing a range to the disk, so that the sync at the end has less to wait for.
func writeEarly(f *os.File, off, n int64) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE) // only a hint
	})
}
