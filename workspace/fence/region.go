package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// base is a folder that the user chose: an entry of the region, the session's folder or an additional one. It is immutable.
type base struct {
	parsed            // as resolved when the policy was made
	given    []string // as written, when that differs
	path     string
	entry    string // as written, for people
	glob     string // "" when everything beneath is meant
	folding  bool   // the volume ignores case, so the glob does
	writable bool   // an entry of the region, not only a folder of the session
}

// newBase compiles entry, which is relative to folder or absolute.
func newBase(folder, entry string) (base, error) {
	static, glob := filepath.FromSlash(entry), ""
	if _, err := os.Lstat(absolute(folder, static)); err != nil && strings.ContainsAny(entry, `*?[{`) {
		static, glob = doublestar.SplitPattern(filepath.ToSlash(entry))
		if !doublestar.ValidatePattern(glob) {
			return base{}, fmt.Errorf("reading region %q: not a glob", entry)
		}
	}
	static = absolute(folder, filepath.FromSlash(static))
	p, why := native().parseFolder(static)
	if why != "" {
		return base{}, fmt.Errorf("reading region %q: %s", entry, why)
	}
	if glob == "**" {
		glob = ""
	}
	return makeBase(p, entry, glob)
}

func makeBase(p parsed, entry, glob string) (base, error) {
	pl, err := resolve(p)
	if err != nil {
		return base{}, fmt.Errorf("looking at %s: %w", entry, err)
	}
	b := base{parsed: pl.parsed, path: native().join(pl.vol, pl.comps), entry: entry, glob: glob}
	if pl.vol == p.vol && !slices.Equal(pl.comps, p.comps) {
		b.given = p.comps
	}
	b.folding = pl.exists() && foldsCase(b.path)
	if b.folding {
		b.glob = strings.ToLower(b.glob)
	}
	return b, nil
}

// index returns how many leading components of the place make up the base: by their text, exactly, or because the base
// itself stands there under another spelling. The second result is false when the place is not beneath the base.
func (b *base) index(pl *place) (int, bool) {
	if pl.vol == b.vol && hasPrefix(pl.comps, b.comps, false) {
		return len(b.comps), true
	}
	info, err := os.Lstat(b.path)
	if err != nil {
		return 0, false
	}
	for i, n := range pl.nodes {
		if os.SameFile(n, info) {
			return i, true
		}
	}
	return 0, false
}

// open reports whether what lies beneath the base at rel is in the region.
func (b *base) open(rel []string) bool {
	if b.glob == "" {
		return true
	}
	for i := range rel {
		path := strings.Join(rel[:i+1], "/")
		if b.folding {
			path = strings.ToLower(path)
		}
		if doublestar.MatchUnvalidated(b.glob, path) {
			return true
		}
	}
	return false
}

// textIndex is index by text alone, in either spelling, for a path that was not resolved.
func (b *base) textIndex(p parsed) (int, bool) {
	folding := native().folds()
	switch {
	case p.vol != b.vol:
		return 0, false
	case b.given != nil && hasPrefix(p.comps, b.given, folding):
		return len(b.given), true
	case hasPrefix(p.comps, b.comps, folding):
		return len(b.comps), true
	}
	return 0, false
}

// foldsCase reports whether the volume finds folder under a name of other case. It asks the disk: the answer differs
// between volumes of one machine.
func foldsCase(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil {
		return false
	}
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, filepath.Base(folder))
	if other == filepath.Base(folder) {
		return native().folds()
	}
	swapped, err := os.Lstat(filepath.Join(filepath.Dir(folder), other))
	return err == nil && os.SameFile(info, swapped)
}

// absolute is path, taken from folder when it is relative.
func absolute(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
