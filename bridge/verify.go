package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/bridge/verify"
	"sallyport/workspace/config"
	"sallyport/workspace/receipt"
)

// check runs the user's checks after a turn, and tells what they said. They end with ctx and with a cancel; those of a turn that was
// cancelled or failed are not begun.
func (s *session) check(ctx context.Context, t *turn, end ending) []receipt.Verdict {
	checks := verify.Of(s.config.Verify)
	if len(checks) == 0 {
		return nil
	}
	if end.err != nil || end.cancelled {
		return unchecked(checks, end.err)
	}
	ctx, cancel := t.record.checking(ctx)
	defer cancel()
	verdicts := verify.Run(ctx, checks, verify.Options{
		Dir: s.folder, Environ: s.b.Home.Environ, Output: s.b.Turns.Receipts().Folder(s.folder), Turn: t.id, Log: s.b.Log,
		Start: s.startCheck,
		Progress: func(name string) {
			s.notice(Notice{Kind: NoticeVerifier, Level: Plain, Turn: t.id, Text: "checking: " + name, Hint: "cancel the turn to end it"})
		},
	})
	s.tellVerdicts(t, verdicts)
	return verdicts
}

// startCheck starts a check inside the session's fences: it runs what the agent wrote.
func (s *session) startCheck(ctx context.Context, spec process.Spec, f verify.Fence) (verify.Started, error) {
	want, launcher := f.Or(s.config.KernelOf(s.harness.ID)), s.b.Home.Kernel
	if want.Sandbox == config.SandboxOff || launcher == nil {
		if networkOf(want) != sandbox.NetworkOpen {
			return verify.Started{}, errors.New("its network is to be closed, and only a sandbox does that")
		}
		p, err := process.Start(ctx, spec)
		return verify.Started{Process: p, Kernel: string(sandbox.Nothing), Close: func() error { return nil }}, err
	}
	if want.Sandbox == config.SandboxRequire && launcher.Probe(ctx).Level() == sandbox.Nothing {
		return verify.Started{}, errors.New("a sandbox is required, and there is none here")
	}
	layout, err := s.b.layout(ctx, s.ground.policy)
	if err != nil {
		return verify.Started{}, err
	}
	k, err := launcher.Start(ctx, sandbox.Request{Program: spec, Layout: layout, Needs: sandbox.Needs{State: f.State}, Network: networkOf(want)})
	if err != nil {
		return verify.Started{}, err
	}
	return verify.Started{Process: k.Process, Kernel: string(k.Report.Level), Close: k.Close}, nil
}

// unchecked are the verdicts on a turn that did not end by itself.
func unchecked(checks []verify.Check, err error) []receipt.Verdict {
	v := receipt.Verdict{Outcome: receipt.Cancelled}
	if err != nil {
		v = receipt.Verdict{Outcome: receipt.NotRun, Why: "the turn ended with an error"}
	}
	all := make([]receipt.Verdict, len(checks))
	for i, c := range checks {
		all[i] = v
		all[i].Name = c.Name
	}
	return all
}

func (s *session) tellVerdicts(t *turn, verdicts []receipt.Verdict) {
	var parts []string
	level := Plain
	for _, v := range verdicts {
		said := v.Name + " " + v.Outcome
		switch {
		case v.Outcome == receipt.Failed && v.Exit != nil:
			said += fmt.Sprintf(" (exit status %d)", *v.Exit)
		case v.Why != "":
			said += " (" + v.Why + ")"
		}
		if v.Outcome != receipt.Passed {
			level = Warning
		}
		parts = append(parts, said)
	}
	n := Notice{Kind: NoticeVerifier, Level: level, Turn: t.id, Text: strings.Join(parts, "; ")}
	if level != Plain {
		n.Hint = "what the checks wrote is kept with the receipt: sallyport receipt " + t.id
	}
	s.notice(n)
}
