package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// temporary is a session's own folder for temporary files. Its lock says that the session lives.
type temporary struct {
	path string
	lock *os.File
}

// newTemporary makes one, and clears away those of sessions that were killed.
func newTemporary(dir string) (*temporary, error) {
	all := filepath.Join(dir, temporaryName)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	sweepTemporary(all)
	lock, err := os.CreateTemp(all, "*"+lockEnd)
	if err != nil {
		return nil, err
	}
	t := &temporary{path: lock.Name()[:len(lock.Name())-len(lockEnd)], lock: lock}
	if err := errors.Join(flock(lock, unix.LOCK_SH), os.Mkdir(t.path, 0o700)); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

const (
	temporaryName = "tmp"
	lockEnd       = ".lock"
)

func sweepTemporary(all string) {
	locks, err := filepath.Glob(filepath.Join(all, "*"+lockEnd))
	if err != nil {
		return
	}
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// One that was made a moment ago is not locked yet: its folder is not there yet either.
		path := name[:len(name)-len(lockEnd)]
		if _, err := os.Lstat(path); err == nil && flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil {
			if removeAll(path) == nil {
				_ = os.Remove(name)
			}
		}
		_ = f.Close()
	}
}

// close removes the folder.
func (t *temporary) close() error {
	err := removeAll(t.path)
	if err == nil {
		err = os.Remove(t.lock.Name())
	}
	return errors.Join(err, t.lock.Close())
}

// removeAll removes a folder whose folders may have been closed to everyone.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(at, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
