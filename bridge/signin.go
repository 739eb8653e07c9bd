package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
)

// SignIn is an agent's own program that a person signs in with, at a terminal. What
// the agent says of it is not trusted: it opens nothing.
type SignIn struct {
	Agent  string // harness; empty: the user's default
	Folder string // where it runs
	// Program takes the place of the agent's own program and its arguments, by the
	// agent's word; empty: none.
	Program string
	Args    []string // that the agent wants added
	Env     []string // NAME=VALUE, that it wants set
	// Terminal is the program's. SignIn closes it.
	Terminal *os.File
	// Started is told the agent's name and what holds the program, once it runs.
	Started func(agent, held string)
}

// SignedIn is how a sign-in ended.
type SignedIn struct {
	Agent  string // its name
	Status int    // the program's; -1 if it has none
	How    string // the same in words
	Lost   string // what of the fence was lost meanwhile; empty: nothing
}

// SignIn runs an agent's program inside the fences of a session until it ends or
// ctx is done, and returns when nothing of it is left. The session's folder is
// there to be read and not to be written: no checkpoint stands before a sign-in.
// Errors are those of a start, and why its end came before the program's.
func (b *Bridge) SignIn(ctx context.Context, s SignIn) (SignedIn, error) {
	defer s.Terminal.Close()
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	defer leave()
	h, err := b.Home.Harness(s.Agent)
	if err != nil {
		return SignedIn{}, err
	}
	folder := settled(s.Folder)
	c, err := b.Home.Config(folder)
	if err != nil {
		return SignedIn{}, err
	}
	said := sandbox.Said{Args: s.Args, Env: s.Env}
	if said.Program, err = b.named(ctx, h, folder, s.Program); err != nil {
		return SignedIn{}, err
	}
	k, err := b.launch(ctx, launching{harness: h, config: c, folder: folder, said: said, looks: true, spec: process.Spec{Terminal: s.Terminal}})
	if err != nil {
		return SignedIn{}, err
	}
	_ = s.Terminal.Close() // so that its end is seen
	s.Started(h.Name, heldWords(k.report()))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() { // ends with ctx
		defer close(watched)
		k.Watch(ctx, func(events []sandbox.Event) {
			for _, e := range events {
				if (e.Lost || e.Mounted) && k.lower(e.Path+" was replaced or mounted while it ran") && k.asked == config.SandboxRequire {
					cancel(fmt.Errorf("%s; a sandbox is required, so it was ended", k.lostBy()))
				}
			}
		})
	}()
	ended := false
	select {
	case <-k.Done():
		ended = true
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	err = errors.Join(err, k.Stop(context.WithoutCancel(ctx), stopGrace))
	cancel(nil)
	<-watched
	exit := k.Exit()
	done := SignedIn{Agent: h.Name, Status: exit.Code, How: exit.String(), Lost: k.lostBy()}
	if !ended {
		done.Status = -1
	}
	return done, errors.Join(err, k.Close())
}

// named finds the program that an agent names in the place of its own, as the agent
// itself would find it; "" for none.
func (b *Bridge) named(ctx context.Context, h *harness.Harness, folder, program string) (string, error) {
	switch {
	case program == "" || filepath.IsAbs(program):
		return program, nil
	case strings.ContainsRune(program, filepath.Separator):
		return filepath.Join(folder, program), nil
	}
	env, _ := b.environ(h)
	finder := b.Home.Finder
	if finder == nil {
		finder = &process.Finder{}
	}
	path, _, err := finder.Find(context.WithoutCancel(ctx), program, env)
	if err != nil {
		return "", notStarted(h, err)
	}
	return path, nil
}

// heldWords say what holds a sign-in, in one clause.
func heldWords(r *sandbox.Report) string {
	switch {
	case r.Level == sandbox.Nothing && r.Why != "":
		return "outside of every fence: " + r.Why
	case r.Level == sandbox.Nothing:
		return "outside of every fence"
	case r.Writes:
		return strings.Join(append([]string{fmt.Sprintf("inside the fences (%s), with nothing to write but files of its own", r.Backend)}, gapWords(r)...), "; ")
	default:
		return strings.Join(append([]string{fmt.Sprintf("inside the fences (%s), with gaps", r.Backend)}, gapWords(r)...), "; ")
	}
}

// Passes reports whether a variable that is set on this program reaches an agent.
// The user's manifests and configuration say so, and never the agent.
func (b *Bridge) Passes(agent, variable string) bool {
	h, err := b.Home.Harness(agent)
	if err != nil {
		return false
	}
	_, report := environ([]string{variable + "=x"}, h)
	return slices.Contains(report.Set, variable)
}
