package pack

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock says whether it got the lock. It ends with the file.
func tryLock(f *os.File, alone bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, new(windows.Overlapped))
	})
	if err != nil {
		return false, err
	}
	if errors.Is(inner, windows.ERROR_LOCK_VIOLATION) || errors.Is(inner, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return inner == nil, inner
}

// syncFolder does nothing: folders cannot be synced here.
func syncFolder(string) error { return nil }
