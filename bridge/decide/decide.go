package decide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/decider"
	"sallyport/workspace/fence"
)

// Starter starts deciders. The zero value starts them without a fence and with
// an empty environment.
type Starter struct {
	Environ []string          // of this process, as os.Environ returns it
	Finder  *process.Finder   // nil: what is on the PATH of Environ
	Kernel  *sandbox.Launcher // nil: no fence
	Private []string          // projects that are closed to all deciders
	Own     fence.Own         // our own folders
	Version string            // ours
	Log     *slog.Logger      // nil: nothing is logged
}

// Program is a decider that this starter starts. note may be nil.
func (s *Starter) Program(m decider.Manifest, note func(decider.Entry)) decider.Program {
	return decider.Program{
		ID: m.ID, Name: m.Name, Version: m.Version, Host: s.Version, Note: note, Log: s.Log,
		Start: func(ctx context.Context) (decider.Process, error) { return s.start(ctx, m) },
	}
}

func (s *Starter) start(ctx context.Context, m decider.Manifest) (decider.Process, error) {
	env, _ := process.Environ(s.Environ, process.EnvSpec{})
	program, env, err := s.find(ctx, m, env)
	if err != nil {
		return nil, err
	}
	spec := process.Spec{Path: program, Args: m.Command[1:], Dir: m.Folder, Env: env, StderrBytes: 8 << 10, Log: s.Log}
	if s.Kernel == nil || s.Kernel.Probe(ctx).Level() == sandbox.Nothing {
		p, err := process.Start(ctx, spec)
		if err != nil {
			return nil, err
		}
		return &running{Process: p, closing: func() error { return nil }, log: s.log()}, nil
	}
	policy, err := fence.New(m.Folder, fence.Rules{
		Region: []string{"data"}, Unreadable: fence.DefaultUnreadable(), Private: s.Private, Own: s.Own,
	})
	if err != nil {
		return nil, fmt.Errorf("the fence of a decider: %w", err)
	}
	layout, err := policy.Layout(ctx)
	if err != nil {
		return nil, fmt.Errorf("the fence of a decider: %w", err)
	}
	f, err := s.Kernel.Start(ctx, sandbox.Request{Program: spec, Layout: layout})
	if err != nil {
		return nil, err
	}
	return &running{Process: f.Process, closing: f.Close, log: s.log()}, nil
}

// find is the program's file, and the environment that it was found in.
func (s *Starter) find(ctx context.Context, m decider.Manifest, env []string) (string, []string, error) {
	name := m.Program()
	if !filepath.IsAbs(name) {
		finder := s.Finder
		if finder == nil {
			finder = &process.Finder{Host: s.Environ}
		}
		return finder.Find(context.WithoutCancel(ctx), name, env)
	}
	folder, err := filepath.EvalSymlinks(m.Folder)
	if err != nil {
		return "", nil, err
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", nil, err
	}
	rel, err := filepath.Rel(folder, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil, fmt.Errorf("%s leads out of its folder", name)
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() {
		return "", nil, errors.Join(fmt.Errorf("%s is no file", name), err)
	}
	return real, env, nil
}

func (s *Starter) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// stopGrace is how long a program may take to end once its input is closed, and
// again once it was asked to.
const stopGrace = 300 * time.Millisecond

// running is a program that runs.
type running struct {
	*process.Process
	closing func() error // takes the fence away
	log     *slog.Logger
}

func (r *running) Read(p []byte) (int, error) { return r.Stdout.Read(p) }

func (r *running) Write(p []byte) (int, error) { return r.Stdin.Write(p) }

// Stop ends the tree, and what reads of it.
func (r *running) Stop() {
	err := r.Process.Stop(context.Background(), stopGrace)
	if err = errors.Join(err, r.closing()); err != nil {
		r.log.Warn("ending a decider", "err", err)
	}
	if c, ok := r.Stdout.(io.Closer); ok {
		_ = c.Close() // only read
	}
}

// Ended says how it ended, with the last line of what it wrote to its standard
// error.
func (r *running) Ended() string {
	said := r.Exit().String()
	if lines := strings.Split(strings.TrimSpace(r.Stderr()), "\n"); lines[len(lines)-1] != "" {
		said += ": " + lines[len(lines)-1]
	}
	return said
}
