//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"sallyport/workspace/fence"
)

// mayWrite asks the system whether this user may write the target, without opening it: watchers see nothing.
func mayWrite(target *fence.Target) error {
	dir, err := target.Dir.Open(".")
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that can be entered and not read; a write will tell
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	err = withFd(dir, func(fd int) error {
		return unix.Faccessat(fd, target.Name, unix.W_OK, unix.AT_EACCESS)
	})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// KeepOwner gives temp the owner and group of the file whose place it takes, if it has others.
func KeepOwner(temp *os.File, was fs.FileInfo) error {
	want, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := temp.Stat()
	if err != nil {
		return err
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return temp.Chown(int(want.Uid), int(want.Gid))
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// lockTemp locks a fresh temporary file; false when a sweep has taken it. Where there are no locks, it is true.
func lockTemp(f *os.File) bool {
	err := withFd(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false
	}
	info, err := f.Stat()
	return err != nil || links(info) > 0
}

// removeStray removes a temporary file whose writer is dead.
func removeStray(root *os.Root, name string) bool {
	f, err := root.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if err := withFd(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		return false
	}
	return root.Remove(name) == nil
}

// rename puts the temporary file in its place.
func rename(_ *os.File, dir *os.Root, from, to string) error { return dir.Rename(from, to) }

func withFd(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
