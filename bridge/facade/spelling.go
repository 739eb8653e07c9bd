package facade

import (
	"path/filepath"
	"strings"
)

// root is a folder of a session that the client names by way of a link.
type root struct {
	said string // as the client names it
	real string // where it is: so the record and the fences name it
}

// rootsOf are those of the params that opened a session.
func rootsOf(params []byte) (all []root) {
	p, err := readPlace(params)
	if err != nil {
		return nil
	}
	for _, dir := range append([]string{p.Cwd}, p.Roots...) {
		said := filepath.Clean(dir)
		if real, err := filepath.EvalSymlinks(said); err == nil && real != said {
			all = append(all, root{said, real})
		}
	}
	return all
}

// spelt is a path as the client names it: a client knows its buffers by the names
// of its own folders, and has no text under any other.
func (e *entry) spelt(path string) string {
	e.mu.Lock()
	roots := e.opening.roots
	e.mu.Unlock()
	for _, r := range roots {
		if _, ok := below(r.said, path); ok {
			return path
		}
	}
	for _, r := range roots {
		if rest, ok := below(r.real, path); ok {
			return r.said + rest
		}
	}
	return path
}

// below is what of a path stands behind a folder.
func below(dir, path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	return rest, ok && (rest == "" || rest[0] == filepath.Separator)
}
