package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sallyport/workspace/fence"
)

// ghosts are what stands on disk only so that a mask can stand on it. Each has a file in a folder of ours, which holds its
// path, and which everyone who needs the ghost has locked, shared. Whoever is the last takes the ghost away; after a SIGKILL
// whoever comes next. Making and taking away happens under one lock of the folder.
type ghosts struct {
	dir  string
	held []*os.File
}

// openGhosts prepares the folder and clears away what nobody holds any more.
func openGhosts(dir string) (*ghosts, error) {
	g := &ghosts{dir: filepath.Join(dir, "ghosts")}
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return nil, err
	}
	return g, g.edit(func() error {
		entries, err := os.ReadDir(g.dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Name() != editName {
				g.sweep(filepath.Join(g.dir, e.Name()))
			}
		}
		return nil
	})
}

const editName = "edit"

// edit runs f under the folder's lock.
func (g *ghosts) edit(f func() error) error {
	lock, err := os.OpenFile(filepath.Join(g.dir, editName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := flock(lock, unix.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", g.dir, err)
	}
	return f()
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (g *ghosts) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(g.dir, hex.EncodeToString(sum[:16]))
}

// hold makes what is absent, and holds it and every ghost of others that the layout leans on. What has gone since the
// layout was made is made anew, or taken out.
func (g *ghosts) hold(l *fence.Layout) error {
	return g.edit(func() error {
		for _, a := range l.Absent {
			if err := g.make(a); err != nil {
				return err
			}
		}
		var kept []string
		for _, path := range l.Closed {
			_, err := os.Lstat(path)
			switch {
			case err != nil && comesAndGoes(path):
				if err := g.make(absentAt(path)); err != nil {
					return err
				}
			case err != nil:
				l.Told = append(l.Told, path)
				continue
			default:
				if err := g.share(path, false); err != nil {
					return err
				}
			}
			kept = append(kept, path)
		}
		l.Closed = kept
		gone := func(path string) bool {
			_, err := os.Lstat(path)
			return err != nil
		}
		l.Absent = slices.DeleteFunc(l.Absent, func(a fence.Absent) bool { return gone(a.Path) })
		l.Pinned = slices.DeleteFunc(l.Pinned, gone)
		l.Hidden = slices.DeleteFunc(l.Hidden, func(h fence.Hidden) bool { return gone(h.Path) })
		l.Writable = slices.DeleteFunc(l.Writable, gone)
		return nil
	})
}

// comesAndGoes reports whether a path may have been a ghost of somebody else.
func comesAndGoes(path string) bool {
	switch name := filepath.Base(path); name {
	case "hooks", "info", "commondir":
		return true
	default:
		return strings.HasPrefix(name, ".") && !strings.Contains(name[1:], ".")
	}
}

func absentAt(path string) fence.Absent {
	a := fence.Absent{Path: path}
	if filepath.Base(path) == "commondir" {
		a.Text = ".\n"
	}
	return a
}

// make makes a ghost, unless something is there, and holds it. A folder that cannot be written needs none.
func (g *ghosts) make(a fence.Absent) error {
	var err error
	if a.Text == "" {
		err = os.Mkdir(a.Path, 0o755)
	} else {
		err = writeNew(a.Path, a.Text)
	}
	switch {
	case err == nil:
		return g.share(a.Path, true)
	case errors.Is(err, os.ErrExist):
		return g.share(a.Path, false)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission), errors.Is(err, unix.EROFS):
		return nil // nobody can make it later either
	default:
		return fmt.Errorf("holding %s: %w", a.Path, err)
	}
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

// share holds a ghost. With made it is a new one; otherwise something that is no ghost is left alone.
func (g *ghosts) share(path string, made bool) error {
	how := os.O_RDWR
	if made {
		how |= os.O_CREATE
	}
	f, err := os.OpenFile(g.file(path), how, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the user's own
	}
	if err != nil {
		return err
	}
	if made {
		if _, err := f.WriteString(path); err != nil {
			f.Close()
			return err
		}
	}
	if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf("holding %s: %w", path, err)
	}
	g.held = append(g.held, f)
	return nil
}

// close lets go, and takes away what nobody else holds.
func (g *ghosts) close() error {
	return g.edit(func() error {
		for _, f := range g.held {
			name := f.Name()
			_ = f.Close()
			g.sweep(name)
		}
		g.held = nil
		return nil
	})
}

// sweep takes one ghost away that nobody holds. What the user put something into stays.
func (g *ghosts) sweep(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil || !filepath.IsAbs(string(raw)) {
		_ = os.Remove(name)
		return
	}
	path := string(raw)
	if info, err := os.Lstat(path); err == nil {
		switch {
		case info.IsDir():
			_ = unix.Rmdir(path) // refuses one that is not empty
		case info.Mode().IsRegular() && info.Size() == int64(len(".\n")):
			_ = os.Remove(path)
		}
	}
	_ = os.Remove(name)
}
