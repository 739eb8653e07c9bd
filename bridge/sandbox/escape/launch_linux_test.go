package escape

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/workspace/fence"
)

// launched is a command in its fence.
type launched struct {
	*sandbox.Fence
	stop   context.CancelFunc
	looker sync.WaitGroup

	mu     sync.Mutex
	events []sandbox.Event
	when   []int64 // each was told, Unix nanoseconds
}

// launch starts a job's command in its fence; nil when it was refused, or not
// started for another reason.
func launch(ctx context.Context, j *job) (*launched, result, error) {
	env, _ := process.Environ(os.Environ(), process.EnvSpec{Env: j.Env})
	policy, err := fence.New(j.Folder, j.rules())
	if err != nil {
		return nil, result{}, err
	}
	layout, err := policy.Layout(ctx)
	if err != nil {
		return nil, result{}, err
	}
	launcher := &sandbox.Launcher{
		Dir:     filepath.Join(j.Home, ".local/state/sallyport/fences"),
		Environ: os.Environ(),
		Sockets: []string{filepath.Join(j.Run, "docker.sock")},
	}
	state := filepath.Join(j.Home, ".local/share/agent")
	held, err := launcher.Start(ctx, sandbox.Request{
		Program: process.Spec{Path: j.Command[0], Args: j.Command[1:], Dir: j.Folder, Env: env},
		Layout:  layout,
		Needs:   sandbox.Needs{State: []string{state}, Settings: []string{filepath.Join(state, "settings.json"), filepath.Join(state, "plugins")}},
		Backend: sandbox.Backend(j.Backend),
	})
	var setup *sandbox.SetupError
	switch {
	case errors.As(err, &setup):
		return nil, result{Refused: err.Error()}, nil
	case err != nil:
		return nil, result{NotStarted: err.Error()}, nil
	}
	l := &launched{Fence: held}
	watching, stop := context.WithCancel(ctx)
	l.stop = stop
	l.looker.Go(func() {
		held.Watch(watching, func(events []sandbox.Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, e := range events {
				l.events, l.when = append(l.events, e), append(l.when, time.Now().UnixNano())
			}
		})
	})
	return l, result{}, nil
}

// end clears away, and adds what the user was told of.
func (l *launched) end(r *result) error {
	l.stop()
	l.looker.Wait()
	for _, e := range l.events {
		r.Told = append(r.Told, e.Path)
	}
	r.ToldAt = l.when
	return l.Close()
}
