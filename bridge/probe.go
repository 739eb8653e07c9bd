package bridge

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"sallyport/plugins/harness"
)

// Probed is what an agent said when it was really started.
type Probed struct {
	Name     string
	Version  string
	Took     time.Duration // from its start to its answer to initialize
	Sessions []string      // load, and the session methods that it offers
	Modes    []string      // its own mode ids
	Fix      string        // with an error: what mends it, such as the line of a sign-in
}

// Probe starts an agent in an empty folder, opens a session, and ends it. It
// does not count among the agents that may live.
func (b *Bridge) Probe(ctx context.Context, h *harness.Harness) (Probed, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return Probed{}, err
	}
	defer leave()
	folder, err := os.MkdirTemp("", "sallyport-probe-")
	if err != nil {
		return Probed{}, err
	}
	defer os.RemoveAll(folder)
	s, err := b.newSession(h, NewSession{Folder: folder})
	if err != nil {
		return Probed{}, err
	}
	b.live.mu.Lock()
	b.live.starting++
	b.live.mu.Unlock()
	began := time.Now()
	a, err := b.startAgent(ctx, h, s.folder, nil)
	if err != nil {
		return Probed{Fix: fixOf(err)}, err
	}
	defer a.stop() // also one that is kept for a sign-in
	p := Probed{Name: a.hello.AgentInfo.Name, Version: a.hello.AgentInfo.Version, Took: time.Since(began)}
	if a.hello.Capabilities.LoadSession {
		p.Sessions = append(p.Sessions, "load")
	}
	for _, name := range []string{"close", "delete", "fork", "list", "resume"} {
		if a.hello.offers(name) {
			p.Sessions = append(p.Sessions, name)
		}
	}
	s.hold()
	err = s.create(ctx, a)
	p.Modes, p.Fix = modesOf(s.offered()), fixOf(err)
	s.detach(a)
	return p, err
}

// modesOf lists the agent's own mode ids.
func modesOf(o offer) []string {
	var all []string
	for _, m := range o.Modes.Available {
		all = append(all, m.ID)
	}
	slices.Sort(all)
	return all
}

// fixOf is what a person can do about an error of a start.
func fixOf(err error) string {
	var start *StartError
	var auth *AuthError
	switch {
	case errors.As(err, &start):
		return start.Hint
	case errors.As(err, &auth):
		for _, m := range auth.Methods {
			if m.Command != "" {
				return m.Command
			}
		}
		if len(auth.Methods) > 0 {
			return "sign in: " + auth.Methods[0].Name
		}
	}
	return ""
}
