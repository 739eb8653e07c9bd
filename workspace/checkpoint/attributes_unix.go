//go:build linux || darwin

package checkpoint

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepOf gives a new file the owner and the extended attributes of the one whose place it takes, and says what could not be kept.
// Access lists are attributes. File capabilities are dropped, as the system drops them on a write.
func keepOf(dir *os.Root, name string, was fs.FileInfo, temp *os.File) (lost []string) {
	if !keepOwner(was, temp) {
		lost = append(lost, lostOwner)
	}
	old, err := dir.OpenFile(name, os.O_RDONLY|nonblock|unix.O_NOFOLLOW, 0)
	if err != nil {
		return append(lost, lostAttributes) // it is not known whether there are any
	}
	defer old.Close()
	err = withFd(old, func(from int) error {
		return withFd(temp, func(to int) error { return copyAttributes(to, from) })
	})
	if err != nil {
		lost = append(lost, lostAttributes)
	}
	return lost
}

func keepOwner(was fs.FileInfo, temp *os.File) bool {
	want, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	info, err := temp.Stat()
	if err != nil {
		return false
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return true
	}
	return temp.Chown(int(want.Uid), int(want.Gid)) == nil
}

// copyAttributes returns an error only for attributes that the user set or that grant access.
func copyAttributes(to, from int) error {
	data, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(from, buf) })
	if err != nil || len(data) == 0 {
		return nil // no attributes, or a file system without them
	}
	var errs []error
	for name := range strings.SplitSeq(string(bytes.TrimSuffix(data, []byte{0})), "\x00") {
		if name == "security.capability" {
			continue
		}
		value, err := sized(func(buf []byte) (int, error) { return unix.Fgetxattr(from, name, buf) })
		if err == nil {
			err = unix.Fsetxattr(to, name, value, 0)
		}
		if err != nil && !strings.HasPrefix(name, "security.") && !strings.HasPrefix(name, "trusted.") {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sized calls a function that tells the size it needs when it is given no buffer.
func sized(get func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		buf := make([]byte, n)
		n, err = get(buf)
		if errors.Is(err, unix.ERANGE) { // it grew
			continue
		}
		return buf[:max(n, 0)], err
	}
}

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

// inode is what tells the names of one file, and how many it has.
type inode struct {
	device, number uint64
}

func inodeOf(info fs.FileInfo) (id inode, names uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, 1
	}
	return inode{uint64(st.Dev), st.Ino}, uint64(st.Nlink)
}
