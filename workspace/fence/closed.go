package fence

import (
	"io/fs"
	"os"
	"slices"
)

// verdict is what a refusal says.
type verdict struct {
	kind  Kind
	what  string // the path or pattern as declared
	why   string
	reads bool // closed to reads too
}

// closed is one folder (or file) that is closed as a whole. It is immutable.
type closed struct {
	verdict
	vol   string
	at    [][]string // as declared, as resolved, and every other mount of a part of it
	path  string     // as resolved at declaration
	first fs.FileInfo
	born  int64 // birth time of first, 0 when unknown, so that a reused inode number is not taken for it
}

// newClosed compiles a path that is to be closed. It need not exist yet. One that cannot be looked at (no permission, no
// such home) is closed by its text alone.
func newClosed(v verdict, p parsed) *closed {
	pl, err := resolve(p)
	if err != nil {
		pl = &place{parsed: p}
	}
	c := &closed{verdict: v, vol: pl.vol, at: [][]string{pl.comps}, path: native().join(pl.vol, pl.comps)}
	if pl.vol == p.vol && !slices.Equal(pl.comps, p.comps) {
		c.at = append(c.at, p.comps)
	}
	if !pl.exists() {
		return c
	}
	c.first = pl.nodes[len(pl.nodes)-1]
	c.born = birth(c.first, c.path)
	for _, alias := range mountsInside(c.path) {
		if m, why := native().parseFolder(alias); why == "" {
			c.at = append(c.at, m.comps)
		}
	}
	return c
}

// holdsName reports whether a path lies in the folder by its text.
func (c *closed) holdsName(p parsed) bool {
	return p.vol == c.vol && slices.ContainsFunc(c.at, func(at []string) bool {
		return hasPrefix(p.comps, at, native().folds())
	})
}

// holds reports whether a place lies in the folder, by text or by what stands on disk: what stands there now, and what
// stood there when it was declared, wherever that is now.
func (c *closed) holds(pl *place) bool {
	if c.holdsName(pl.parsed) {
		return true
	}
	is := c.identify()
	for i, n := range pl.nodes {
		if is(n, func() string { return native().join(pl.vol, pl.comps[:i]) }) {
			return true
		}
	}
	return false
}

// identify looks at the folder once and returns a test for something else on disk being the same thing.
func (c *closed) identify() func(node fs.FileInfo, path func() string) bool {
	now, err := os.Stat(c.path)
	if err != nil {
		now = nil
	}
	moved := c.first != nil && (now == nil || !os.SameFile(now, c.first))
	return func(node fs.FileInfo, path func() string) bool {
		if now != nil && os.SameFile(node, now) {
			return true
		}
		if !moved || !os.SameFile(node, c.first) {
			return false
		}
		born := birth(node, path())
		return born == c.born || born == 0 || c.born == 0
	}
}

// Birth is when what info tells of came to be, in nanoseconds, if that is known and it still stands at path; otherwise 0. A
// folder that is made where one was removed often has that one's number, and another birth.
func Birth(info fs.FileInfo, path string) int64 { return birth(info, path) }

// OtherNames lists the other paths under which mounts show a folder now.
func OtherNames(folder string) []string { return otherNames(folder) }
