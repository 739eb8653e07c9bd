//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// guarded is a program under a guard: see guard_unix.go.
type guarded struct {
	guard   *exec.Cmd
	agent   int
	waits   bool     // Wrap.Waits
	report  *os.File // the guard's side of the talk
	allGone chan struct{}
	rest    string // what is left; set before allGone is closed

	mu      sync.Mutex
	control *os.File // our side; guarded by mu
}

// start starts the guard, which starts the program.
func (p *Process) start(ctx context.Context, spec Spec) error {
	self, err := selfPath()
	if err != nil {
		return err
	}
	pipes, err := newPipes()
	if err != nil {
		return err
	}
	files := append([]*os.File{pipes[control].r, pipes[report].w}, spec.Wrap.Files...)
	g := &guarded{
		guard: &exec.Cmd{
			Path:        self,
			Args:        []string{guardName, guardCommand},
			Env:         []string{guardVar + "=1"},
			Dir:         "/",
			Stdin:       pipes[stdin].r,
			Stdout:      pipes[stdout].w,
			Stderr:      pipes[stderr].w,
			ExtraFiles:  files,
			SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		},
		report:  pipes[report].r,
		control: pipes[control].w,
		waits:   spec.Wrap.Waits,
		allGone: make(chan struct{}),
	}
	if t := spec.Terminal; t != nil {
		g.guard.Stdin, g.guard.Stdout, g.guard.Stderr = t, t, t
	}
	if err := g.guard.Start(); err != nil {
		pipes.close()
		return fmt.Errorf("starting the guard: %w", err)
	}
	for _, f := range []*os.File{pipes[stdin].r, pipes[stdout].w, pipes[stderr].w, pipes[control].r, pipes[report].w} {
		_ = f.Close() // the guard has them
	}
	reports := bufio.NewReader(g.report)
	if err := g.begin(ctx, spec, reports); err != nil {
		pipes.close()      // the guard ends at the end of its control pipe
		_ = g.guard.Wait() // its status says nothing more
		return err
	}
	out := &output{file: pipes[stdout].r, wake: pipes[wakeOut].r, waker: pipes[wakeOut].w}
	errs := &output{file: pipes[stderr].r, wake: pipes[wakeErr].r, waker: pipes[wakeErr].w}
	p.Stdin, p.Stdout, p.tree = pipes[stdin].w, out, g
	go p.watch(g, reports, out, errs)
	return nil
}

// begin tells the guard what to start and waits until it did.
func (g *guarded) begin(ctx context.Context, spec Spec, reports *bufio.Reader) error {
	stop := context.AfterFunc(ctx, func() {
		_ = g.guard.Process.Kill() // ends the read below; nothing was started, or dies with it
	})
	defer stop()
	if _, err := g.control.Write(encodeSpec(spec)); err != nil {
		return fmt.Errorf("speaking to the guard: %w", err)
	}
	line, err := reports.ReadString('\n')
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("waiting for the guard: %w", err)
	}
	var errno int
	if _, err := fmt.Sscanf(line, "failed %d\n", &errno); err == nil {
		return syscall.Errno(errno)
	}
	if _, err := fmt.Sscanf(line, "started %d\n", &g.agent); err != nil {
		return fmt.Errorf("unknown report of the guard: %q", strings.TrimSpace(line))
	}
	return nil
}

// watch reads what the guard reports and what the program writes to stderr,
// until both are at their end. It is the owner of all that a Process holds.
func (p *Process) watch(g *guarded, reports *bufio.Reader, stdout, stderr *output) {
	var wg sync.WaitGroup
	drained := make(chan struct{})
	wg.Go(func() {
		defer close(drained)
		_, _ = io.Copy(p.stderr, stderr) // any error is the end
		_ = stderr.Close()
	})
	ended := false
	end := func(e Exit) {
		if ended {
			return
		}
		ended = true
		stdout.finish()
		stderr.finish()
		<-drained
		p.exit = e
		close(p.done)
		p.log.Debug("ended", "program", p.name, "pid", g.agent, "exit", e.String())
	}
	var told bool
	for {
		line, err := reports.ReadString('\n')
		if err != nil {
			break
		}
		var code, signal int
		if _, err := fmt.Sscanf(line, "exit %d %d\n", &code, &signal); err == nil {
			end(g.exitOf(code, signal))
		} else if rest, ok := strings.CutPrefix(line, "gone"); ok {
			told = true
			g.rest = strings.TrimSpace(rest)
		}
	}
	_ = g.guard.Wait() // its status says nothing more
	if !told {
		g.rest = abandon(g.agent)
	}
	end(Exit{Code: -1, Lost: true})
	g.mu.Lock()
	_ = g.control.Close()
	g.mu.Unlock()
	_ = g.report.Close()
	close(g.allGone)
	wg.Wait()
}

func (g *guarded) exitOf(code, signal int) Exit {
	const signalled, last = 128, 64 // as a shell says it
	if g.waits && signal == 0 && code > signalled && code <= signalled+last {
		signal = code - signalled
	}
	if signal != 0 {
		return Exit{Code: -1, Signal: syscall.Signal(signal).String()}
	}
	return Exit{Code: code}
}

func (g *guarded) pid() int              { return g.agent }
func (g *guarded) terminate()            { g.send(cmdTerminate) }
func (g *guarded) kill()                 { g.send(cmdKill) }
func (g *guarded) gone() <-chan struct{} { return g.allGone }
func (g *guarded) left() string          { return g.rest }

func (g *guarded) send(command byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = g.control.Write([]byte{command}) // fails only when the guard is gone
}

// pipes are all pipes of a program and its guard.
type pipes [7]struct{ r, w *os.File }

const (
	stdin = iota
	stdout
	stderr
	control // commands to the guard
	report  // its reports
	wakeOut // wakes the reader of stdout
	wakeErr // and that of stderr
)

func newPipes() (*pipes, error) {
	var p pipes
	for i := range p {
		var err error
		open := blockingPipe
		if i == stdin || i == control || i == report {
			open = os.Pipe
		}
		if p[i].r, p[i].w, err = open(); err != nil {
			p.close()
			return nil, fmt.Errorf("making a pipe: %w", err)
		}
	}
	widen(p[stdout].w)
	return &p, nil
}

// blockingPipe is os.Pipe without Go's poller, which would be woken by every
// single write to the pipe: for a stream of small messages twice the cost.
func blockingPipe() (r, w *os.File, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err = syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	return os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1"), nil
}

// close closes what is open.
func (p *pipes) close() {
	for _, pipe := range p {
		_ = pipe.r.Close() // nil or closed already: an error and no harm
		_ = pipe.w.Close()
	}
}
