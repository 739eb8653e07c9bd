package bridge

import (
	"context"
	"errors"

	"sallyport/bridge/process"
	"sallyport/plugins/harness"
)

// launch finds and starts a harness's program. We start it ourselves, without
// a shell, with an environment that is built up.
func (b *Bridge) launch(ctx context.Context, h *harness.Harness, folder string) (*process.Process, error) {
	env, report := process.Environ(b.Home.Environ, process.EnvSpec{
		Env: h.ACP.Environment.Env, Pass: h.Own.PassEnv, Remove: h.ACP.Environment.RemoveEnv,
	})
	b.Log.Debug("environment of an agent", "agent", h.ID, "set", report.Set, "withheld", report.Withheld)
	program, env, err := b.Home.find(ctx, h, env)
	if err != nil {
		return nil, notStarted(h, err)
	}
	p, err := process.Start(ctx, process.Spec{Path: program.Path, Args: program.Args, Dir: folder, Env: env, Log: b.Log})
	if err != nil {
		return nil, notStarted(h, err)
	}
	return p, nil
}

// find looks the program up on PATH, and if it is not there on the PATH of the
// user's login shell, which an editor started from a desktop does not have.
func (h *Home) find(ctx context.Context, described *harness.Harness, env []string) (harness.Program, []string, error) {
	found := env
	program, err := described.Find(func(name string) (string, error) {
		path, wider, err := h.Finder.Find(ctx, name, env)
		if err == nil {
			found = wider
		}
		return path, err
	})
	return program, found, err
}

func notStarted(h *harness.Harness, err error) error {
	e := &StartError{Agent: h.Name, Reason: err.Error(), Err: err}
	var missing *harness.NotFoundError
	if errors.As(err, &missing) && missing.Install != "" {
		e.Hint = "install it: " + missing.Install
	}
	return e
}
