package fence

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Placeholders are the reserved folders that are held in a folder of the session also while they are absent: those from
// which an editor or an agent takes commands when the folder is opened. Each is a real, empty folder for as long as it is
// held, so there are not more of them.
func Placeholders() []string {
	return []string{".vscode", ".idea", ".devcontainer", ".zed", ".claude", ".gemini", ".codex", ".qwen", ".cursor", ".agents"}
}

// unwalked are folders in which reserved names are not looked for: what a package manager puts there it also takes away
// again, and no program opens them as a project.
func unwalked(name string) bool {
	switch name {
	case "node_modules", "bower_components", ".venv", "venv", "__pycache__", ".tox":
		return true
	}
	return false
}

// walk looks through root, folder by folder, the shallow ones first.
func (s *survey) walk(root string) error {
	s.root = root
	for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		if s.seen[dir] || s.isHidden(dir) {
			continue
		}
		s.seen[dir] = true
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.entries >= maxSurveyed {
			s.cut = true
			return nil
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // whoever may not look there now is not helped by a fence
		}
		s.entries += len(entries)
		for _, e := range entries {
			if s.entry(dir, e) {
				queue = append(queue, filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// entry notes what an entry of a folder is, and reports whether to look into it.
func (s *survey) entry(dir string, e fs.DirEntry) (descend bool) {
	name := e.Name()
	folded, path := fold(name), filepath.Join(dir, name)
	switch {
	case folded == ".git":
		s.hit(func() { s.git(path, e) })
		return false
	case s.names(path, name, folded, s.unreadable, s.policy.unreadable):
		s.hit(func() {
			if !e.Type().IsRegular() || !s.shown(path) {
				s.unread(path, e)
			}
		})
		return false
	case s.names(path, name, folded, s.reserved, s.policy.reserved):
		s.hit(func() { s.keep(path, e) })
		return false
	}
	return e.IsDir() && !unwalked(name)
}

func (s *survey) hit(f func()) {
	if s.hits++; s.hits <= maxSurveyHit {
		f()
	}
}

// names reports whether lists close a path whose folders they do not close.
func (s *survey) names(path, name, folded string, quick lastNames, lists []names) bool {
	if !quick.may(folded) {
		return false
	}
	p, why := native().parse(path)
	if why != "" {
		return false
	}
	_, ok := matchAny(lists, p.comps, foldAll(p.comps), len(p.comps)-1)
	return ok
}

// keep closes something reserved to writes.
func (s *survey) keep(path string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink != 0 {
		s.layout.Told = append(s.layout.Told, path) // a link cannot be held: what it becomes is told
		if real, err := filepath.EvalSymlinks(path); err == nil {
			s.layout.Closed = append(s.layout.Closed, real)
		}
		return
	}
	s.layout.Closed = append(s.layout.Closed, path)
}

// unread hides something unreadable. What a link with such a name leads to is hidden where it lies in a folder of the session:
// elsewhere a link that an agent planted would hide the shell from the next one.
func (s *survey) unread(path string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink == 0 {
		s.layout.Hidden = append(s.layout.Hidden, Hidden{Path: path, Kind: Unreadable, Folder: e.IsDir()})
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !slices.ContainsFunc(s.policy.bases, func(b base) bool { return real != b.path && Beneath(real, b.path) }) {
		return
	}
	if info, err := os.Stat(real); err == nil && (info.Mode().IsRegular() || info.IsDir()) {
		s.layout.Hidden = append(s.layout.Hidden, Hidden{Path: real, Kind: Unreadable, Folder: info.IsDir()})
	}
}

func (s *survey) isHidden(path string) bool {
	return slices.ContainsFunc(s.layout.Hidden, func(h Hidden) bool { return Beneath(path, h.Path) })
}

// home hides the unreadable files of the user's home that stand in their usual places. The rest of the disk is not
// searched.
func (s *survey) home() {
	s.limit("files with secret names elsewhere on the disk than in the session's folders and the usual places of your home are closed only to reads through Sallyport")
	dir, err := os.UserHomeDir()
	if err != nil {
		return
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return
	}
	type place struct {
		path  string
		depth int
	}
	for queue := []place{{dir, 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if s.isHidden(at.path) || s.partly(at.path) {
			continue
		}
		entries, err := os.ReadDir(at.path)
		if err != nil || at.depth > 0 && len(entries) > maxHome {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			folded, path := fold(name), filepath.Join(at.path, name)
			if s.names(path, name, folded, s.unreadable, s.policy.unreadable) {
				s.hit(func() { s.unread(path, e) })
			} else if e.IsDir() && usual(at.depth, name) {
				queue = append(queue, place{path, at.depth + 1})
			}
		}
	}
}

// maxHome is how many entries a folder below the home may have to be one of the usual places.
const maxHome = 2_000

// usual reports whether a folder at a depth below home is one in which credentials stand: a dot folder of the home, and
// what is directly in one.
func usual(depth int, name string) bool {
	switch {
	case depth == 0:
		return strings.HasPrefix(name, ".") && name != ".cache" && name != ".npm" && name != ".Trash"
	case depth == 1:
		return name != "node_modules" && name != "registry"
	default:
		return depth == 2 && (name == "opencode" || name == "gh" || name == "gcloud")
	}
}

// partly hides a folder whose files are unreadable but for some, such as .ssh, and reports whether it is one: a file that is
// made in it later is hidden too.
func (s *survey) partly(dir string) bool {
	const any = "sallyport-any-name"
	if !s.names(filepath.Join(dir, any), any, any, s.unreadable, s.policy.unreadable) {
		return false
	}
	h := Hidden{Path: dir, Kind: Unreadable, Folder: true}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Type().IsRegular() && !s.names(filepath.Join(dir, e.Name()), e.Name(), fold(e.Name()), s.unreadable, s.policy.unreadable) {
			h.Open = append(h.Open, e.Name())
		}
	}
	s.layout.Hidden = append(s.layout.Hidden, h)
	return true
}

// lastNames answers quickly whether a name can be the last one of a path that names match. It may say yes too often.
type lastNames struct {
	exact map[string]bool
	ends  []string // "*.pem" as ".pem"
	globs []string
}

func newLastNames(lists []names) lastNames {
	l := lastNames{exact: map[string]bool{}}
	for i := range lists {
		for name := range lists[i].exact {
			l.exact[name] = true
		}
		for _, g := range lists[i].globs {
			last := g.deep[strings.LastIndexByte(g.deep, '/')+1:]
			if g.deep == "" {
				last = g.comps[len(g.comps)-1]
			}
			end, isEnd := strings.CutPrefix(last, "*")
			switch {
			case g.except:
			case !strings.ContainsAny(last, `*?[{\`):
				l.exact[last] = true
			case isEnd && !strings.ContainsAny(end, `*?[{\`):
				l.ends = append(l.ends, end)
			default:
				l.globs = append(l.globs, last)
			}
		}
	}
	slices.Sort(l.ends)
	l.ends = slices.Compact(l.ends)
	return l
}

func (l lastNames) may(folded string) bool {
	return l.exact[folded] || slices.ContainsFunc(l.ends, func(end string) bool { return strings.HasSuffix(folded, end) }) ||
		slices.ContainsFunc(l.globs, func(g string) bool { return doublestar.MatchUnvalidated(g, folded) })
}
