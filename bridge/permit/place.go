package permit

import (
	"os"
	"path/filepath"
	"strings"

	"sallyport/workspace"
)

// Place is where a session works and what it may touch there. The functions
// are those of a fence.Policy; a nil one refuses nothing and contains nothing.
type Place struct {
	Folder     string // absolute; what relative names are relative to
	Home       string // what ~ stands for; empty: the user's home
	CheckRead  func(path string) error
	CheckWrite func(path string) error
	InRegion   func(path string) bool
	Inside     func(path string) bool // in the project, also where nothing may be written; nil: InRegion
}

// resolve makes an absolute path of what an agent wrote, without removing `..`:
// how that is done safely only the fence knows. False: it names no file that
// could be checked.
func (p *Place) resolve(name string) (string, bool) {
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return "", false
	case filepath.IsAbs(name):
		return name, true
	case name == "~" || strings.HasPrefix(name, "~/") || strings.HasPrefix(name, `~\`):
		home := p.Home
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", false
			}
		}
		return home + name[1:], true
	case name[0] == '~':
		return "", false
	case hasScheme(name):
		path, err := workspace.PathOf(name)
		return path, err == nil
	case p.Folder == "":
		return "", false
	case os.IsPathSeparator(name[0]): // Windows: rooted, without a drive
		return filepath.VolumeName(p.Folder) + name, true
	default:
		return p.Folder + string(filepath.Separator) + name, true
	}
}

// hasScheme reports whether name is a URI rather than a path; one letter is a
// drive.
func hasScheme(name string) bool {
	scheme, _, ok := strings.Cut(name, ":")
	if !ok || len(scheme) < 2 {
		return false
	}
	return strings.TrimFunc(scheme, func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r)
	}) == "" && (strings.HasPrefix(name[len(scheme):], "://") || strings.EqualFold(scheme, "file"))
}

// target is one file of a card and what the card would do to it.
type target struct {
	path  string
	write bool
}

// targets lists the files of a card as the agent spelt them. What its diffs
// name is written, whatever kind the agent gives the call.
func targets(c *Card) []target {
	all := make([]target, 0, len(c.Paths)+len(c.Diffs))
	for _, d := range c.Diffs {
		all = append(all, target{d.Path, true})
	}
	write := changes(c)
	for _, path := range c.Paths {
		if t := (target{path, write}); !contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

func contains(all []target, t target) bool {
	for _, other := range all {
		if other.path == t.path && (other.write || !t.write) {
			return true
		}
	}
	return false
}

// changes reports whether the card is about changing the files that it names.
func changes(c *Card) bool {
	return c.Request.Kind == Edit || c.Request.Tool == "Delete" || c.Request.Tool == "Move"
}

// inRegion reports whether the card names files and every one lies in the
// region.
func (p *Place) inRegion(c *Card) bool {
	all := targets(c)
	for _, t := range all {
		path, ok := p.resolve(t.path)
		if !ok || p.InRegion == nil || !p.InRegion(path) {
			return false
		}
	}
	return len(all) > 0
}

// refusal is the first access of the card that a fence refuses, nil for none. A
// change of something that cannot be checked is refused, too.
func (p *Place) refusal(c *Card) error {
	for _, t := range targets(c) {
		path, ok := p.resolve(t.path)
		check := p.CheckRead
		if t.write {
			check = p.CheckWrite
		}
		switch {
		case check == nil:
		case ok:
			if err := check(path); err != nil {
				return err
			}
		case t.write:
			return &unclearError{t.path}
		}
	}
	return nil
}

// unclearError refuses a change of something that is no file of this machine.
type unclearError struct{ path string }

func (e *unclearError) Error() string { return "no file that can be checked: " + e.path }
