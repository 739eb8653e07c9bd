package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// ShellTimeout bounds the start of the user's login shell.
const ShellTimeout = 5 * time.Second

const (
	pathMark   = "--sallyport-path--" // what the shell's own start prints is noise
	pathScript = `printf '%s' "` + pathMark + `$PATH` + pathMark + `"`
	pathMax    = 1 << 20
)

// ShellPath returns the PATH that the user's login shell sets up, which a
// program started from a desktop does not have. host is the environment of this
// process; its SHELL is started as a login shell and an interactive one, for at
// most ShellTimeout, and ended as a tree. It is slow: ask once, or use a Finder.
func ShellPath(ctx context.Context, host []string) (string, error) {
	shell := lookup(host, "SHELL", false)
	if shell == "" {
		return "", errors.New("reading PATH from the login shell: SHELL is not set")
	}
	ctx, cancel := context.WithTimeout(ctx, ShellTimeout)
	defer cancel()
	env, _ := Environ(host, EnvSpec{})
	p, err := Start(ctx, Spec{Path: shell, Args: []string{"-l", "-i", "-c", pathScript}, Env: env})
	if err != nil {
		return "", fmt.Errorf("reading PATH from the login shell: %w", err)
	}
	stopping := context.AfterFunc(ctx, func() { _ = p.Stop(ctx, 0) })
	_ = p.Stdin.Close()
	out, _ := io.ReadAll(io.LimitReader(p.Stdout, pathMax)) // what counts is between the marks
	stopping()
	_ = p.Stop(ctx, 100*time.Millisecond)
	_, rest, _ := strings.Cut(string(out), pathMark)
	path, _, ok := strings.Cut(rest, pathMark)
	switch {
	case ok && path != "":
		return path, nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("reading PATH from the login shell %s: %w", shell, context.Cause(ctx))
	default:
		return "", fmt.Errorf("reading PATH from the login shell %s: it printed none (%s)", shell, p.Exit())
	}
}

// Finder finds programs, in the PATH of the login shell where that of the host
// does not do. It asks the shell at most once. It is safe for concurrent use.
type Finder struct {
	Host []string // the environment of this process, as os.Environ returns it

	once  sync.Once
	shell string // PATH of the login shell; "" if there is none to be had
}

// Find returns the path of a program and the environment to start it with: env,
// or env with the login shell's PATH if the program, or the interpreter of its
// script, was found only there. The error is a *NotFoundError.
func (f *Finder) Find(ctx context.Context, name string, env []string) (string, []string, error) {
	path, err := find(name, env)
	if err == nil || !errors.Is(err, exec.ErrNotFound) {
		return path, env, err
	}
	f.once.Do(func() {
		f.shell, _ = ShellPath(ctx, f.Host) // without it the first error stands
	})
	if f.shell == "" {
		return "", nil, err
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	env = append(env, "PATH="+f.shell)
	path, err = find(name, env)
	if err != nil {
		return "", nil, err
	}
	return path, env, nil
}

// find is LookPath and CheckScript.
func find(name string, env []string) (string, error) {
	path, err := LookPath(name, env)
	if err != nil {
		return "", err
	}
	return path, CheckScript(path, env)
}
