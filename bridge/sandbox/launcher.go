package sandbox

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"sallyport/bridge/process"
)

// Launcher starts programs inside fences. Its fields are set before its first use; its methods can be called from any
// goroutine.
type Launcher struct {
	// Dir is a folder of ours, of this user alone, that agents never see: temporary folders of sessions, and who holds what.
	// Default: a folder for this user among the system's temporary files.
	Dir string
	// Environ is the host's environment: it names sockets that are closed.
	Environ []string
	// Sockets are closed besides the well-known ones.
	Sockets []string
	// AtMost is the strongest backend to use; empty: any.
	AtMost Backend
	Log    *slog.Logger

	once  sync.Once
	found Found
}

// Fence is a program in its fence. Close it when nothing of the program is left.
type Fence struct {
	*process.Process
	Report Report

	start watched
	clear func() error
	once  sync.Once
	err   error
}

// Close takes away what was put on disk for the fence. It may be called again.
func (f *Fence) Close() error {
	f.once.Do(func() {
		if f.clear != nil {
			f.err = f.clear()
		}
	})
	return f.err
}

func (l *Launcher) log() *slog.Logger {
	if l.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.Log
}

// dir is Dir, made.
func (l *Launcher) dir() (string, error) {
	dir := l.Dir
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "sallyport-"+strconv.Itoa(os.Getuid()))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(dir); err == nil {
		return dir, ownFolder(dir)
	}
	return dir, ownFolder(dir)
}

// Found is what works on this machine.
type Found struct {
	Best     Backend
	Program  string // bwrap, when it is there
	Version  string // its
	Refused  string // why it does not work
	Landlock int    // ABI; 0: there is none
	Fix      string // the one line that makes the best backend work; empty when it does, or nothing is known
}

// Probe finds out what works, by running it, once.
func (l *Launcher) Probe(ctx context.Context) Found {
	l.once.Do(func() {
		l.found = probe(context.WithoutCancel(ctx))
		switch {
		case l.AtMost == None, l.AtMost == Landlock && l.found.Landlock < 2:
			l.found.Best = None
		case l.AtMost == Landlock:
			l.found.Best = Landlock
		}
	})
	return l.found
}

// Start starts a program inside a fence and returns once it is the program that runs, or has failed to. Errors are a
// *SetupError, or process.Start's.
func (l *Launcher) Start(ctx context.Context, r Request) (*Fence, error) {
	backend := r.Backend
	if backend == "" {
		backend = l.Probe(ctx).Best
	}
	if backend == None {
		if r.Network != NetworkOpen {
			return nil, &SetupError{Backend: None, Reason: "without a fence the network cannot be closed", Fix: l.Probe(ctx).Fix}
		}
		p, err := process.Start(ctx, r.Said.Of(r.Program))
		if err != nil {
			return nil, err
		}
		return &Fence{Process: p, Report: Report{Backend: None, Level: Nothing}}, nil
	}
	f, err := l.start(ctx, backend, r)
	if err != nil {
		return nil, err
	}
	l.log().Debug("fence", "backend", backend, "level", f.Report.Level, "masks", len(f.start.masks), "pid", f.Pid())
	return f, nil
}

// Level is how much of the fences works here.
func (f Found) Level() Level {
	switch f.Best {
	case Bubblewrap, Seatbelt:
		return Full
	case Landlock:
		return Partial
	default:
		return Nothing
	}
}
