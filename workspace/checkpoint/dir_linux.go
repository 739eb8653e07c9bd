package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// stat is what the system says of a name. LeftOut stands for special files.
type stat struct {
	kind Kind
	mode uint32
	key  key
}

// folder is an open folder. Names are looked up in it and never through a path, so a tree that is swapped for a link leads
// nowhere.
type folder struct {
	fd   int
	refs atomic.Int32
}

func openRoot(name string) (*folder, error) { return openAt(unix.AT_FDCWD, name) }

func openAt(at int, name string) (*folder, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		f := &folder{fd: fd}
		f.refs.Store(1)
		return f, nil
	}
}

// openFolder opens a folder in f; a link is an error.
func (f *folder) openFolder(name string, _ stat) (*folder, error) { return openAt(f.fd, name) }

func (f *folder) keep(n int) { f.refs.Add(int32(n)) }

func (f *folder) release() {
	if f.refs.Add(-1) == 0 {
		_ = unix.Close(f.fd)
	}
}

// names is a list of the names in a folder, as the system writes it.
type names []byte

// list reads the names in f into buf, or a larger one.
func (f *folder) list(buf names) (names, error) {
	const room = 32 << 10
	buf = buf[:0]
	for {
		if cap(buf)-len(buf) < room {
			buf = append(make(names, 0, 2*cap(buf)+2*room), buf...)
		}
		n, err := unix.Getdents(f.fd, buf[len(buf):cap(buf)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return buf, err
		}
		buf = buf[:len(buf)+n]
	}
}

// each calls do with each name, in the system's order; name is valid during the call only.
func (l names) each(do func(name []byte)) error {
	const nameAt = 19 // inode, offset: 8 bytes each; length: 2; type: 1
	for len(l) >= nameAt {
		length := int(binary.NativeEndian.Uint16(l[16:]))
		if length < nameAt || length > len(l) {
			return errors.New("the system's list of names is malformed")
		}
		name := l[nameAt:length]
		l = l[length:]
		end := bytes.IndexByte(name, 0)
		if end <= 0 {
			return errors.New("the system's list of names is malformed")
		}
		name = name[:end] // with the NUL behind it, see lstatOf
		if s := string(name); s != "." && s != ".." {
			do(name)
		}
	}
	return nil
}

// lstat looks at a name in f.
func (f *folder) lstat(name string) (stat, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return stat{}, &os.PathError{Op: "lstat", Path: name, Err: err}
		}
		return statOf(&st), nil
	}
}

func statOf(st *unix.Stat_t) stat {
	s := stat{mode: st.Mode & 0o7777, key: key{size: st.Size, mtime: unix.TimespecToNsec(st.Mtim), ctime: unix.TimespecToNsec(st.Ctim), ino: st.Ino}}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = File
	case unix.S_IFDIR:
		s.kind = Folder
	case unix.S_IFLNK:
		s.kind, s.mode = Link, 0
	default:
		s.kind = LeftOut
	}
	return s
}

// contents is an open file. One of os would take two more system calls, to find that a file is nothing to be waited for.
type contents struct{ fd int }

// openFile opens a file in f for reading and looks at it. A link is an error, a FIFO does not block.
func (f *folder) openFile(name string) (contents, stat, error) {
	for {
		fd, err := unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return contents{}, stat{}, &os.PathError{Op: "open", Path: name, Err: err}
		}
		file := contents{fd}
		st, err := file.stat()
		if err == nil && st.kind != File {
			err = errNoFile
		}
		if err != nil {
			file.close()
			return contents{}, stat{}, err
		}
		return file, st, nil
	}
}

// stat looks at an open file.
func (c contents) stat() (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(c.fd, &st); err != nil {
		return stat{}, os.NewSyscallError("fstat", err)
	}
	return statOf(&st), nil
}

func (c contents) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (c contents) close() { _ = unix.Close(c.fd) }

// readlink reads a link's target.
func (f *folder) readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(f.fd, name, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return "", &os.PathError{Op: "readlink", Path: name, Err: err}
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}
