//go:build !linux

package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// stat is what the system says of a name. LeftOut stands for special files.
type stat struct {
	kind Kind
	mode uint32
	key  key
	info fs.FileInfo // to compare a folder after it was opened
}

// folder is an open folder. Names are looked up in it and never through a path; that it is not a link is checked after it was
// opened.
type folder struct {
	root *os.Root
	refs atomic.Int32
}

func openRoot(name string) (*folder, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	return opened(info, func() (*os.Root, error) { return os.OpenRoot(name) })
}

// openFolder opens a folder in f; a link is an error.
func (f *folder) openFolder(name string, s stat) (*folder, error) {
	return opened(s.info, func() (*os.Root, error) { return f.root.OpenRoot(name) })
}

func opened(was fs.FileInfo, open func() (*os.Root, error)) (*folder, error) {
	root, err := sameRoot(was, open)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root}
	f.refs.Store(1)
	return f, nil
}

func (f *folder) keep(n int) { f.refs.Add(int32(n)) }

func (f *folder) release() {
	if f.refs.Add(-1) == 0 {
		_ = f.root.Close()
	}
}

// names is a list of the names in a folder, each with a NUL after it.
type names []byte

// list reads the names in f into buf, or a larger one.
func (f *folder) list(buf names) (names, error) {
	buf = buf[:0]
	dir, err := f.root.Open(".")
	if err != nil {
		return buf, err
	}
	defer dir.Close()
	for {
		some, err := dir.Readdirnames(1024)
		for _, name := range some {
			buf = append(append(buf, name...), 0)
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// each calls do with each name, in the system's order; name is valid during the call only.
func (l names) each(do func(name []byte)) error {
	for len(l) > 0 {
		name, rest, _ := bytes.Cut(l, []byte{0})
		do(name)
		l = rest
	}
	return nil
}

// lstatOf is lstat of a name in a list.
func (f *folder) lstatOf(name []byte) (stat, error) { return f.lstat(string(name)) }

// lstat looks at a name in f.
func (f *folder) lstat(name string) (stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	s := stat{mode: modeOf(info.Mode()), info: info, key: keyOf(info)}
	switch {
	case info.Mode().IsRegular():
		s.kind = File
	case info.IsDir():
		s.kind = Folder
	case info.Mode()&fs.ModeSymlink != 0:
		s.kind, s.mode = Link, 0
	default:
		s.kind = LeftOut
	}
	return s
}

// contents is an open file.
type contents struct{ *os.File }

// openFile opens a file in f for reading and looks at it. A link is an error.
func (f *folder) openFile(name string) (contents, stat, error) {
	was, err := f.root.Lstat(name)
	if err != nil {
		return contents{}, stat{}, err
	}
	if !was.Mode().IsRegular() {
		return contents{}, stat{}, errNoFile
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return contents{}, stat{}, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(was, info)) {
		err = fmt.Errorf("%w: %s was replaced", errNoFile, name)
	}
	if err != nil {
		file.Close()
		return contents{}, stat{}, err
	}
	return contents{file}, statOf(info), nil
}

// stat looks at an open file.
func (c contents) stat() (stat, error) {
	info, err := c.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func (c contents) close() { _ = c.Close() }

// readlink reads a link's target.
func (f *folder) readlink(name string) (string, error) { return f.root.Readlink(name) }
