package bridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// Fences is what holds for an agent in a folder, tried with a program that does
// nothing in the agent's place.
type Fences struct {
	Agent   string
	Folder  string // every link followed
	Posture Posture
	Report  sandbox.Report
	Rules   []fence.Line
	State   []string // the agent's own, which its tools may write

	policy *fence.Policy
	layout *fence.Layout
	needs  sandbox.Needs
}

// Explained says what holds for one path.
type Explained struct {
	Path     string `json:"path"`
	Resolved string `json:"resolved,omitzero"` // where it leads, when that is elsewhere
	Read     Access `json:"read"`
	Write    Access `json:"write"`
}

// Access says whether a path can be read, or written, by whom, and why not.
type Access struct {
	// Asked: it is let through when the agent asks Sallyport (fs/*).
	Asked bool `json:"asked"`
	// Tools: the agent's own tools and commands can do it.
	Tools bool `json:"tools"`
	// Fence that refuses, with its reason; empty when nothing does.
	Fence fence.Kind `json:"fence,omitzero"`
	Why   string     `json:"why,omitzero"`
	// Grade of the refusal: enforced where the kernel refuses the tools, too.
	Grade Grade `json:"grade,omitzero"`
}

// Fences tries the fences of an agent in a folder. agent may be empty: the
// user's default.
func (b *Bridge) Fences(ctx context.Context, agent, folder string) (*Fences, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	h, err := b.Home.Harness(agent)
	if err != nil {
		return nil, err
	}
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, err
	}
	f := &Fences{Agent: h.ID}
	if f.policy, err = b.fences(h, folder, nil, c); err != nil {
		return nil, err
	}
	f.Folder, f.Rules = f.policy.Folder(), f.policy.List()
	if f.layout, err = f.policy.Layout(ctx); err != nil {
		return nil, err
	}
	env, _ := b.environ(h)
	if b.Home.Kernel != nil {
		if f.needs, _, err = b.needs(h, f.policy, env); err != nil {
			return nil, err
		}
	}
	f.needs.State = append(f.needs.State, c.Custom[h.ID].State...)
	f.State = f.needs.State
	if f.Report, err = b.tryFence(ctx, h, c, f.Folder, env); err != nil {
		return nil, err
	}
	f.Posture = postureIn(h, &f.Report)
	return f, nil
}

// tryFence starts a program that does nothing where an agent would run.
func (b *Bridge) tryFence(ctx context.Context, h *harness.Harness, c *config.Config, folder string, env []string) (sandbox.Report, error) {
	none := sandbox.Report{Backend: sandbox.None, Level: sandbox.Nothing}
	if b.Home.Kernel == nil || c.KernelOf(h.ID).Sandbox == config.SandboxOff {
		none.Why = "the setting sandbox is off"
		return none, nil
	}
	if found := b.Home.Kernel.Probe(ctx); found.Best == sandbox.None {
		none.Why = found.Refused
		return none, nil
	}
	idle, err := idleProgram()
	if err != nil {
		return none, err
	}
	k, err := b.startFenced(ctx, launching{harness: h, config: c, folder: folder, spec: process.Spec{Path: idle, Dir: folder, Env: env, Log: b.Log}, trial: true})
	if err != nil {
		return none, err
	}
	r := *k.report()
	return r, errors.Join(k.Stop(ctx, 0), k.Close())
}

// idleProgram is one that does nothing.
func idleProgram() (string, error) {
	for _, path := range []string{"/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("finding a program to try the fences with: there is no true here")
}

// Explain says what holds for a path, which may be relative to the folder.
func (f *Fences) Explain(path string) Explained {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Folder, path)
	}
	e := Explained{Path: filepath.Clean(path)}
	real := fence.Resolve(e.Path)
	if real != e.Path {
		e.Resolved = real
	}
	kernel := sandbox.Judge(f.Report.Backend, f.layout, f.needs, real)
	e.Read = access(f.policy.CheckRead(e.Path), kernel.Reads, kernel.Why, f.Report.Reads)
	e.Write = access(f.policy.CheckWrite(e.Path), kernel.Writes, kernel.Why, f.Report.Writes && (kernel.Why != "reserved" || f.Report.Reserved))
	return e
}

// access puts together what the policy and the kernel say.
func access(refused error, tools bool, why string, seen bool) Access {
	a := Access{Asked: refused == nil, Tools: tools || !seen}
	var r *fence.Refusal
	switch {
	case errors.As(refused, &r):
		a.Fence, a.Why = r.Fence, r.Why
	case refused != nil:
		a.Why = refused.Error()
	case !a.Tools:
		a.Why = why + ": the agent's own tools are refused, what it asks for is not"
	}
	switch {
	case a.Asked && a.Tools:
	case a.Tools:
		a.Grade = Mediated
	default:
		a.Grade = Enforced
	}
	if a.Tools && !a.Asked && tools && why != "nothing holds it" {
		a.Why += "; the agent's own tools can (" + why + ")"
	}
	return a
}
