package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// fences is the policy of a session: fs/* is judged by it, and the kernel is told of it.
func (b *Bridge) fences(h *harness.Harness, folder string, roots []string, c *config.Config) (*fence.Policy, error) {
	own := b.Home.Own
	own.Config = slices.Clone(own.Config)
	for _, d := range c.Permissions.Deciders { // who could write there could allow itself everything
		if filepath.IsAbs(d.Folder) { // another one is not run
			own.Config = append(own.Config, d.Folder)
		}
	}
	for _, file := range c.Permissions.ClaudeSettings {
		if filepath.IsAbs(file) { // what a project's allows does not count
			own.Config = append(own.Config, file)
		}
	}
	return fence.New(folder, fence.Rules{
		Region: c.Fences.Region, Roots: roots, Reserved: c.Fences.Reserved, CI: c.Fences.CI,
		Unreadable: c.Fences.UnreadableOf(fence.DefaultUnreadable()),
		Private:    c.Fences.Private, Own: own, AgentConfig: agentConfig(h),
	})
}

// fenced is what the kernel holds for one agent.
type fenced struct {
	*sandbox.Fence
	asked   config.Sandbox
	private []string // the projects that are closed to it
	program string   // the agent's own, whatever starts it

	mu   sync.Mutex
	lost string // how the first mask went; guarded by mu
	// known are the reserved paths that were there, or were told; guarded by mu
	known map[string]bool
}

// launching is a program that is to run as the agent of a session in folder with roots.
type launching struct {
	harness *harness.Harness
	config  *config.Config
	folder  string
	roots   []string
	spec    process.Spec
	said    sandbox.Said // of the program, by the agent
	trial   bool         // nothing is to run that needs the agent's state
	looks   bool         // there is no region: the folder is there to be read
}

