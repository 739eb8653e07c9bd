package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/workspace/fence"
)

// plan is a fence before it is given to a backend.
type plan struct {
	layout  *fence.Layout
	needs   Needs
	network Network
	temp    string   // the session's own folder for temporary files, on disk
	blank   string   // a file that nobody may open, on disk
	canary  string   // a file of ours that is there to be tried
	runtime []string // folders of sockets, replaced by empty ones
	sockets []string // closed sockets
	visible []string // paths that must stay visible though they may lie in /tmp: the program, the folder
}

// tmp is where programs expect temporary files.
const tmp = "/tmp"

// rank is what counts when one path is asked for twice; the higher one does.
type rank int

const (
	pinned  rank = iota // bound onto itself, so that it cannot be moved away
	open                // of the region
	private             // an empty folder or the session's temporary one, in place of the user's
	shown               // read only, inside a private one
	closed              // reserved: read only
	state               // of the agent: writable
	setting             // of the agent: read only
	hidden
)

// mount is one mask or opening.
type mount struct {
	path   string
	rank   rank
	source string   // what is bound there; "" for an empty folder
	folder bool     // hidden: it is one
	keep   []string // hidden: names in it that stay readable
	holds  bool     // hidden: a mount is made inside
}

// writable reports whether programs can write there.
func (m mount) writable() bool {
	return m.rank == pinned || m.rank == open || m.rank == state || m.rank == private
}

// mounts lists what to mount, parents first.
func (p *plan) mounts() []mount {
	byPath := map[string]mount{}
	add := func(m mount) {
		if was, ok := byPath[m.path]; !ok || m.rank > was.rank {
			byPath[m.path] = m
		}
	}
	same := func(r rank, paths []string) {
		for _, path := range paths {
			add(mount{path: path, rank: r, source: path})
		}
	}
	if !p.within(p.layout.Writable, tmp) { // else the user chose /tmp itself
		add(mount{path: tmp, rank: private, source: p.temp})
		// Under its own name too: codex reads the table of mounts, and wants to find what it names.
		add(mount{path: p.temp, rank: state, source: p.temp})
	}
	for _, dir := range p.runtime {
		add(mount{path: dir, rank: private})
	}
	same(shown, p.inTemp())
	same(pinned, p.layout.Pinned)
	same(open, p.layout.Writable)
	same(closed, p.layout.Closed)
	for _, a := range p.layout.Absent {
		same(closed, []string{a.Path})
	}
	same(state, p.needs.State)
	same(setting, p.needs.Settings)
	for _, s := range p.sockets {
		add(mount{path: s, rank: hidden, source: os.DevNull})
	}
	for _, h := range p.layout.Hidden {
		m := mount{path: h.Path, rank: hidden, folder: h.Folder, keep: h.Open}
		if !h.Folder {
			m.source = p.blank
		}
		add(m)
	}
	return sift(byPath)
}

// within reports whether a path is one of the folders or lies in one.
func (p *plan) within(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return fence.Beneath(path, f) })
}

// inTemp lists the entries of the user's /tmp in which something lies that the session needs.
func (p *plan) inTemp() []string {
	var all []string
	for _, list := range [][]string{p.visible, p.layout.Writable, {p.layout.Folder}} {
		for _, path := range list {
			rest, ok := strings.CutPrefix(path, tmp+"/")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(rest, "/")
			all = append(all, tmp+"/"+name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sift sorts, and leaves out what a mount above makes needless or would hide.
func sift(byPath map[string]mount) []mount {
	var out []mount
	for _, path := range sortedPaths(byPath) {
		m := byPath[path]
		above := enclosing(out, m.path)
		switch {
		case above == nil: // the root, which is read only
			if m.rank == closed || m.rank == setting || m.rank == pinned || m.rank == shown {
				continue
			}
		case above.rank == hidden:
			if m.rank != state || !above.folder {
				continue
			}
			above.holds = true
		case above.rank == private && above.source != "" && m.rank == hidden, above.rank == private && above.source == "" && m.rank == hidden:
			continue // nothing of the user's is there
		case !above.writable() && (m.rank == closed || m.rank == setting || m.rank == pinned || m.rank == shown):
			continue
		case m.rank == open && above.rank == open:
			continue
		}
		out = append(out, m)
	}
	return out
}

// enclosing is the innermost mount of a list, parents first, in which a path lies.
func enclosing(list []mount, path string) *mount {
	for i := len(list) - 1; i >= 0; i-- {
		if fence.Beneath(path, list[i].path) {
			return &list[i]
		}
	}
	return nil
}

// sortedPaths sorts by component, so that parents come first and what is in a folder follows it.
func sortedPaths(byPath map[string]mount) []string {
	paths := make([]string, 0, len(byPath))
	for path := range byPath {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return slices.Compare(strings.Split(a, string(filepath.Separator)), strings.Split(b, string(filepath.Separator)))
	})
	return paths
}
