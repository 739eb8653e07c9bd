package permit

import (
	"path/filepath"
	"sync"
)

// Cover says what the permissions of a turn say about a write to one file.
type Cover int

// What Covers answers.
const (
	Unasked Cover = iota // no permission of this turn names it
	Granted              // the last one that names it was allowed
	Refused              // the last one that names it was refused
)

// maxGrants bounds the memory of one turn; what does not fit stays Unasked.
const maxGrants = 1 << 16

// Grants remembers, for the length of one turn, which files the agent may
// change: those that an allowed edit named in its diffs, locations or input.
// Files are compared by their cleaned absolute names. The zero value with a
// Place is ready; methods are safe for concurrent use.
type Grants struct {
	Place Place

	mu    sync.Mutex
	files map[string]Cover
}

// Record takes in a settled card. Only edits count: leave to run a command or
// to look into a folder is no leave to write.
func (g *Grants) Record(c *Card, o Outcome) {
	if c.Request.Kind != Edit && (o.Allowed || len(c.Diffs) == 0) {
		return
	}
	cover := Refused
	if o.Allowed {
		cover = Granted
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range targets(c) {
		path, ok := g.Place.resolve(t.path)
		if !ok || !t.write {
			continue
		}
		if g.files == nil {
			g.files = make(map[string]Cover)
		}
		if len(g.files) < maxGrants {
			g.files[filepath.Clean(path)] = cover
		}
	}
}

// Covers says what this turn's permissions say about a write to path.
func (g *Grants) Covers(path string) Cover {
	abs, ok := g.Place.resolve(path)
	if !ok {
		return Unasked
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.files[filepath.Clean(abs)]
}

// Clear forgets everything: the turn is over.
func (g *Grants) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files = nil
}