// startFenced starts a program inside the fences of its session.
func (b *Bridge) startFenced(ctx context.Context, l launching) (*fenced, error) {
	h, spec := l.harness, l.spec
	policy, err := b.fences(h, l.folder, l.roots, l.config)
	if err != nil {
		return nil, err
	}
	want := l.config.KernelOf(h.ID)
	k := &fenced{asked: want.Sandbox, private: policy.Private(), program: spec.Path}
	switch {
	case want.Sandbox == config.SandboxOff, b.Home.Kernel == nil:
		k.Fence, err = unfenced(ctx, l.said.Of(spec), want)
		if errors.Is(err, errOpenNetwork) {
			return nil, &StartError{Agent: h.Name, Reason: err.Error(), Hint: `set "sandbox": "auto"`}
		}
		if err != nil {
			return nil, err
		}
	default:
		if k.Fence, k.known, err = b.inKernel(ctx, l, policy); err != nil {
			return nil, err
		}
	}
	b.tellWeak(k)
	if err := b.enough(h, k, policy.Inside()); err != nil {
		_ = k.Stop(ctx, 0) // what is left dies with us
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// What only a sandbox does, where none may or can be had.
var (
	errOpenNetwork = errors.New("its network is to be closed, and only a sandbox does that")
	errNoSandbox   = errors.New("a sandbox is required, and there is none here")
)

// unfenced starts a program that no fence of the kernel's holds.
func unfenced(ctx context.Context, spec process.Spec, want config.Kernel) (*sandbox.Fence, error) {
	if want.Network != config.NetworkOn && want.Network != "" {
		return nil, errOpenNetwork
	}
	p, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &sandbox.Fence{Process: p, Report: sandbox.Report{Backend: sandbox.None, Level: sandbox.Nothing}}, nil
}

// inKernel starts a program inside kernel fences, and names the reserved paths
// that were there.
func (b *Bridge) inKernel(ctx context.Context, l launching, policy *fence.Policy) (*sandbox.Fence, map[string]bool, error) {
	h, c, spec := l.harness, l.config, l.spec
	layout, err := b.layout(ctx, policy)
	if err != nil {
		return nil, nil, err
	}
	if l.looks {
		layout.Writable, layout.Absent = nil, nil
	}
	needs, env, err := b.needs(h, policy, spec.Env)
	if err != nil {
		return nil, nil, err
	}
	needs.State = slices.Concat(needs.State, c.Custom[h.ID].State)
	if l.trial { // what the agent would find made is not made for nothing
		needs.State = slices.DeleteFunc(needs.State, func(path string) bool {
			_, err := os.Stat(path)
			return err != nil
		})
	}
	spec.Env = env
	r := sandbox.Request{Program: spec, Said: l.said, Layout: layout, Needs: needs, Network: networkOf(c.KernelOf(h.ID))}
	f, err := b.Home.Kernel.Start(ctx, r)
	var setup *sandbox.SetupError
	if errors.As(err, &setup) {
		hint := `set "sandbox": "off" for this agent to start it without`
		if setup.Fix != "" {
			hint = setup.Fix
		}
		return nil, nil, &StartError{Agent: h.Name, Reason: setup.Error(), Hint: hint, Err: err}
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case f.Report.Level == sandbox.Nothing:
		f.Report.Why = b.Home.Kernel.Probe(ctx).Refused
	case f.Report.Backend == sandbox.Landlock && h.Own.Reach.Commands == "sandbox":
		f.Report.Gaps = append(f.Report.Gaps, "the sandbox of its own in which "+h.Name+" runs commands does not work inside this one: they fail until it is switched off in its settings")
	}
	return f, reserved(layout), nil
}

// layout is what the kernel is told of a policy.
func (b *Bridge) layout(ctx context.Context, policy *fence.Policy) (*fence.Layout, error) {
	for _, dir := range b.Home.Own.State { // what is not there yet could not be hidden
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return policy.Layout(ctx)
}

func networkOf(k config.Kernel) sandbox.Network {
	switch k.Network {
	case config.NetworkOff:
		return sandbox.NetworkOff
	case config.NetworkLoopback:
		return sandbox.NetworkLoopback
	default:
		return sandbox.NetworkOpen
	}
}

// tellWeak says, once, that the kernel holds less here than it could.
func (b *Bridge) tellWeak(k *fenced) {
	r := k.Report
	if b.Home.Kernel == nil || k.asked == config.SandboxOff || r.Level == sandbox.Full {
		return
	}
	found := b.Home.Kernel.Probe(context.Background())
	b.life.weak.Do(func() {
		n := Notice{Kind: NoticePosture, Level: Warning, Text: "the kernel holds the fences here with gaps: " + found.Refused, Hint: found.Fix}
		if r.Level == sandbox.Nothing {
			n.Text = "the kernel holds no fences here: " + found.Refused
		}
		if found.Fix == "" { // nothing to mend
			n.Level = Plain
		}
		b.Display.Notice(n)
	})
}

// enough reports why an agent must not run with what is held for it.
func (b *Bridge) enough(h *harness.Harness, k *fenced, inside string) error {
	nothing := k.Report.Level == sandbox.Nothing
	e := &StartError{Agent: h.Name}
	if b.Home.Kernel != nil {
		e.Hint = b.Home.Kernel.Probe(context.Background()).Fix
	}
	switch {
	case k.asked == config.SandboxRequire && nothing:
		e.Reason = errNoSandbox.Error()
		if k.Report.Why != "" {
			e.Reason += ": " + k.Report.Why
		}
	case inside != "" && !h.ACP.FS && !k.enforced():
		if k.asked == config.SandboxOff {
			e.Hint = `set "sandbox": "auto"`
		}
		e.Reason = fmt.Sprintf("%s is a private project, and %s works on files by itself, which nothing here can hold", inside, h.Name)
	default:
		return nil
	}
	return e
}

// enforced reports whether the kernel was seen to hold reads and writes.
func (k *fenced) enforced() bool { return k.Report.Reads && k.Report.Writes }

// blames reports whether an agent's last words complain of what a fence does.
func (k *fenced) blames(words string) bool {
	if k.report().Level == sandbox.Nothing {
		return false
	}
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{"read-only file system", "permission denied", "erofs", "eacces"}, func(w string) bool { return strings.Contains(words, w) })
}

// setVariable sets one variable of an environment.
func setVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
	return append(env, name+"="+value)
}
