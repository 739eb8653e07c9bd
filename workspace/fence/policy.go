package fence

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Policy holds the fences of one session. It is safe for concurrent use. Nothing is kept open or cached between accesses, so
// the user may move and remake folders while the session runs.
type Policy struct {
	home       base
	bases      []base // home, the other folders of the session, then the entries of the region
	reserved   []names
	unreadable []names
	closed     []*closed // our own folders, the agents' configuration, absolute entries of the lists
	rules      Rules

	mu      sync.RWMutex
	private []*closed // replaced whole, guarded by mu
	inside  string    // the private project in which the session lives, "" for none; guarded by mu
}

// New makes the policy of a session that lives in folder, an existing folder.
func New(folder string, r Rules) (*Policy, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("fencing %s: %w", folder, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("fencing %s: %w", folder, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("fencing %s: %w", folder, &SpecialError{abs, TypeName(info.Mode())})
	}
	p := &Policy{rules: r}
	if err := p.setBases(abs); err != nil {
		return nil, err
	}
	if err := p.setNames(); err != nil {
		return nil, err
	}
	own := []struct {
		verdict
		paths []string
	}{
		{verdict{kind: Reserved, why: "it belongs to Sallyport's own state", reads: true}, r.Own.State},
		{verdict{kind: Reserved, why: "it belongs to Sallyport's own configuration"}, r.Own.Config},
		{verdict{kind: Reserved, why: "it belongs to the configuration of agents"}, r.AgentConfig},
	}
	for _, o := range own {
		for _, path := range o.paths {
			if err := p.close(o.verdict, path); err != nil {
				return nil, err
			}
		}
	}
	return p, p.SetPrivate(r.Private)
}

func (p *Policy) setBases(folder string) (err error) {
	if p.home, err = literalBase(folder, folder); err != nil {
		return err
	}
	p.home.writable = len(p.rules.Region) == 0
	p.bases = append(p.bases, p.home)
	for _, root := range p.rules.Roots {
		b, err := literalBase(folder, root)
		if err != nil {
			return err
		}
		b.writable = len(p.rules.Region) == 0
		p.bases = append(p.bases, b)
	}
	for _, entry := range p.rules.Region {
		b, err := newBase(folder, entry)
		if err != nil {
			return err
		}
		b.writable = true
		p.bases = append(p.bases, b)
	}
	return nil
}

func (p *Policy) setNames() error {
	add := func(list *[]names, v verdict, entries []string) error {
		var here []string
		for _, e := range entries {
			path, err := expandHome(e)
			if err != nil {
				continue // no home, so nothing is there
			}
			if filepath.IsAbs(path) && !strings.ContainsAny(path, `*?[{`) {
				if err := p.close(v, path); err != nil {
					return err
				}
				continue
			}
			here = append(here, path[len(filepath.VolumeName(path)):])
		}
		n, err := compileNames(here)
		*list = append(*list, n)
		return err
	}
	if err := add(&p.reserved, verdict{}, builtinReserved()); err != nil {
		return err
	}
	if p.rules.CI {
		if err := add(&p.reserved, verdict{}, ciReserved()); err != nil {
			return err
		}
	}
	if err := add(&p.reserved, verdict{kind: Reserved, why: reservedWhy("it")}, p.rules.Reserved); err != nil {
		return err
	}
	unreadable := p.rules.Unreadable
	if unreadable == nil {
		unreadable = DefaultUnreadable()
	}
	v := verdict{kind: Unreadable, why: unreadableWhy("it"), reads: true}
	if err := add(&p.unreadable, v, alwaysUnreadable()); err != nil {
		return err
	}
	return add(&p.unreadable, v, unreadable)
}

// close adds a closed folder or file, relative to the session's folder or absolute.
func (p *Policy) close(v verdict, path string) error {
	c, err := p.compileClosed(v, path)
	if err == nil {
		p.closed = append(p.closed, c)
	}
	return err
}

func (p *Policy) compileClosed(v verdict, path string) (*closed, error) {
	v.what = path
	full, err := expandHome(path)
	if err != nil {
		return nil, fmt.Errorf("closing %s: %w", path, err)
	}
	parsed, why := native().parseFolder(absolute(p.home.path, filepath.FromSlash(full)))
	if why != "" {
		return nil, fmt.Errorf("closing %s: %s", path, why)
	}
	return newClosed(v, parsed), nil
}

// SetPrivate replaces the list of private projects, from the next access on. A folder in which the session itself lives is
// not private to it. A folder need not exist yet. On error the list is as before.
func (p *Policy) SetPrivate(folders []string) error {
	home, err := resolve(p.home.parsed)
	if err != nil {
		return fmt.Errorf("fencing %s: %w", p.home.path, err)
	}
	var list []*closed
	inside := ""
	for _, f := range folders {
		c, err := p.compileClosed(verdict{kind: Private, why: "it lies in a private project", reads: true}, f)
		if err != nil {
			return err
		}
		if c.holds(home) {
			inside = c.path
			continue
		}
		list = append(list, c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.private, p.inside = list, inside
	return nil
}

// Inside is the folder of the private project in which the session lives, resolved; "" when it lives in none.
func (p *Policy) Inside() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.inside
}

// Private lists the private projects that are closed to the session, resolved.
func (p *Policy) Private() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var all []string
	for _, c := range p.private {
		all = append(all, c.path)
	}
	return all
}

// allClosed is every closed folder, private ones first.
func (p *Policy) allClosed() []*closed {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Concat(p.private, p.closed)
}

// Folder is the session's folder, absolute, every link followed.
func (p *Policy) Folder() string { return p.home.path }

// literalBase is newBase for a folder whose name may hold glob characters.
func literalBase(folder, path string) (base, error) {
	parsed, why := native().parseFolder(absolute(folder, path))
	if why != "" {
		return base{}, fmt.Errorf("fencing %s: %s", path, why)
	}
	return makeBase(parsed, path, "")
}

// expandHome puts the user's home folder for a leading "~/".
func expandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, rest), nil
}

// TypeName is SpecialError.Type for a mode, "" for a regular file.
func TypeName(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return ""
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}
