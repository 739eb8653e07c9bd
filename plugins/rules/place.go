package rules

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// place is what names of files are relative to.
type place struct {
	folders []string // where a line may be: the request's folder, and where cd leads
	home    string
	lost    bool // it may be elsewhere, too
	fold    bool // names are not told by case
}

// maxFolders bounds the folders of a line; more are not known.
const maxFolders = 16

// placesOf is where the parts of a line may be. Which of them runs where is not
// told apart: cd may stand in a subshell, or fail. moves is true if that is
// anywhere else than in the request's folder.
func placesOf(q *Request, parts []part) (at place, moves bool) {
	at = place{folders: []string{q.Folder}, home: q.Home, fold: folded}
	at.move(q.In)
	for i := range parts {
		at.move(parts[i].moves)
	}
	return at, at.lost || len(at.folders) > 1
}

// move notes that a line may be in another folder; the empty name is none.
func (p *place) move(to string) {
	if to == "" {
		return
	}
	files, known := p.files(to)
	p.lost = p.lost || !known
	for _, file := range files {
		switch {
		case strings.IndexByte(file, wild) >= 0 || len(p.folders) == maxFolders:
			p.lost = true
		case !slices.Contains(p.folders, file):
			p.folders = append(p.folders, file)
		}
	}
}

// files are the absolute, slashed, clean paths that a name may stand for, with
// wild in them. known is false if there may be others.
func (p *place) files(name string) (files []string, known bool) {
	if name == "" || strings.ContainsAny(name, "\x00\x03") {
		return nil, false
	}
	name = filepath.ToSlash(name)
	if runtime.GOOS == "windows" {
		name = windowsName(name)
	}
	switch {
	case name[0] == '/' || filepath.IsAbs(name):
		return []string{path.Clean(name)}, true
	case name == "~" || strings.HasPrefix(name, "~/"):
		if p.home == "" {
			return nil, false
		}
		return []string{path.Clean(filepath.ToSlash(p.home) + name[1:])}, true
	case name[0] == '~' || strings.Contains(name, "://"):
		return nil, false
	}
	for _, folder := range p.folders {
		if folder == "" {
			return files, false
		}
		files = append(files, path.Clean(filepath.ToSlash(folder)+"/"+name))
	}
	return files, !p.lost
}

// windowsName is a path without what Windows does not look at: streams of a file, and
// points and spaces at the end of a name.
func windowsName(name string) string {
	steps := strings.Split(name, "/")
	for i, step := range steps {
		if i > 0 || len(step) != 2 { // C:
			step, _, _ = strings.Cut(step, ":")
		}
		if strings.Trim(step, ".") != "" {
			step = strings.TrimRight(step, ". ")
		}
		steps[i] = step
	}
	return strings.Join(steps, "/")
}

// base is the folder that a rule starts in; empty if it is not known.
func (p *place) base(of string) string {
	switch of {
	case atFolder:
		return p.folders[0]
	case atHome:
		return p.home
	default:
		return of
	}
}

// maxTries bounds the search for a way in which two names with wildcards meet;
// past it they may.
const maxTries = 1000

// meets reports whether some file that a name with wildcards stands for may be
// covered by the rule. whole: or some file in one.
func (f *fileRule) meets(p *place, file string, whole bool) bool {
	base := p.base(f.base)
	if base == "" {
		return false
	}
	glob := strings.NewReplacer(`\{`, "{", `\}`, "}").Replace(f.glob)
	pattern := path.Join(filepath.ToSlash(base), glob)
	if p.fold {
		pattern, file = strings.ToLower(pattern), strings.ToLower(file)
	}
	m := meeting{maxTries}
	return m.meet(strings.Split(pattern, "/"), strings.Split(file, "/"), whole)
}

type meeting struct{ left int }

// meet compares step by step. ** is any steps on either side.
func (m *meeting) meet(rule, name []string, whole bool) bool {
	if m.left--; m.left < 0 {
		return true
	}
	switch {
	case len(rule) == 0:
		return len(name) == 0 || name[0] == "\x04\x04" && m.meet(rule, name[1:], whole)
	case rule[0] == "**":
		for i := range len(name) + 1 {
			if m.meet(rule[1:], name[i:], whole && len(rule) == 1) {
				return true
			}
		}
		return false
	case len(name) == 0:
		return whole
	case name[0] == "\x04\x04":
		for i := range len(rule) + 1 {
			if m.meet(rule[i:], name[1:], whole) {
				return true
			}
		}
		return false
	}
	return step(rule[0], name[0]) && m.meet(rule[1:], name[1:], whole)
}

// step reports whether one name may match both. What begins with a wildcard
// does not stand for what begins with a point.
func step(rule, name string) bool {
	const wildcards = "*?[\\"
	if name[:min(1, len(name))] == string(rune(wild)) && strings.HasPrefix(rule, ".") {
		return false
	}
	r, n := strings.IndexAny(rule, wildcards), strings.IndexByte(name, wild)
	if r < 0 && n < 0 {
		return rule == name
	}
	ahead := min(r, n)
	if r < 0 || n < 0 {
		ahead = max(r, n)
	}
	if ahead > len(rule) || ahead > len(name) || rule[:ahead] != name[:ahead] {
		return false
	}
	behind := min(len(rule)-1-strings.LastIndexAny(rule, wildcards+"]"), len(name)-1-strings.LastIndexByte(name, wild))
	return behind <= len(rule) && behind <= len(name) && rule[len(rule)-behind:] == name[len(name)-behind:]
}
