package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"sallyport/workspace/text"
)

// Target is a place to write: an open folder, and one name in it. Whatever happens to the path afterwards, the folder is the
// one that was judged. The name is not a link, but may have become one since; to replace it by rename is safe.
type Target struct {
	Dir  *os.Root // the caller closes it
	Name string
	Path string // absolute, every link followed
}

// Writable judges a write to path and opens the folder that it goes to. Missing parents are made (0777 less umask) once the
// whole path has been judged.
//
// Errors: *Refusal, *SpecialError for a folder, or the system's.
func (p *Policy) Writable(path string) (*Target, error) {
	for range maxTries {
		pl, err := p.judge(Write, path)
		if err == nil {
			var t *Target
			if t, err = p.pin(path, pl); err == nil {
				return t, nil
			}
		}
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("writing %s: %w", text.Visible(path), errMoved)
}

// pin opens the parent of a judged place.
func (p *Policy) pin(path string, pl *place) (*Target, error) {
	if pl.exists() && pl.nodes[len(pl.nodes)-1].IsDir() {
		return nil, fmt.Errorf("writing: %w", &SpecialError{path, "folder"})
	}
	if last := pl.nodes[len(pl.nodes)-1]; !pl.exists() && !last.IsDir() {
		return nil, &fs.PathError{Op: "writing", Path: text.Visible(path), Err: syscall.ENOTDIR}
	}
	w := walk{policy: p, path: path, place: pl, at: p.anchor(pl), closed: p.identifiers()}
	if err := w.start(); err != nil {
		return nil, err
	}
	for w.at < len(pl.comps)-1 {
		if err := w.enter(); err != nil {
			w.dir.Close()
			return nil, err
		}
	}
	name := pl.comps[len(pl.comps)-1]
	if err := w.judgeName(name); err != nil {
		w.dir.Close()
		return nil, err
	}
	return &Target{Dir: w.dir, Name: name, Path: native().join(pl.vol, pl.comps)}, nil
}

// anchor is how many components are trusted: the outermost base on the way, which no agent can replace, or what exists of
// the way to it.
func (p *Policy) anchor(pl *place) int {
	n := len(pl.comps) - 1
	for i := range p.bases {
		if at, ok := p.bases[i].index(pl); ok {
			n = min(n, at)
		}
	}
	return min(n, len(pl.nodes)-1)
}

// identifier tells whether something on disk is a closed folder.
type identifier struct {
	verdict
	is func(node fs.FileInfo, path func() string) bool
}

func (p *Policy) identifiers() []identifier {
	var out []identifier
	for _, c := range p.allClosed() {
		out = append(out, identifier{c.verdict, c.identify()})
	}
	for i := range p.bases {
		for _, dir := range gitDirs(p.bases[i].path) {
			out = append(out, identifier{gitDirVerdict(), func(n fs.FileInfo, _ func() string) bool { return os.SameFile(n, dir) }})
		}
	}
	return out
}

// walk goes down to the parent of a place through real folders, each of them the one that was looked at.
type walk struct {
	policy *Policy
	path   string // as asked for
	place  *place
	at     int // dir is at comps[:at]
	dir    *os.Root
	closed []identifier
}

// start opens the anchor.
func (w *walk) start() error {
	dir, err := os.OpenRoot(native().join(w.place.vol, w.place.comps[:w.at]))
	if err != nil {
		return w.failed("opening the folder of", err)
	}
	if !sameDir(dir, w.place.nodes[w.at]) {
		dir.Close()
		return errMoved
	}
	w.dir = dir
	return nil
}

// enter goes one component down, and makes it if it was missing from the start.
func (w *walk) enter() error {
	name := w.place.comps[w.at]
	info, err := w.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && w.at+1 >= len(w.place.nodes) {
		if err := w.dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return w.failed("making a folder for", err)
		}
		info, err = w.dir.Lstat(name)
	}
	if err != nil {
		return w.failed("opening the folder of", err)
	}
	if !info.IsDir() {
		return errMoved // the judgement finds out what it is now
	}
	if err := w.judge(name, info); err != nil {
		return err
	}
	next, err := w.dir.OpenRoot(name)
	if err != nil {
		return w.failed("opening the folder of", err)
	}
	if !sameDir(next, info) {
		next.Close()
		return errMoved
	}
	w.dir.Close()
	w.dir = next
	w.at++
	return nil
}

// judgeName judges the last component, if it exists.
func (w *walk) judgeName(name string) error {
	info, err := w.dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return w.failed("looking at", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return errMoved
	}
	return w.judge(name, info)
}

// judge compares what stands at name in the open folder with what is closed, by identity.
func (w *walk) judge(name string, info fs.FileInfo) error {
	path := func() string { return native().join(w.place.vol, append(w.place.comps[:w.at:w.at], name)) }
	for _, c := range w.closed {
		if c.is(info, path) {
			return w.policy.refuse(Write, w.path, nil, c.verdict)
		}
	}
	if !mayAlias(name) {
		return nil
	}
	for i := range w.policy.reserved {
		for reserved, entry := range w.policy.reserved[i].exact {
			if other, err := w.dir.Lstat(reserved); err == nil && os.SameFile(other, info) {
				return w.policy.refuse(Write, w.path, nil, verdict{kind: Reserved, what: entry, why: reservedWhy(entry)})
			}
		}
	}
	return nil
}

// mayAlias reports names that a file system might take for another one which fold does not equate: those outside ASCII, and
// short names.
func mayAlias(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || r == '~' })
}

// failed words an error of the walk; what was there a moment ago and is gone starts the judgement anew.
func (w *walk) failed(doing string, err error) error {
	// The error of os.Root for a link that leads out is its own and has no number: the folder became a link.
	var number syscall.Errno
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || !errors.As(err, &number) {
		return errMoved
	}
	return fmt.Errorf("%s %s: %w", doing, text.Visible(w.path), err)
}

func sameDir(dir *os.Root, info fs.FileInfo) bool {
	now, err := dir.Stat(".")
	return err == nil && os.SameFile(now, info)
}
