package home

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/plugins/harness/doctor"
)

// Depth is how far a doctor goes.
type Depth int

// The depths: programs are found and their packages read; their versions are
// asked; they are really started.
const (
	Look Depth = iota
	Ask
	Probe
)

// DoctorSchema is the JSON Schema of a report.
func DoctorSchema() []byte { return doctor.Schema() }

// Doctor looks at every known agent on this machine.
func (h *Home) Doctor(ctx context.Context, version string, depth Depth) doctor.Report {
	side := h.Bridge(version)
	env, _ := process.Environ(side.Environ, process.EnvSpec{})
	d := doctor.Doctor{
		Set: h.Set(), Version: version, Problems: h.current().manifests,
		LookPath: func(name string) (string, error) {
			path, _, err := side.Finder.Find(ctx, name, env)
			return path, err
		},
	}
	b := &bridge.Bridge{Display: quiet{}, Home: side, Log: h.log}
	defer b.Close(context.WithoutCancel(ctx))
	if depth >= Ask {
		d.Run = runner(env)
		d.Kernel = kernel(ctx, b, side.Kernel)
	}
	if depth == Probe {
		d.Probe = func(ctx context.Context, h *harness.Harness) (doctor.Probe, error) {
			p, err := b.Probe(ctx, h)
			return doctor.Probe{
				Name: p.Name, Version: p.Version, Protocol: 1, Millis: p.Took.Milliseconds(),
				Sessions: p.Sessions, Modes: p.Modes, Fix: p.Fix,
			}, err
		}
	}
	return d.Check(ctx)
}

// kernel is what a doctor is told of the kernel's fences.
func kernel(ctx context.Context, b *bridge.Bridge, l *sandbox.Launcher) doctor.Kernel {
	found := l.Probe(ctx)
	s := &doctor.Sandbox{Backend: string(found.Best), Level: string(found.Level()), Landlock: found.Landlock, Problem: found.Refused, Fix: found.Fix}
	if found.Best == sandbox.Bubblewrap {
		s.Version = found.Version
	}
	return doctor.Kernel{Sandbox: s, Try: func(ctx context.Context, h *harness.Harness) (doctor.Held, error) {
		folder, err := os.MkdirTemp("", "sallyport-fence-")
		if err != nil {
			return doctor.Held{}, err
		}
		defer os.RemoveAll(folder)
		f, err := b.Fences(ctx, h.Global(), folder)
		if err != nil {
			return doctor.Held{}, err
		}
		r := f.Report
		return doctor.Held{Level: string(r.Level), Reads: r.Reads, Writes: r.Writes, Reserved: r.Reserved, Gaps: r.Gaps, Why: r.Why}, nil
	}}
}

// runner runs a program for what it prints, as a tree of which nothing is left:
// some programs take --version for a word to serve by.
func runner(env []string) harness.Runner {
	const (
		grace = 200 * time.Millisecond
		much  = 1 << 20
	)
	return func(ctx context.Context, path string, args []string) ([]byte, error) {
		p, err := process.Start(ctx, process.Spec{Path: path, Args: args, Env: env})
		if err != nil {
			return nil, err
		}
		_ = p.Stdin.Close() // so that one that serves ends
		defer context.AfterFunc(ctx, func() { _ = p.Stop(ctx, 0) })()
		out, err := io.ReadAll(io.LimitReader(p.Stdout, much))
		err = errors.Join(err, p.Stop(ctx, grace), ctx.Err())
		if exit := p.Exit(); err == nil && (exit.Code != 0 || exit.Signal != "") {
			err = errors.New(exit.String())
		}
		return out, err
	}
}

// quiet is a display for probes: nothing is shown, nothing allowed.
type quiet struct{}

var errProbe = errors.New("this is only a probe")

func (quiet) Update(context.Context, bridge.Update) {}
func (quiet) Notice(bridge.Notice)                  {}
func (quiet) Settled(*permit.Card, permit.Outcome)  {}
func (quiet) Ask(context.Context, *permit.Card) (permit.Answer, error) {
	return permit.Answer{}, errProbe
}
