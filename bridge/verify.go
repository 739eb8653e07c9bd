package bridge

import (
	"context"
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
	want := f.Or(s.config.KernelOf(s.harness.ID))
	k, err := s.fenceCheck(ctx, spec, want, f.State)
	if err != nil {
		return verify.Started{}, err
	}
	return verify.Started{Process: k.Process, Kernel: string(k.Report.Level), Close: k.Close}, nil
}

func (s *session) fenceCheck(ctx context.Context, spec process.Spec, want config.Kernel, state []string) (*sandbox.Fence, error) {
	launcher := s.b.Home.Kernel
	switch {
	case want.Sandbox == config.SandboxRequire && (launcher == nil || launcher.Probe(ctx).Level() == sandbox.Nothing):
		return nil, errNoSandbox
	case want.Sandbox == config.SandboxOff, launcher == nil:
		return unfenced(ctx, spec, want)
	}
	layout, err := s.b.layout(ctx, s.ground.policy)
	if err != nil {
		return nil, err
	}
	return launcher.Start(ctx, sandbox.Request{Program: spec, Layout: layout, Needs: sandbox.Needs{State: state}, Network: networkOf(want)})
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
