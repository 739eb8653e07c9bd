package turns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sallyport/workspace/receipt"
)

// project is the folders of a session, links followed.
type project struct {
	folder string
	roots  []string // folder first, no two the same
}

// settleProject follows the links of folders that a caller names.
func settleProject(folder string, roots []string) (project, error) {
	p := project{}
	for i, name := range append([]string{folder}, roots...) {
		if !filepath.IsAbs(name) {
			return p, fmt.Errorf("folder %q is not absolute", name)
		}
		real := settle(name)
		if i == 0 {
			p.folder = real
		}
		known := false
		for _, other := range p.roots {
			known = known || other == real
		}
		if !known {
			p.roots = append(p.roots, real)
		}
	}
	return p, nil
}

// projectOf is a project as a journal or a trace has it.
func projectOf(roots [][]byte) project {
	p := project{}
	for _, r := range roots {
		p.roots = append(p.roots, string(r))
	}
	if len(p.roots) > 0 {
		p.folder = p.roots[0]
	}
	return p
}

// absoluteRoots says whether there are folders, all of them absolute.
func absoluteRoots(roots [][]byte) bool {
	for _, r := range roots {
		if !filepath.IsAbs(string(r)) {
			return false
		}
	}
	return len(roots) > 0
}

// bytes are the folders as a journal or a trace has them.
func (p project) bytes() [][]byte {
	var out [][]byte
	for _, r := range p.roots {
		out = append(out, []byte(r))
	}
	return out
}

// settle follows the links of an absolute path as far as it exists.
func settle(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at || !errors.Is(err, fs.ErrNotExist) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

// settleParent follows the links of the folder of a path, and not the path itself.
func settleParent(path string) string {
	path = filepath.Clean(path)
	return filepath.Join(settle(filepath.Dir(path)), filepath.Base(path))
}

// place finds the root of a settled path, and how it is called from there, slashed.
func (p project) place(path string) (root, rel string, ok bool) {
	for _, r := range p.roots {
		if rel, in := beneath(path, r); in && rel != "." && len(r) > len(root) {
			root, ok = r, true
		}
	}
	if ok {
		rel, _ = beneath(path, root)
	}
	return root, filepath.ToSlash(rel), ok
}

// overlaps says whether two projects have a folder in common.
func overlaps(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			_, in := beneath(x, y)
			_, around := beneath(y, x)
			if in || around {
				return true
			}
		}
	}
	return false
}

func beneath(name, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// absolute is the path of something in a root.
func absolute(root, path string) string { return filepath.Join(root, filepath.FromSlash(path)) }

// folder of our state, and of one project in it.
func (s *Store) dir() string                   { return filepath.Join(s.config.State, "turns") }
func (s *Store) dirOf(folder string) string    { return filepath.Join(s.dir(), receipt.Key(folder)) }
func (s *Store) tracesOf(folder string) string { return filepath.Join(s.dirOf(folder), "traces") }

// Project is the nearest folder at or above one that has turns, or the folder itself: what List and the others want.
func (s *Store) Project(folder string) string {
	settled := settle(folder)
	for at := settled; ; at = filepath.Dir(at) {
		for _, dir := range []string{s.receipts.Folder(at), s.dirOf(at)} {
			if _, err := os.Lstat(dir); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return settled
		}
	}
}

// projectDirs lists the folders of all projects.
func (s *Store) projectDirs() ([]string, error) {
	entries, err := os.ReadDir(s.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing projects: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(s.dir(), e.Name()))
		}
	}
	return out, nil
}

// validID says whether an id can be the name of a file.
func validID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return id[0] != '-'
}

// absoluteIn is a path as called from a folder.
func absoluteIn(folder, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	return filepath.Clean(name)
}
