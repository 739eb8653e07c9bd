//go:build unix

package pack

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock says whether it got the lock. It ends with the file.
func tryLock(f *os.File, alone bool) (bool, error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		for {
			inner = unix.Flock(int(fd), how|unix.LOCK_NB)
			if !errors.Is(inner, unix.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return false, err
	}
	if errors.Is(inner, unix.EWOULDBLOCK) {
		return false, nil
	}
	return inner == nil, inner
}

// syncFolder makes names in a folder last.
func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) { // a file system that cannot
		return err
	}
	return nil
}
