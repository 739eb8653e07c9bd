package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"sallyport/workspace/fence"
)

// tests are what the inner step tries of a plan.
func (p *plan) tests(backend Backend) []test {
	const many = 50
	var all []test
	for _, h := range p.layout.Hidden {
		if len(all) == many {
			break
		}
		inside := p.within(p.layout.Writable, h.Path) || p.within(p.needs.State, h.Path)
		if backend == Landlock && inside {
			continue
		}
		if path := p.something(h); path != "" {
			all = append(all, test{readTest, path, true})
		}
	}
	all = append(all, test{readTest, p.canary, true})
	for _, path := range p.outside() {
		all = append(all, test{writeTest, path, true})
	}
	if backend == Bubblewrap {
		reserved := 0
		for _, m := range p.mounts() {
			if (m.rank == closed || m.rank == setting) && reserved < many {
				reserved++
				all = append(all, test{reservedTest, m.path, true})
			}
		}
	} else {
		for _, path := range p.layout.Closed {
			if p.within(p.layout.Writable, path) {
				all = append(all, test{reservedTest, path, false})
				break
			}
		}
	}
	for _, path := range p.layout.Writable {
		if info, err := os.Stat(path); err == nil && info.IsDir() && mayWrite(path) {
			all = append(all, test{allowedTest, path, true})
		}
	}
	return all
}

// something is a path in what is hidden that can be opened outside; "" when there is none.
func (p *plan) something(h fence.Hidden) string {
	if !h.Folder {
		if mayRead(h.Path) {
			return h.Path
		}
		return ""
	}
	entries, err := os.ReadDir(h.Path)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		path := filepath.Join(h.Path, e.Name())
		if !slices.Contains(h.Open, e.Name()) && !p.leadsInside(path) && (e.Type().IsRegular() || e.IsDir()) && mayRead(path) {
			return path
		}
	}
	if len(h.Open) > 0 || p.leadsInside(h.Path) {
		return ""
	}
	return h.Path // empty: it cannot be opened itself
}

// leadsInside reports whether something that stays open lies in a folder: the session's temporary folder, or in a private
// project the agent's own state.
func (p *plan) leadsInside(folder string) bool {
	return slices.ContainsFunc(append([]string{p.temp}, p.needs.State...), func(path string) bool { return fence.Beneath(path, folder) })
}

// outside are folders next to the region, and the user's home, that could be written without the fence.
func (p *plan) outside() []string {
	candidates := []string{p.layout.Folder, filepath.Dir(p.layout.Folder)} // the folder itself may be outside
	for _, w := range p.layout.Writable {
		candidates = append(candidates, filepath.Dir(w))
	}
	if home, err := os.UserHomeDir(); err == nil {
		candidates = append(candidates, home)
	}
	candidates = append(candidates, "/var/tmp")
	var all []string
	mounts := p.mounts()
	for _, path := range candidates {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !mayWrite(real) {
			continue
		}
		if m := enclosing(mounts, real); m == nil || m.rank == shown {
			all = append(all, real)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// report is what the tests showed.
func (p *plan) report(backend Backend, o *orders, found result, here Found) Report {
	r := Report{
		Backend: backend, Level: Full, Network: p.network,
		Reads:    verdict(o.Tests, found.Wrong, readTest),
		Writes:   verdict(o.Tests, found.Wrong, writeTest),
		Reserved: backend == Bubblewrap && !anyWrong(found.Wrong, reservedTest), // there may be nothing reserved to try
	}
	if !o.Rules.Scopes {
		r.Gaps = append(r.Gaps, "abstract sockets of other programs can be reached (this kernel's Landlock is too old)")
	}
	if backend == Landlock {
		r.Level, r.Why = Partial, here.Refused
		r.Gaps = append(r.Gaps, p.landlockGaps(here.Landlock)...)
	}
	r.Limits = slices.Clone(p.layout.Limits)
	return r
}

func anyWrong(wrong []test, kind testKind) bool {
	for _, t := range wrong {
		if t.Kind == kind {
			return true
		}
	}
	return false
}

// landlockGaps are what Landlock does not hold, one by one.
func (p *plan) landlockGaps(abi int) []string {
	gaps := []string{
		"reserved files inside the region, such as git hooks and editor tasks, can be written by the agent's own tools",
		"the agent can change its own settings",
		"mode, times and attributes of files outside the region can be changed",
		"size and times of closed files can be seen",
		"the folders above what is closed cannot be listed, and what is made in them later cannot be read",
		"sockets of daemons such as docker's can be reached, and programs started through them are outside",
	}
	for _, h := range p.layout.Hidden {
		if p.within(p.layout.Writable, h.Path) {
			gaps = append(gaps, "unreadable files inside the region can be read by the agent's own tools")
			break
		}
	}
	if abi < abiTruncate {
		gaps = append(gaps, "files outside the region can be emptied (this kernel's Landlock is too old)")
	}
	if abi < abiScopes {
		gaps = append(gaps, "other programs can be signalled (this kernel's Landlock is too old)")
	}
	if os.Geteuid() == 0 {
		gaps = append(gaps, "as root, kernel settings can be written and disks be read")
	}
	return gaps
}

// otherNames are the other paths of hidden folders now, by folder.
func (p *plan) otherNames() map[string][]string {
	all := map[string][]string{}
	for _, h := range p.layout.Hidden {
		if h.Folder {
			all[h.Path] = fence.OtherNames(h.Path)
		}
	}
	return all
}
