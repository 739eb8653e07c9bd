package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sallyport/plugins/harness"
)

// needs looks once for each program that agents need besides their own, such
// as node.
type needs struct {
	d     *Doctor
	mu    sync.Mutex
	found map[string]*need
}

type need struct {
	once    sync.Once
	missing bool
	version string
}

// check fills in what a missing or old helper means for an agent.
func (n *needs) check(ctx context.Context, h *harness.Harness, s *State) {
	for _, name := range slices.Sorted(maps.Keys(h.Own.Package.Needs)) {
		oldest := h.Own.Package.Needs[name]
		switch found := n.look(ctx, name); {
		case found.missing && (!s.Available || !s.Ran): // one that ran has what it needs
			s.Available = false
			s.Problem = fmt.Sprintf("%s needs %s %s or newer, which is not on PATH", h.Name, name, oldest)
			s.Fix = installNeed(name, oldest)
		case found.version != "" && (harness.Tested{Oldest: oldest, Newest: oldest}).Compare(found.version) == harness.IsOlder:
			s.Note = fmt.Sprintf("%s wants %s %s or newer, and this is %s", h.Name, name, oldest, found.version)
		}
	}
}

// look finds a helper and its version, once for all agents.
func (n *needs) look(ctx context.Context, name string) *need {
	n.mu.Lock()
	found, ok := n.found[name]
	if !ok {
		found = &need{}
		n.found[name] = found
	}
	n.mu.Unlock()
	found.once.Do(func() {
		h := &harness.Harness{Program: harness.ProgramSpec{Locate: harness.Locate{Names: []string{name}}, VersionArgs: []string{"--version"}}}
		p, err := h.Find(n.d.LookPath)
		if found.missing = err != nil; found.missing {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, n.d.timeout())
		defer cancel()
		if v, err := h.Version(ctx, p, n.d.Run); err == nil {
			found.version = v.Found
		}
	})
	return found
}

func installNeed(name, oldest string) string {
	if name == "node" {
		return "install Node.js " + oldest + " or newer from https://nodejs.org"
	}
	return "install " + name + " " + oldest + " or newer"
}
