package sandbox

import (
	"path/filepath"
	"slices"

	"sallyport/workspace/fence"
)

// Verdict is what a fence does to one path.
type Verdict struct {
	Reads  bool // programs inside can read it
	Writes bool // and write it
	// Why is what decides, such as "region" or "the agent's own state"; for people.
	Why string
}

// Judge says what a fence of a backend does to a path, an absolute one with its links followed. It asks nothing of the
// kernel: whether a fence holds, only its report says.
func Judge(b Backend, layout *fence.Layout, needs Needs, path string) Verdict {
	l := *layout
	l.Told, l.Absent, l.Hidden = slices.Clone(l.Told), slices.Clone(l.Absent), slices.Clone(l.Hidden)
	p := &plan{layout: &l, temp: "/", visible: []string{path}}
	p.needs = wanted(needs, &l)
	switch b {
	case Bubblewrap:
		return p.judge(path)
	case Landlock:
		return p.judgeLandlock(path)
	default:
		return Verdict{true, true, "nothing holds it"}
	}
}

func (p *plan) judge(path string) Verdict {
	m := enclosing(p.mounts(), path)
	if m == nil {
		return Verdict{true, false, "outside the region"}
	}
	switch m.rank {
	case hidden:
		inside := m.folder && slices.Contains(m.keep, filepath.Base(path)) && filepath.Dir(path) == m.path
		return Verdict{inside, false, "closed"}
	case closed:
		return Verdict{true, false, "reserved"}
	case setting:
		return Verdict{true, false, "the agent's settings"}
	case state:
		return Verdict{true, true, "the agent's own state"}
	case private:
		return Verdict{false, true, "a temporary folder of the session's own stands there"}
	case shown:
		return Verdict{true, false, "outside the region"}
	default:
		return Verdict{true, true, "region"}
	}
}

func (p *plan) judgeLandlock(path string) Verdict {
	for _, h := range p.layout.Hidden {
		if fence.Beneath(path, h.Path) && !p.within(p.layout.Writable, h.Path) && !p.within(p.needs.State, h.Path) {
			return Verdict{slices.Contains(h.Open, filepath.Base(path)), false, "closed"}
		}
	}
	switch {
	case p.within(p.needs.State, path):
		return Verdict{true, true, "the agent's own state"}
	case p.within(p.layout.Writable, path):
		return Verdict{true, true, "region"}
	default:
		return Verdict{true, false, "outside the region"}
	}
}
