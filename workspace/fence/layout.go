package fence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Layout is what a policy asks of the kernel for a whole process tree: the same fences as CheckRead and CheckWrite, told as
// paths that exist now. All paths are absolute, every link followed. What the kernel cannot be told is in Limits.
type Layout struct {
	// Folder is the session's.
	Folder string
	// Writable are the folders, and files, of the region.
	Writable []string
	// Closed exist and are not to be written, wherever they lie.
	Closed []string
	// Pinned folders must not be moved away, or what is closed in them would be open under another name.
	Pinned []string
	// Absent are to be held although nothing stands there.
	Absent []Absent
	// Hidden are neither to be read nor written.
	Hidden []Hidden
	// Told are reserved paths that cannot be held, mostly because nothing stands there: what happens to them is to be told.
	Told []string
	// Limits are sentences on what is held only for what passes through CheckRead and CheckWrite.
	Limits []string
}

// Absent is a place that is to be held although nothing is there.
type Absent struct {
	Path string
	Text string // of a file; "" for an empty folder
}

// Hidden is a folder or file that is neither read nor written.
type Hidden struct {
	Path   string
	Kind   Kind // Private, Reserved for our own state, Unreadable
	Folder bool
	Open   []string // names directly in the folder that stay readable
}

// Bounds of a survey: what a project may cost at the start of an agent.
const (
	maxSurveyed  = 60_000 // entries of folders looked at
	maxSurveyHit = 400    // reserved and unreadable paths found in the region
	maxMatches   = 1_000  // paths that a pattern of the region matches
)

// Layout surveys the disk. An error is one of ctx, or of a folder of the session that cannot be looked at.
func (p *Policy) Layout(ctx context.Context) (*Layout, error) {
	s := &survey{policy: p, ctx: ctx, layout: &Layout{Folder: p.home.path}, seen: map[string]bool{}}
	s.reserved, s.unreadable = newLastNames(p.reserved), newLastNames(p.unreadable)
	for i := range p.bases {
		if b := &p.bases[i]; b.writable {
			s.region(b)
		}
	}
	for _, c := range p.allClosed() {
		s.closed(c)
	}
	s.home()
	for i := range p.bases {
		if err := s.base(&p.bases[i]); err != nil {
			return nil, err
		}
	}
	if s.cut {
		s.limit("the session's folders are large: reserved and unreadable files deep inside them are held only for what passes through Sallyport")
	}
	if s.hits > maxSurveyHit {
		s.limit(fmt.Sprintf("the session's folders hold more than %d reserved and unreadable files: the others are held only for what passes through Sallyport", maxSurveyHit))
	}
	return s.layout.tidy(), nil
}

// survey makes a layout.
type survey struct {
	policy               *Policy
	ctx                  context.Context
	layout               *Layout
	reserved, unreadable lastNames
	seen                 map[string]bool // folders that were walked
	entries, hits        int
	root                 string   // the folder of the session that is walked
	tracked              *tracked // of root, once it was asked for
	cut                  bool     // the walk ended early
}

func (s *survey) limit(text string) {
	if !slices.Contains(s.layout.Limits, text) {
		s.layout.Limits = append(s.layout.Limits, text)
	}
}

// region adds what an entry of the region opens.
func (s *survey) region(b *base) {
	l := s.layout
	if b.glob == "" {
		info, err := os.Stat(b.path)
		switch {
		case err != nil:
			s.limit(b.entry + " of the region does not exist: only writes through Sallyport can make it")
		case s.policy.writableAt(b.path, info.IsDir()):
			l.Writable = append(l.Writable, b.path)
		}
		return
	}
	matches := 0
	_ = doublestar.GlobWalk(os.DirFS(b.path), b.glob, func(name string, d os.DirEntry) error { // the pattern was checked
		if matches++; matches > maxMatches || s.ctx.Err() != nil {
			return doublestar.SkipDir
		}
		path := filepath.Join(b.path, filepath.FromSlash(name))
		if d.Type()&os.ModeSymlink == 0 && s.policy.writableAt(path, d.IsDir()) {
			l.Writable = append(l.Writable, path)
		}
		return nil
	})
	s.limit("of the pattern " + b.text() + " an agent's own tools write what it matches now; new files there are made through Sallyport")
}

