//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	guardName    = "agent-guard" // not our own name: killall of ours must not hit it
	guardCommand = "guard"
	guardVar     = "SALLYPORT_GUARD"
	controlFD    = 3
	reportFD     = 4

	cmdTerminate = 't'
	cmdKill      = 'k'
)

// Times of the guard. Together they stay well below the five seconds after
// which nothing may be left.
const (
	orphanGrace = 300 * time.Millisecond // for what a program left behind, from TERM to KILL
	deathGrace  = 400 * time.Millisecond // when we died: to end by itself, then from TERM to KILL
	killAgain   = 20 * time.Millisecond  // between kills: something may just be starting
	giveUp      = 10 * time.Second       // after the first kill
)

func init() {
	// A guard is this very program, whichever it is: the tests of any package
	// that starts agents must not run as one.
	if os.Getenv(guardVar) != "" && len(os.Args) == 2 && os.Args[0] == guardName {
		syscall.Exit(GuardMain()) // not os.Exit: nothing is to be run at the end, which must come soon
	}
}

// GuardMain is the main function of a guard, which Start makes of this program:
// it starts one agent, waits for all that comes of it, and ends it all when it
// is told so, when the agent ends, or when the process that started the guard
// ends, even if killed. It returns the exit status.
//
// It speaks over two pipes: in comes the program to start, then commands of one
// byte, and the end; out go lines: "started PID" or "failed ERRNO", "exit CODE
// SIGNAL", "gone" and the processes that could not be ended.
func GuardMain() int {
	runtime.LockOSThread() // the agent's death signal is bound to this thread
	closeOnExec()
	control := os.NewFile(controlFD, "control")
	report := os.NewFile(reportFD, "report")
	if control == nil || report == nil || os.Getenv(guardVar) == "" {
		fmt.Fprintln(os.Stderr, "sallyport: guard is started by sallyport itself")
		return 2
	}
	spec, err := decodeSpec(control)
	if err != nil {
		return 1 // whoever started us is gone
	}
	signals := make(chan os.Signal, 8)
	// Caught, not ignored: the agent must not inherit that.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if err := becomeReaper(); err != nil {
		return failed(report, err)
	}
	pid, err := syscall.ForkExec(spec.Path, append([]string{spec.Path}, spec.Args...), &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   spec.Env,
		Files: spec.descriptors(),
		Sys:   spec.attr(),
	})
	if err != nil {
		return failed(report, err)
	}
	fmt.Fprintf(report, "started %d\n", pid)
	releaseStdio()
	spec.release()
	g := &guard{agent: pid, report: report, children: newChildren(pid)}
	if spec.Waits {
		g.spared = pid
	}
	status := g.run(readCommands(control), reap(), signals)
	if len(spec.Sweep) > 0 && (g.orphan || hungUp(controlFD)) {
		sweep(spec.Sweep)
	}
	return status
}

// hungUp reports whether a pipe's other end is closed. The agent may end of its
// own closed input before the guard has seen that we died.
func hungUp(fd int32) bool {
	const soon = 5 // ms, in which a process that dies closes the one pipe after the other
	fds := []unix.PollFd{{Fd: fd, Events: unix.POLLIN}}
	n, err := unix.Poll(fds, soon)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLHUP != 0
}

// sweep becomes this program once more, to clear away what is left of a fence.
// The control pipe and the reports are nobody's any more.
func sweep(args []string) {
	self, err := selfPath()
	if err != nil {
		return
	}
	_ = syscall.Exec(self, append([]string{guardName}, args...), []string{}) // fails only where nothing more can be done
}

// closeSomeOnExec is closeOnExec where the system cannot do it at once.
func closeSomeOnExec() {
	for fd := 3; fd < 1024; fd++ {
		syscall.CloseOnExec(fd) // most are not open
	}
}

func failed(report io.Writer, err error) int {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		errno = syscall.EINVAL
	}
	fmt.Fprintf(report, "failed %d\n", int(errno))
	return 1
}

// releaseStdio lets go of the agent's pipes, so that their ends are seen.
func releaseStdio() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = dup2(int(null.Fd()), fd) // then the end is seen by the silence after it
	}
	_ = null.Close()
}

// guard is the state of a guard.
type guard struct {
	agent    int
	ended    bool // the agent
	orphan   bool // we are without the process that started us
	spared   int  // a fence that is not asked to end, since it kills what is in it; 0 for none
	report   io.Writer
	children children
	step     func()           // what comes next
	timer    <-chan time.Time // when
	killing  time.Time        // since when; zero before
}

// died is the end of one child.
type died struct {
	pid    int
	status syscall.WaitStatus
}

// run returns when nothing is left.
func (g *guard) run(commands <-chan byte, deaths <-chan died, signals <-chan os.Signal) int {
	for {
		select {
		case c, ok := <-commands:
			switch {
			case !ok:
				commands = nil
				g.orphaned()
			case c == cmdTerminate:
				g.terminate()
			case c == cmdKill:
				g.kill()
			}
		case d, ok := <-deaths:
			if ok {
				g.died(d)
				continue
			}
			deaths = nil
			if g.childless() {
				return g.gone("")
			}
		case s := <-signals:
			if s == syscall.SIGTERM {
				g.orphaned()
			}
		case <-g.timer:
			g.timer = nil
			g.step()
		}
		if !g.killing.IsZero() && (g.children.empty() || time.Since(g.killing) > giveUp) {
			return g.gone(g.children.String())
		}
	}
}

func (g *guard) gone(left string) int {
	fmt.Fprintln(g.report, strings.TrimSpace("gone "+left))
	return 0
}

// orphaned ends the agent without haste: its input is closed already.
func (g *guard) orphaned() {
	g.orphan = true
	g.after(deathGrace, func() {
		g.terminate()
		g.after(deathGrace, g.kill)
	})
}

// died notes the end of a child. That of the agent is the end of all.
func (g *guard) died(d died) {
	if d.pid != g.agent || g.ended {
		return
	}
	g.ended = true
	code, sig := d.status.ExitStatus(), 0
	if d.status.Signaled() {
		sig = int(d.status.Signal())
	}
	fmt.Fprintf(g.report, "exit %d %d\n", code, sig)
	g.leftovers()
}

// leftovers ends what the agent left behind.
func (g *guard) leftovers() {
	if !g.killing.IsZero() {
		return
	}
	g.terminate()
	g.after(orphanGrace, g.kill)
}

// terminate asks all to end.
func (g *guard) terminate() { g.children.signal(syscall.SIGTERM, g.spared) }

// kill kills all, again and again.
func (g *guard) kill() {
	if g.killing.IsZero() {
		g.killing = time.Now()
	}
	g.children.signal(syscall.SIGKILL, 0)
	g.after(killAgain, g.kill)
}

func (g *guard) after(d time.Duration, step func()) {
	g.timer, g.step = time.After(d), step
}

// readCommands returns what comes from control, and closes at its end.
func readCommands(control io.Reader) <-chan byte {
	commands := make(chan byte)
	go func() {
		defer close(commands)
		for b := []byte{0}; ; {
			if _, err := io.ReadFull(control, b); err != nil {
				return
			}
			commands <- b[0]
		}
	}()
	return commands
}

// reap waits for all children, and closes when there are none any more.
func reap() <-chan died {
	deaths := make(chan died)
	go func() {
		defer close(deaths)
		for {
			var d died
			var err error
			d.pid, err = syscall.Wait4(-1, &d.status, 0, nil)
			switch {
			case err == syscall.EINTR:
			case err != nil:
				return // ECHILD
			default:
				deaths <- d
			}
		}
	}()
	return deaths
}
