package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultStderrBytes is how much of the end of stderr is kept.
const DefaultStderrBytes = 64 << 10

const (
	// drainGrace is how long after the end of the program its pipes may stay
	// silent before they are taken to be at their end: something else may still
	// hold them open.
	drainGrace = 500 * time.Millisecond
	// killGrace is how long killed processes may take to be gone.
	killGrace = 5 * time.Second
)

// ErrLeft is returned by Stop when processes of the tree could not be ended.
var ErrLeft = errors.New("processes are left")

// Spec says what to start. The zero value of all but Path is useful.
type Spec struct {
	Path        string       // the program, as LookPath returns it
	Args        []string     // arguments, without the program's name
	Dir         string       // working folder; default: the one of this process
	Env         []string     // the whole environment, as Environ builds it; nil is empty
	StderrBytes int          // how much of the end of stderr is kept; default DefaultStderrBytes
	Log         *slog.Logger // starts and stops; default: nothing is logged
	Wrap        Wrap         // what a fence around the program needs; Unix only
	// Terminal, when set, is the program's terminal, and of a session of its own:
	// it takes the place of the three pipes, so that Stdin leads nowhere, and
	// Stdout and Stderr have nothing. It is the caller's to close, once Start has
	// returned. Unix only.
	Terminal *os.File
}

// Wrap is what a fence needs that is started in place of the program, and starts
// it in its turn. The zero value is no fence.
type Wrap struct {
	// Files are given to it as descriptors 3 and up. They are the caller's to
	// close, once Start has returned.
	Files []*os.File
	// Waits says that the fence does not become the program but waits for it, as
	// bubblewrap does: asked to end is what is in it and not the fence itself,
	// which would kill what is in it; and its exit status 128+N means signal N.
	Waits bool
	// Sweep are arguments with which this program is started once more when we
	// have died and nothing of the tree is left: to clear away what the fence put
	// on disk. Its first file is the null device, and so are the others.
	Sweep []string
	// Seats says that what is in the fence takes Spec.Terminal for its controlling
	// terminal itself, in a session of its own, so that a person's Ctrl-C is for
	// the program and not for the fence.
	Seats bool
}

// Process is a program that was started, with all that it starts in its turn.
// Its methods can be called from any goroutine.
type Process struct {
	Stdin  io.WriteCloser // blocks while the program does not read
	Stdout io.Reader      // to be read by one goroutine; ends with the program, see Start

	tree   tree
	stderr *ring
	done   chan struct{} // closed when exit is set
	exit   Exit
	log    *slog.Logger
	name   string
}

// tree is what the platform holds the processes with.
type tree interface {
	pid() int
	// terminate asks all processes of the tree to end.
	terminate()
	// kill ends them all.
	kill()
	// gone is closed when none is left, or when they are given up.
	gone() <-chan struct{}
	// left describes what could not be ended; after gone.
	left() string
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // its status; -1 if it was ended by a signal, or not known
	Signal string // the signal that ended it, such as "killed"; else ""
	Lost   bool   // the guard was killed, so that neither is known
}

// String returns the exit as a person reads it, such as "exit status 3".
func (e Exit) String() string {
	switch {
	case e.Lost:
		return "its guard was killed"
	case e.Signal != "":
		return "ended by signal: " + e.Signal
	default:
		return "exit status " + strconv.Itoa(e.Code)
	}
}

// Start starts a program. ctx bounds the starting, not the program's life: it
// lives until it ends or Stop ends it. Whatever it started and left behind when
// it ends is ended, too, also when it runs in a session of its own; and the whole
// tree ends when this process ends, be it killed. The package's documentation
// names the limits for each platform.
//
// Stdout returns io.EOF once the program has ended and what it wrote was read,
// even if something that it started holds the pipe open.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.settle(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Path, err)
	}
	p := &Process{
		stderr: &ring{max: spec.StderrBytes},
		done:   make(chan struct{}),
		log:    spec.Log,
		name:   spec.Path,
	}
	if err := p.start(ctx, spec); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Path, explain(spec, err))
	}
	p.log.Debug("started", "program", spec.Path, "pid", p.Pid())
	return p, nil
}

// settle fills in the defaults and checks what can be checked before.
func (s *Spec) settle() error {
	if s.StderrBytes <= 0 {
		s.StderrBytes = DefaultStderrBytes
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	for _, text := range slices.Concat([]string{s.Path, s.Dir}, s.Args, s.Env, s.Wrap.Sweep) {
		if strings.ContainsRune(text, 0) {
			return errors.New("a zero byte in its arguments or environment")
		}
	}
	var err error
	if s.Path, err = filepath.Abs(s.Path); err != nil {
		return err
	}
	if s.Dir, err = filepath.Abs(s.Dir); err != nil { // "" is the current folder
		return err
	}
	return CheckScript(s.Path, s.Env)
}

// explain adds why a program that is there cannot be started.
func explain(spec Spec, err error) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, dirErr := os.Stat(spec.Dir); dirErr != nil {
		return fmt.Errorf("its working folder: %w", dirErr)
	}
	return err
}

// Pid returns the process id of the program.
func (p *Process) Pid() int { return p.tree.pid() }

// Done is closed when the program has ended and its stderr was read. What it
// wrote to Stdout before may still have to be read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone is closed when nothing of the tree is left.
func (p *Process) Gone() <-chan struct{} { return p.tree.gone() }

// Exit returns how the program ended; the zero value before Done.
func (p *Process) Exit() Exit {
	select {
	case <-p.done:
		return p.exit
	default:
		return Exit{}
	}
}

// Stderr returns the end of what was written to stderr: valid UTF-8, with
// control characters made visible.
func (p *Process) Stderr() string { return p.stderr.String() }

// Stop ends the tree: it closes stdin, after grace asks all processes to end,
// after another grace kills them, and waits until nothing is left, for a few
// seconds at most. A ctx that is done shortens both graces to nothing. The error
// wraps ErrLeft if something could not be ended. It may be called again.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	_ = p.Stdin.Close() // may be closed already
	if !p.ended(ctx, grace) {
		p.log.Debug("asking to end", "program", p.name, "pid", p.Pid())
		p.tree.terminate()
		if !p.ended(ctx, grace) {
			p.log.Debug("killing", "program", p.name, "pid", p.Pid())
			p.tree.kill()
		}
	}
	timer := time.NewTimer(killGrace)
	defer timer.Stop()
	select {
	case <-p.tree.gone():
	case <-timer.C:
		p.tree.kill()
		return fmt.Errorf("stopping %s: %w", p.name, ErrLeft)
	}
	<-p.done
	if left := p.tree.left(); left != "" {
		return fmt.Errorf("stopping %s: %w: %s", p.name, ErrLeft, left)
	}
	return nil
}

// ended waits for the program to end, and reports whether it did.
func (p *Process) ended(ctx context.Context, grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