// writableAt reports whether the policy lets all but reserved names be written at a path.
func (p *Policy) writableAt(path string, folder bool) bool {
	if folder {
		path = filepath.Join(path, "x")
	}
	return p.CheckWrite(path) == nil
}

// closed adds a folder or file that is closed as a whole, under each of its names.
func (s *survey) closed(c *closed) {
	info, err := os.Stat(c.path)
	if err != nil {
		if !c.reads {
			s.layout.Told = append(s.layout.Told, c.path)
		}
		return
	}
	paths := append([]string{c.path}, otherNames(c.path)...)
	for _, at := range c.at[1:] {
		paths = append(paths, native().join(c.vol, at))
	}
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if c.reads {
			s.layout.Hidden = append(s.layout.Hidden, Hidden{Path: real, Kind: c.kind, Folder: info.IsDir()})
		} else {
			s.layout.Closed = append(s.layout.Closed, real)
		}
	}
}

// base looks for reserved and unreadable names in a folder of the session.
func (s *survey) base(b *base) error {
	info, err := os.Stat(b.path)
	if err != nil || !info.IsDir() {
		return nil // region says so
	}
	if _, err := os.ReadDir(b.path); err != nil {
		return fmt.Errorf("looking at %s: %w", b.path, err)
	}
	if err := s.walk(b.path); err != nil {
		return err
	}
	if !s.inWritable(b.path) {
		return nil
	}
	for _, name := range Placeholders() {
		s.hold(filepath.Join(b.path, name))
	}
	for _, name := range builtinReserved() {
		if strings.ContainsAny(name, "*?[{/") || name == ".git" {
			continue
		}
		path := filepath.Join(b.path, name)
		if _, err := os.Lstat(path); err != nil && !slices.ContainsFunc(s.layout.Absent, func(a Absent) bool { return a.Path == path }) {
			s.layout.Told = append(s.layout.Told, path)
		}
	}
	if info, err := os.Lstat(filepath.Join(b.path, ".git")); err == nil && info.Mode().IsRegular() {
		s.gitPointer(b.path)
	}
	return nil
}

// hold adds an absent folder, if it is absent.
func (s *survey) hold(path string) {
	if _, err := os.Lstat(path); os.IsNotExist(err) {
		s.layout.Absent = append(s.layout.Absent, Absent{Path: path})
	}
}

func (s *survey) inWritable(path string) bool {
	return slices.ContainsFunc(s.layout.Writable, func(w string) bool { return Beneath(path, w) })
}

// Beneath reports whether path is folder or lies in it, by their text. Both are clean.
func Beneath(path, folder string) bool {
	if path == folder {
		return true
	}
	sep := string(filepath.Separator)
	return strings.HasPrefix(path, strings.TrimSuffix(folder, sep)+sep)
}

// tidy sorts each list and drops repeats, and what lies in something hidden.
func (l *Layout) tidy() *Layout {
	slices.SortFunc(l.Hidden, func(a, b Hidden) int { return strings.Compare(a.Path, b.Path) })
	var hidden []Hidden
	for _, h := range l.Hidden {
		if !slices.ContainsFunc(hidden, func(o Hidden) bool { return o.Folder && Beneath(h.Path, o.Path) }) {
			hidden = append(hidden, h)
		}
	}
	l.Hidden = hidden
	covered := func(path string) bool {
		return slices.ContainsFunc(hidden, func(h Hidden) bool { return Beneath(path, h.Path) })
	}
	for _, list := range []*[]string{&l.Writable, &l.Closed, &l.Pinned, &l.Told} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), covered)
	}
	slices.SortFunc(l.Absent, func(a, b Absent) int { return strings.Compare(a.Path, b.Path) })
	l.Absent = slices.DeleteFunc(slices.Compact(l.Absent), func(a Absent) bool { return covered(a.Path) })
	return l
}
