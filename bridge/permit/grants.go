package permit

import (
	"path/filepath"
	"strings"
	"sync"
)

// Cover says what the permissions of a turn say about a write to one file.
type Cover int

// What Covers answers.
const (
	Unasked Cover = iota // no permission of this turn is for it
	Granted              // the last one that names the file was allowed, and is for this write
	Refused              // the last one that names the file was refused
)

// Bounds of the memory of one turn; what does not fit stays Unasked.
const (
	maxGrants     = 1 << 16
	maxGrantBytes = 64 << 20
)

// Grants remembers, for the length of one turn, which writes the agent was
// allowed. The zero value with a Place is ready; methods are safe for concurrent
// use. Files are compared by their cleaned absolute names.
//
// A permission gives what the person was shown, and no more:
//
//   - With diffs it is for the files of the diffs, and for what they show: the
//     new text itself, or what comes of putting it in the place of the old.
//     Other files that the card lists are not granted: who looks at a diff does
//     not look for them. Line endings do not count.
//   - Without a diff it is for the files that it names, whatever is written, and
//     once each: nobody saw what it would be.
//
// A lasting answer gives no more here: its rule decides about later writes.
//
// A refusal holds for every file that the card names, whatever is written.
type Grants struct {
	Place Place

	mu    sync.Mutex
	files map[string]*grant
	bytes int
}

// grant is what the last permission said about one file.
type grant struct {
	cover Cover
	once  bool   // whatever is written, and used up by the first write
	diffs []Diff // what was shown
}

func (g *grant) size() (n int) {
	for _, d := range g.diffs {
		n += len(d.New)
		if d.Old != nil {
			n += len(*d.Old)
		}
	}
	return n
}

// Record takes in a settled card. Only edits count: leave to run a command or
// to look into a folder is no leave to write.
func (g *Grants) Record(c *Card, o Outcome) {
	if c.Request.Kind != Edit && (o.Allowed || len(c.Diffs) == 0) {
		return
	}
	given := make(map[string]*grant)
	for _, d := range c.Diffs {
		if path, ok := g.name(d.Path); ok {
			if given[path] == nil {
				given[path] = &grant{cover: Granted}
			}
			given[path].diffs = append(given[path].diffs, d)
		}
	}
	for _, t := range targets(c) {
		path, ok := g.name(t.path)
		switch {
		case !ok || !t.write:
		case !o.Allowed:
			given[path] = &grant{cover: Refused}
		case len(c.Diffs) == 0:
			given[path] = &grant{cover: Granted, once: true}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, own := range given {
		g.putLocked(path, own)
	}
}

func (g *Grants) putLocked(path string, own *grant) {
	if old := g.files[path]; old != nil {
		g.bytes -= old.size()
		delete(g.files, path)
	}
	if len(g.files) >= maxGrants || g.bytes+own.size() > maxGrantBytes {
		return
	}
	if g.files == nil {
		g.files = make(map[string]*grant)
	}
	g.files[path] = own
	g.bytes += own.size()
}

func (g *Grants) name(path string) (string, bool) {
	abs, ok := g.Place.resolve(path)
	return filepath.Clean(abs), ok
}

// Covers says what this turn's permissions say about a write of content to path,
// and uses one up that is for one write. before gives the file's present text;
// it is called where a diff shows only a part, and nothing is locked meanwhile.
func (g *Grants) Covers(path, content string, before func() string) Cover {
	name, ok := g.name(path)
	if !ok {
		return Unasked
	}
	g.mu.Lock()
	own := g.files[name]
	if own != nil && own.once {
		delete(g.files, name)
	}
	g.mu.Unlock()
	switch {
	case own == nil:
		return Unasked
	case own.cover == Refused || own.once || own.shows(content, before):
		return own.cover
	default:
		return Unasked
	}
}

// shows reports whether content is what the diffs said the file would be.
func (g *grant) shows(content string, before func() string) bool {
	content = unified(content)
	if len(g.diffs) > 0 && unified(g.diffs[len(g.diffs)-1].New) == content {
		return true
	}
	text := unified(before())
	for _, d := range g.diffs {
		if d.Old == nil || *d.Old == "" {
			return false // the whole text, and another
		}
		head, tail, found := strings.Cut(text, unified(*d.Old))
		if !found {
			return false
		}
		text = head + unified(d.New) + tail
	}
	return text == content
}

// unified is a text with LF for CRLF.
func unified(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// Clear forgets everything: the turn is over.
func (g *Grants) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files, g.bytes = nil, 0
}
