package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 32

// place is where a path leads: every link followed as far as something exists, the rest appended.
type place struct {
	parsed
	nodes []fs.FileInfo // nodes[i] is what stands at comps[:i]; never a link; shorter than comps+1 when the rest is missing
	via   [][]string    // where each link stood that was followed
}

// exists reports whether the last component stands on disk.
func (pl *place) exists() bool { return len(pl.nodes) == len(pl.comps)+1 }

// errMoved means that the disk changed between two looks at it; the caller starts anew.
var errMoved = errors.New("the path changed while it was opened")

// errLinks means that the path cannot be resolved: a loop, or a link to nowhere that can be named.
var errLinks = errors.New("its links lead nowhere")

// resolve follows every link of p. A missing file is no error; a folder that cannot be looked into is.
func resolve(p parsed) (*place, error) {
	r := resolver{fl: native(), todo: p.comps, place: place{parsed: parsed{vol: p.vol}}}
	if err := r.root(); err != nil {
		return nil, err
	}
	for len(r.todo) > 0 {
		c := r.todo[0]
		r.todo = r.todo[1:]
		if c == ".." { // only from a link's target, so after links: the folder's own parent
			if len(r.comps) > 0 {
				r.comps, r.nodes = r.comps[:len(r.comps)-1], r.nodes[:len(r.nodes)-1]
			}
			continue
		}
		missing, err := r.step(c)
		if err != nil {
			return nil, err
		}
		if missing {
			break
		}
	}
	return &r.place, nil
}

// resolver is the state of one resolve.
type resolver struct {
	place
	fl   flavour
	todo []string
	hops int
}

func (r *resolver) root() error {
	info, err := os.Lstat(r.fl.join(r.vol, nil))
	if err != nil {
		return err
	}
	r.comps, r.nodes = nil, append(r.nodes[:0:0], info)
	return nil
}

// step goes into component c of the current folder, and reports true when there is nothing.
func (r *resolver) step(c string) (missing bool, err error) {
	// A fresh slice each time a component is added would cost; the three-index slices in via keep what they hold.
	r.comps = append(r.comps, c)
	path := r.fl.join(r.vol, r.comps)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // a file where a folder would be: nothing is in it
		for _, rest := range r.todo {
			if rest == ".." {
				return false, errLinks
			}
		}
		r.comps = append(r.comps, r.todo...)
		return true, nil
	case err != nil:
		return false, err
	}
	target, isLink, err := readLink(path, info)
	if err != nil {
		return false, err
	}
	if !isLink {
		r.nodes = append(r.nodes, info)
		return false, nil
	}
	if r.hops++; r.hops > maxLinks {
		return false, errLinks
	}
	r.via = append(r.via, append([]string(nil), r.comps...))
	r.comps = r.comps[:len(r.comps)-1]
	return false, r.follow(target)
}

// follow puts a link's target before what is still to do.
func (r *resolver) follow(target string) error {
	rest := target
	if vol, tail, why := r.fl.volumeOfTarget(target); why == "" {
		r.vol, rest = vol, tail
		if err := r.root(); err != nil {
			return err
		}
	}
	var todo []string
	for c := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == '/' || r.fl == windowsPaths && c == '\\' }) {
		if c == "." {
			continue
		}
		if c != ".." && r.fl.component(c) != "" {
			return errLinks
		}
		todo = append(todo, c)
	}
	r.todo = append(todo, r.todo...)
	return nil
}

// volumeOfTarget is volume for the target of a link, where Windows writes its own prefixes; why is not empty for a relative one.
func (f flavour) volumeOfTarget(target string) (vol, rest, why string) {
	if target == "" {
		return "", "", notAbsolute
	}
	if f == windowsPaths {
		target = strings.TrimPrefix(strings.TrimPrefix(target, `\??\`), `\\?\`)
		if unc, ok := strings.CutPrefix(target, `UNC\`); ok {
			target = `\\` + unc
		}
	}
	return f.volume(target)
}

// readLink returns the target of a link. A reparse point that is neither folder, file nor readable link is an error.
func readLink(path string, info fs.FileInfo) (target string, isLink bool, err error) {
	mode := info.Mode()
	if mode&fs.ModeSymlink == 0 && (mode&fs.ModeIrregular == 0 || native() != windowsPaths) {
		return "", false, nil
	}
	target, err = os.Readlink(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) {
		return "", false, errMoved
	}
	if err != nil {
		return "", false, fmt.Errorf("reading link: %w", err)
	}
	return target, true, nil
}

// Resolve is where an absolute path leads: every link followed as far as something exists, the rest appended. What cannot
// be looked at stays as it is.
func Resolve(path string) string {
	p, why := native().parseFolder(path)
	if why != "" {
		return path
	}
	pl, err := resolve(p)
	if err != nil {
		return path
	}
	return native().join(pl.vol, pl.comps)
}
