package bridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sallyport/bridge/process"
	"sallyport/plugins/harness"
)

// launch finds and starts a harness's program. We start it ourselves, without
// a shell, with an environment that is built up. It works in the session's
// folder, or where the user has set one, inside the fences of a session with
// these roots. Of the spec only the terminal is the caller's.
func (b *Bridge) launch(ctx context.Context, l launching) (*fenced, error) {
	h := l.harness
	env, report := b.environ(h)
	b.Log.Debug("environment of an agent", "agent", h.ID, "set", report.Set, "withheld", report.Withheld)
	program, env, err := b.Home.find(ctx, h, env)
	if err != nil {
		return nil, notStarted(h, err)
	}
	if why := crossing(runtime.GOOS, inWSL(), program.Path); why != "" {
		return nil, &StartError{Agent: h.Name, Reason: why, Hint: "install the agent on the side where Sallyport runs"}
	}
	cwd := l.config.Custom[h.ID].Cwd
	switch {
	case cwd == "":
		cwd = l.folder
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(l.folder, cwd)
	}
	l.spec.Path, l.spec.Args, l.spec.Dir, l.spec.Env, l.spec.Log = program.Path, program.Args, cwd, env, b.Log
	k, err := b.startFenced(ctx, l)
	if err != nil {
		return nil, notStarted(h, err)
	}
	return k, nil
}

// find looks the program up on PATH, and if it is not there on the PATH of the
// user's login shell, which an editor started from a desktop does not have.
func (h *Home) find(ctx context.Context, described *harness.Harness, env []string) (harness.Program, []string, error) {
	found := env
	finder := h.Finder
	if finder == nil {
		finder = &process.Finder{}
	}
	program, err := described.Find(func(name string) (string, error) {
		// The login shell is asked once and for all, within a limit of its own:
		// a caller that gives up must not leave it unknown for ever.
		path, wider, err := finder.Find(context.WithoutCancel(ctx), name, env)
		if err == nil {
			found = wider
		}
		return path, err
	})
	return program, found, err
}

func notStarted(h *harness.Harness, err error) error {
	var said *StartError
	if errors.As(err, &said) {
		return said
	}
	e := &StartError{Agent: h.Name, Reason: err.Error(), Err: err}
	var missing *harness.NotFoundError
	if errors.As(err, &missing) && missing.Install != "" {
		e.Hint = "install it: " + missing.Install
	}
	return e
}

// crossing says why a program lives on the other side of WSL, where the paths
// of the session mean nothing; "" when it does not.
func crossing(goos string, wsl bool, program string) string {
	base := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	switch {
	case goos == "windows" && (base == "wsl.exe" || base == "wsl"):
		return "it would run inside WSL, where Windows paths mean nothing"
	case goos == "linux" && wsl && strings.HasSuffix(base, ".exe"):
		return "it is a Windows program, to which the paths of this Linux mean nothing"
	default:
		return ""
	}
}

// inWSL reports whether this Linux is Windows' own.
func inWSL() bool {
	raw, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(raw)), "microsoft")
}

// environ is the environment of a harness's agents.
func (b *Bridge) environ(h *harness.Harness) ([]string, process.EnvReport) {
	return environ(b.Home.Environ, h)
}

func environ(host []string, h *harness.Harness) ([]string, process.EnvReport) {
	return process.Environ(host, process.EnvSpec{
		Env: h.ACP.Environment.Env, Pass: h.Own.PassEnv, Remove: h.ACP.Environment.RemoveEnv,
	})
}
