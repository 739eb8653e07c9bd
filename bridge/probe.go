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

// Probe starts an agent in an empty folder, opens a session, and ends it.
func (b *Bridge) Probe(ctx context.Context, h *harness.Harness) (Probed, error) {
	b.start()
	folder, err := os.MkdirTemp("", "sallyport-probe-")
	if err != nil {
		return Probed{}, err
	}
	defer os.RemoveAll(folder)
	began := time.Now()
	a, err := b.startAgent(ctx, h, folder)
	if err != nil {
		return Probed{Fix: fixOf(err)}, err
	}
	p := Probed{Name: a.hello.AgentInfo.Name, Version: a.hello.AgentInfo.Version, Took: time.Since(began)}
	if a.hello.Capabilities.LoadSession {
		p.Sessions = append(p.Sessions, "load")
	}
	for _, name := range []string{"close", "delete", "fork", "list", "resume"} {
		if a.hello.offers(name) {
			p.Sessions = append(p.Sessions, name)
		}
	}
	s, err := b.newSession(h, folder, nil, "")
	if err != nil {
		a.stop()
		return p, err
	}
	b.keepWarm(a)
	s.hold()
	err = s.create(ctx)
	p.Modes = modesOf(s.offered())
	if a := s.current(); a != nil {
		s.detach(a)
		a.stop()
	}
	p.Fix = fixOf(err)
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
