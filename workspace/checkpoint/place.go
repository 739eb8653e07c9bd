package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"sallyport/workspace/checkpoint/pack"
)

// places opens folders beneath the roots of a project, one component at a time and through no link.
type places struct {
	open map[string]*os.Root // by root
}

func (p *places) close() {
	for _, r := range p.open {
		_ = r.Close()
	}
}

func (p *places) root(name string) (*os.Root, error) {
	if r := p.open[name]; r != nil {
		return r, nil
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	r, err := sameRoot(info, func() (*os.Root, error) { return os.OpenRoot(name) })
	if err != nil {
		return nil, err
	}
	if p.open == nil {
		p.open = map[string]*os.Root{}
	}
	p.open[name] = r
	return r, nil
}

// parent opens the folder of a path that a checkpoint may have, and returns the last name. The caller closes it. Errors:
// fs.ErrNotExist, errNoFolder.
func (p *places) parent(root, path string) (*os.Root, string, error) {
	for name := range strings.SplitSeq(path, "/") {
		if machinery(name) {
			return nil, "", fmt.Errorf("path %q is none of a checkpoint's", path)
		}
	}
	return p.folderOf(root, path, false)
}

// makeParent is parent that makes the folders that are missing: those that nothing is known of, so with the usual mode.
func (p *places) makeParent(root, path string) (*os.Root, string, error) {
	if dir, name, err := p.parent(root, path); !errors.Is(err, fs.ErrNotExist) {
		return dir, name, err
	}
	return p.folderOf(root, path, true)
}

func (p *places) folderOf(root, path string, make bool) (*os.Root, string, error) {
	r, err := p.root(root)
	if err != nil {
		return nil, "", err
	}
	names := strings.Split(path, "/")
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return nil, "", fmt.Errorf("path %q is none of a checkpoint's", path)
		}
	}
	dir, err := r.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	for _, name := range names[:len(names)-1] {
		info, err := dir.Lstat(name)
		if make && errors.Is(err, fs.ErrNotExist) {
			if err = dir.Mkdir(name, 0o755); err == nil {
				info, err = dir.Lstat(name)
			}
		}
		var next *os.Root
		if err == nil {
			next, err = sameRoot(info, func() (*os.Root, error) { return dir.OpenRoot(name) })
		}
		_ = dir.Close()
		if err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, names[len(names)-1], nil
}

// seen is what stands at a path now.
type seen struct {
	State
	info fs.FileInfo // nil when absent
}

// now looks at a path. A parent that is missing, or no folder, means that nothing is there.
func (p *places) now(root, path string) (seen, error) {
	dir, name, err := p.parent(root, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoFolder) {
		return seen{}, nil
	}
	if err != nil {
		return seen{}, err
	}
	defer dir.Close()
	return look(dir, name)
}

func look(dir *os.Root, name string) (seen, error) {
	for range tries {
		info, err := dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return seen{}, nil
		}
		if err != nil {
			return seen{}, err
		}
		out := seen{State{Mode: modeOf(info.Mode())}, info}
		switch {
		case info.IsDir():
			out.Kind = Folder
			return out, nil
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := dir.Readlink(name)
			out.State = State{Kind: Link, Hash: pack.Sum([]byte(target))}
			return out, err
		case !info.Mode().IsRegular():
			out.State = State{Kind: LeftOut, Reason: Special}
			return out, nil
		}
		out.Kind = File
		same := false
		err = readSame(dir, name, info, func(f *os.File) error {
			sum := sha256.New()
			_, err := io.Copy(sum, f)
			out.Hash = Hash(sum.Sum(nil))
			return err
		}, &same)
		if errors.Is(err, fs.ErrPermission) {
			return seen{State{Kind: LeftOut, Reason: Denied, Hash: infoKey(info).digest()}, info}, nil
		}
		if err != nil {
			return seen{}, err
		}
		if same {
			return out, nil
		}
	}
	return seen{State: State{Kind: LeftOut, Reason: Changing}}, nil
}

// readSame reads a file, and says whether it was the one that was looked at, before and after.
func readSame(dir *os.Root, name string, was fs.FileInfo, read func(*os.File) error, same *bool) error {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !unchanged(was, info) {
		return err
	}
	if err := read(f); err != nil {
		return err
	}
	info, err = f.Stat()
	*same = err == nil && unchanged(was, info)
	return err
}

// unchanged compares what the system said of a path twice. Nil is nothing there.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Mode() == b.Mode() && infoKey(a) == infoKey(b)
}
