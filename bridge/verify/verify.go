package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sallyport/bridge/process"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
	"sallyport/workspace/receipt"
)

// Check is one command.
type Check struct {
	Name  string
	Argv  []string      // the program, a name on PATH or a path relative to Options.Dir, and its arguments
	Limit time.Duration // 0 is 5 minutes
	Pass  []string      // names of variables that it gets besides those that every program needs
	Fault string        // why it cannot be run; "" when it can
	Fence Fence
}

// Fence is what the user says of the fence around a check.
type Fence struct {
	config.Kernel          // empty fields: as for the session's agent
	State         []string // absolute paths that it may write besides the region
}

// Started is a check that was started.
type Started struct {
	*process.Process
	Kernel string       // how much the kernel holds for it: full, partial, none
	Close  func() error // takes away what holds it, once nothing of it is left
}

const defaultLimit = 5 * time.Minute

// Of gives the checks of a configuration. One whose command line cannot be split has a Fault.
func Of(checks []config.Check) []Check {
	var all []Check
	for _, c := range checks {
		check := Check{Name: c.Name, Limit: c.Limit(), Pass: c.PassEnv, Fence: Fence{c.Kernel, c.State}}
		argv, err := harness.SplitLine(runtime.GOOS, c.Command)
		switch {
		case err != nil:
			check.Fault = fmt.Sprintf("its command line cannot be split: %s", err)
		case len(argv) == 0:
			check.Fault = "its command line is empty"
		}
		check.Argv = argv
		all = append(all, check)
	}
	return all
}

// Options say where checks run. Dir and Start are needed.
type Options struct {
	Dir      string            // the session's folder
	Environ  []string          // the host's "name=value", from which a check's environment is made; nil is none
	Output   string            // folder of the project's receipts (receipt.Log.Folder); "" keeps no output
	Turn     string            // names the kept outputs
	Progress func(name string) // hears of each check that begins; nil for none. Run waits for it
	// Start starts a check inside its fence; an error's text is why it was not run.
	Start func(context.Context, process.Spec, Fence) (Started, error)
	Log   *slog.Logger // nil logs nothing
}

// stopGrace is the time between asking a check to end and killing it.
const stopGrace = 300 * time.Millisecond

// Run runs the checks, one after the other, and gives a verdict for each. When ctx is done, the one that runs is ended, and it and those that
// follow are cancelled.
func Run(ctx context.Context, checks []Check, o Options) []receipt.Verdict {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var verdicts []receipt.Verdict
	for i, c := range checks {
		if ctx.Err() != nil {
			verdicts = append(verdicts, receipt.Verdict{Name: c.Name, Outcome: receipt.Cancelled})
			continue
		}
		if o.Progress != nil {
			o.Progress(c.Name)
		}
		v, out := o.run(ctx, c)
		if err := o.keep(&v, i, out); err != nil {
			o.Log.Warn("the output of a check is not kept", "check", c.Name, "err", err)
		}
		verdicts = append(verdicts, v)
	}
	if o.Output != "" && len(checks) > 0 {
		if err := tidy(o.Output); err != nil {
			o.Log.Warn("old outputs of checks stay", "err", err)
		}
	}
	return verdicts
}

// run runs one check to its end, or ends it.
func (o *Options) run(ctx context.Context, c Check) (receipt.Verdict, *kept) {
	v := receipt.Verdict{Name: c.Name, Outcome: receipt.NotRun, Why: c.Fault}
	if c.Fault != "" {
		return v, nil
	}
	spec, err := o.spec(c)
	if err != nil {
		v.Why = reason(err)
		return v, nil
	}
	began := time.Now()
	p, err := o.Start(ctx, spec, c.Fence)
	if err != nil {
		if v.Why = reason(err); ctx.Err() != nil {
			v.Outcome, v.Why = receipt.Cancelled, ""
		}
		return v, nil
	}
	_ = p.Stdin.Close() // its input is empty
	v.Kernel = p.Kernel
	out := &kept{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(out, p.Stdout) // any error is the end
	}()
	v.Outcome, v.Why = o.await(ctx, p.Process, c)
	v.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	// What it left running is ended here, too.
	if err := errors.Join(p.Stop(context.WithoutCancel(ctx), stopGrace), p.Close()); err != nil {
		v.Why = strings.TrimPrefix(v.Why+"; "+err.Error(), "; ")
	}
	<-read
	if exit := p.Exit(); exit.Signal == "" && !exit.Lost && v.Outcome != receipt.TimedOut && v.Outcome != receipt.Cancelled {
		v.Exit = &exit.Code
	}
	out.errors = p.Stderr()
	return v, out
}

// await waits for the end of a check, of its time, or of the turn.
func (o *Options) await(ctx context.Context, p *process.Process, c Check) (outcome, why string) {
	limit := c.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		return receipt.TimedOut, fmt.Sprintf("it took longer than %s", limit)
	case <-ctx.Done():
		return receipt.Cancelled, ""
	}
	switch exit := p.Exit(); {
	case exit.Lost:
		return receipt.NotRun, "its end was not seen: " + exit.String()
	case exit.Signal != "":
		return receipt.Failed, exit.String()
	case exit.Code != 0:
		return receipt.Failed, ""
	default:
		return receipt.Passed, ""
	}
}

// spec is what to start.
func (o *Options) spec(c Check) (spec process.Spec, err error) {
	if len(c.Argv) == 0 {
		return spec, errors.New("it has no command")
	}
	env, _ := process.Environ(o.Environ, process.EnvSpec{Pass: c.Pass})
	program := c.Argv[0]
	if strings.ContainsAny(program, "/"+string(filepath.Separator)) && !filepath.IsAbs(program) {
		program = filepath.Join(o.Dir, program)
	}
	path, err := process.LookPath(program, env)
	if err != nil {
		return spec, err
	}
	return process.Spec{Path: path, Args: c.Argv[1:], Dir: o.Dir, Env: env, StderrBytes: mostErrors, Log: o.Log}, nil
}

// reason is an error as a verdict has it.
func reason(err error) string {
	var missing *process.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.Script == "":
		return fmt.Sprintf("program %s not found", missing.Name)
	case errors.Is(err, exec.ErrNotFound):
		return "program not found"
	default:
		return err.Error()
	}
}
