package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sallyport/workspace/checkpoint/ignore"
)

// repository is a git work tree that a folder of the root is in. Only the list of tracked paths in its index is read, and only when
// something is ignored: git does not ignore what it tracks.
type repository struct {
	above  *repository // around it; an empty .git does not hide what that tracks
	dir    string      // of the work tree, as the system calls it
	cut    int         // bytes of a path of the root before what is relative to the work tree
	prefix string      // before the root's paths, when the work tree begins above the root

	mu    sync.Mutex
	seen  *walk // that looked at the files last
	files []indexFile
	index *ignore.Index
	doubt bool // the index cannot be read
}

// indexFile is a file that an index was read from; a missing one has no info.
type indexFile struct {
	name string
	info fs.FileInfo
}

// in finds the names in an ignored folder that are tracked or lead to what is; all says that it cannot be known.
func (r *repository) in(w *walk, folder string) (names []string, all bool) {
	for ; r != nil; r = r.above {
		index, doubt := r.load(w)
		if doubt {
			return nil, true
		}
		names = append(names, index.In(r.prefix+folder[r.cut:])...)
	}
	return names, false
}

// has says whether a file is tracked, or it cannot be known.
func (r *repository) has(w *walk, path string) bool {
	for ; r != nil; r = r.above {
		if index, doubt := r.load(w); doubt || index.Has(r.prefix+path[r.cut:]) {
			return true
		}
	}
	return false
}

// load reads the index if it changed since the last walk.
func (r *repository) load(w *walk) (*ignore.Index, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == w {
		return r.index, r.doubt
	}
	r.seen = w
	if r.index != nil && !r.doubt && r.sameLocked() {
		return r.index, false
	}
	r.index, r.files = &ignore.Index{}, nil
	r.doubt = r.readLocked() != nil
	return r.index, r.doubt
}

func (r *repository) sameLocked() bool {
	for _, f := range r.files {
		info, err := os.Stat(f.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || (info == nil) != (f.info == nil) || info != nil && !unchanged(f.info, info) {
			return false
		}
	}
	return true
}

func (r *repository) readLocked() error {
	git := filepath.Join(r.dir, ".git")
	text, err := r.fileLocked(git, 4<<10)
	if errors.Is(err, errNoFile) {
		err = nil // a folder
	} else if to, ok := strings.CutPrefix(string(text), "gitdir: "); ok {
		if git = strings.TrimRight(to, "\r\n"); !filepath.IsAbs(git) {
			git = filepath.Join(r.dir, git)
		}
	}
	for name := "index"; name != "" && err == nil; {
		var data []byte
		if data, err = r.fileLocked(filepath.Join(git, name), maxIndex); data == nil || err != nil {
			break
		}
		var some *ignore.Index
		if some, name, err = ignore.ParseIndex(data); err == nil {
			r.index.Add(some)
		}
		if len(r.files) > 3 {
			break // a split index has two, whatever they say
		}
	}
	return err
}

const maxIndex = 256 << 20

// fileLocked reads a file; nil when it is not there.
func (r *repository) fileLocked(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		r.files = append(r.files, indexFile{name: name})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %d bytes are too many", name, info.Size())
	}
	r.files = append(r.files, indexFile{name, info})
	data, err := io.ReadAll(io.LimitReader(f, most))
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// repositoryAbove is the one that a folder is in, whatever is in itself.
func (n *node) repositoryAbove() *repository {
	if n.parent == nil {
		return nil
	}
	return n.parent.rules.repository
}

// repositoryAbove finds for the root the one around it, that of the last walk if it is there.
func (w *walk) repositoryAbove(n *node) *repository {
	if n.parent != nil {
		return n.parent.rules.repository
	}
	for r := n.rules.repository; r != nil; r = r.above {
		if r.prefix != "" {
			return r
		}
	}
	return repositoryAround(w.root)
}

// repositoryIn is the one that begins in a folder, that of the last walk if it is there.
func (w *walk) repositoryIn(n *node, above *repository) *repository {
	path := n.path()
	r := &repository{above: above, dir: filepath.Join(w.root, filepath.FromSlash(path))}
	if path != "" {
		r.cut = len(path) + 1
	}
	if old := n.rules.repository; old != nil && old.above == above && old.dir == r.dir {
		return old
	}
	return r
}

// repositoryAround is the one that begins above the root, or nil.
func repositoryAround(root string) *repository {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			rel, ok := beneath(real, dir)
			if !ok {
				return nil
			}
			return &repository{dir: dir, prefix: filepath.ToSlash(rel) + "/"}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
