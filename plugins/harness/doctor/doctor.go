package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"sallyport/plugins/harness"
)

// DefaultTimeout is how long one program may take to print its version. Some
// need four seconds on an idle machine, and ten times that on a busy one.
const DefaultTimeout = 45 * time.Second

// Doctor checks agents on this machine. The zero value with a Set looks at
// PATH and runs nothing.
type Doctor struct {
	Set      *harness.Set
	LookPath func(name string) (string, error) // nil: PATH of this process
	Run      harness.Runner                    // nil: versions are read from packages only
	Probe    Prober                            // nil: no agent is started
	Timeout  time.Duration                     // for one version; 0: DefaultTimeout
	Version  string                            // of Sallyport, for the report
	Problems []harness.Problem                 // of manifests and configuration, for the report
	Kernel   Kernel
}

// Kernel is what is known of the kernel's fences here. Its zero value is not
// reported.
type Kernel struct {
	Sandbox *Sandbox
	// Try tries the fence of an agent that is available; nil: none is tried.
	Try func(ctx context.Context, h *harness.Harness) (Held, error)
}

// Prober really starts an agent, speaks to it and ends it.
type Prober func(ctx context.Context, h *harness.Harness) (Probe, error)

// atOnce bounds how many programs are run together.
const atOnce = 4

// Check looks at every harness. It ends early when ctx does; rows not reached
// then say so.
func (d *Doctor) Check(ctx context.Context) Report {
	all := d.Set.All()
	r := Report{
		Format: FormatURN, Sallyport: d.Version,
		System:   System{OS: runtime.GOOS, Arch: runtime.GOARCH},
		Agents:   make([]Agent, len(all)),
		Problems: append([]harness.Problem{}, d.Problems...),
		Sandbox:  d.Kernel.Sandbox,
	}
	needs := &needs{d: d, found: map[string]*need{}}
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, h := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r.Agents[i] = d.agent(ctx, h, needs)
		})
	}
	wg.Wait()
	return r
}

// agent checks one harness.
func (d *Doctor) agent(ctx context.Context, h *harness.Harness, needs *needs) Agent {
	a := Agent{
		ID: h.ID, GlobalID: h.Global(), Name: h.Name, Origin: h.From.Origin,
		State: State{Version: VersionInfo{Status: harness.Untested}},
		Holds: holds(h.Own.Reach),
	}
	if t := h.Program.Tested; t != (harness.Tested{}) {
		a.State.Version.Tested = &t
	}
	for _, m := range h.Caps.Modes {
		a.Modes = append(a.Modes, m.ID)
	}
	p, err := h.Find(d.LookPath)
	if err != nil {
		a.State.Problem = err.Error()
		var missing *harness.NotFoundError
		if errors.As(err, &missing) { // another install does not mend the rest
			a.State.Problem, a.State.Fix = missing.Short(), missing.Install
			needs.check(ctx, h, &a.State)
		}
		return a
	}
	a.State.Program = p.String()
	d.version(ctx, h, p, &a.State)
	if p.Package.Name != "" { // one built otherwise may carry what it needs
		needs.check(ctx, h, &a.State)
	}
	if d.Kernel.Try != nil && a.State.Available {
		held, err := d.Kernel.Try(ctx, h)
		if err != nil {
			held = Held{Level: "none", Why: err.Error()}
		}
		a.Held = &held
	}
	if d.Probe != nil && a.State.Available {
		d.probe(ctx, h, &a)
	}
	return a
}

// version runs the program: an agent is available when it ran.
func (d *Doctor) version(ctx context.Context, h *harness.Harness, p harness.Program, s *State) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	v, err := h.Version(ctx, p, d.Run)
	s.Version.Found, s.Version.Status = v.Found, v.Status
	s.Ran = d.Run != nil && h.PrintsVersion()
	s.Available = err == nil
	switch {
	case err != nil && ctx.Err() != nil:
		s.Problem, s.Fix = fmt.Sprintf("%s did not answer within %s", h.Name, d.timeout()), reinstall(h)
	case err != nil:
		s.Problem, s.Fix = fmt.Sprintf("%s is installed but does not run: %v", h.Name, err), reinstall(h)
	case v.Status == harness.IsOlder:
		s.Problem, s.Fix = fmt.Sprintf("%s is older than %s, the oldest version tested", v.Found, h.Program.Tested.Oldest), reinstall(h)
	}
}

// reinstall is the line for a program that is there but not well.
func reinstall(h *harness.Harness) string {
	if h.Install.Update != "" {
		return h.Install.Update
	}
	return h.Install.Lines.For(runtime.GOOS)
}

func (d *Doctor) probe(ctx context.Context, h *harness.Harness, a *Agent) {
	p, err := d.Probe(ctx, h)
	if err != nil {
		a.State.Available = false
		a.State.Problem = fmt.Sprintf("%s did not start: %v", h.Name, err)
		a.State.Fix = p.Fix
		if a.State.Fix == "" {
			a.State.Fix = reinstall(h)
		}
		return
	}
	a.Probe = &p
	if p.Version != "" {
		a.State.Version.Found = p.Version
		a.State.Version.Status = h.Program.Tested.Compare(p.Version)
	}
	if len(p.Sessions) > 0 {
		a.Holds.Resume = resumes(p.Sessions)
	}
}

func (d *Doctor) timeout() time.Duration {
	if d.Timeout > 0 {
		return d.Timeout
	}
	return DefaultTimeout
}
