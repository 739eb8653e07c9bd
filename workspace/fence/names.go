package fence

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// names is a compiled list of names. Entries are matched at every depth; what matches closes all that is beneath it. The zero
// value matches nothing.
type names struct {
	exact map[string]string // folded single name to the entry as written; those before any exception
	globs []namePattern     // everything else, in the order of the list; the last that matches decides
}

// namePattern is one entry that is not a single exact name.
type namePattern struct {
	entry  string   // as written, without "!"
	comps  []string // one pattern for each consecutive component; folded unless except
	deep   string   // set instead of comps when the entry holds "**": a pattern for the whole path
	except bool     // a "!" entry: takes off, and never folds
}

// compileNames compiles entries. One that begins with a slash is matched from the root, every other at every depth.
func compileNames(entries []string) (names, error) {
	n := names{exact: map[string]string{}}
	excepted := false
	for _, e := range entries {
		pat, except := strings.CutPrefix(e, "!")
		pat = filepath.ToSlash(pat)
		anchored := strings.HasPrefix(pat, "/")
		pat = strings.Trim(pat, "/")
		if pat == "" || !doublestar.ValidatePattern(pat) {
			return names{}, fmt.Errorf("reading name pattern %q: not a glob", e)
		}
		comps := strings.Split(pat, "/")
		for _, c := range comps {
			if c == ".." || c == "." || c == "" {
				return names{}, fmt.Errorf("reading name pattern %q: %q cannot be part of it", e, c)
			}
		}
		excepted = excepted || except
		if !except {
			comps = foldAll(comps)
		}
		switch {
		case !excepted && !anchored && len(comps) == 1 && !strings.ContainsAny(pat, `*?[{`):
			n.exact[comps[0]] = e
		case anchored:
			n.globs = append(n.globs, namePattern{entry: pat, deep: strings.Join(comps, "/"), except: except})
		case strings.Contains(pat, "**"):
			n.globs = append(n.globs, namePattern{entry: pat, deep: "**/" + strings.Join(comps, "/"), except: except})
		default:
			n.globs = append(n.globs, namePattern{entry: pat, comps: comps, except: except})
		}
	}
	return n, nil
}

// match returns the entry that closes the path, judging the components from index skip on. folded is foldAll(comps).
func (n *names) match(comps, folded []string, skip int) (string, bool) {
	for i := skip; i < len(comps); i++ {
		entry, closed := n.exact[folded[i]]
		for g := range n.globs {
			p := &n.globs[g]
			if closed != p.except { // already so
				continue
			}
			if p.except && p.matches(comps[:i+1]) || !p.except && p.matches(folded[:i+1]) {
				entry, closed = p.entry, !p.except
			}
		}
		if closed {
			return entry, true
		}
	}
	return "", false
}

// matches reports whether the path whose components are given ends in the pattern.
func (p *namePattern) matches(comps []string) bool {
	if p.deep != "" {
		return doublestar.MatchUnvalidated(p.deep, strings.Join(comps, "/"))
	}
	from := len(comps) - len(p.comps)
	if from < 0 {
		return false
	}
	for i := len(p.comps) - 1; i >= 0; i-- {
		if !doublestar.MatchUnvalidated(p.comps[i], comps[from+i]) {
			return false
		}
	}
	return true
}
