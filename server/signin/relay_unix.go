//go:build unix

package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"sallyport/bridge"
)

// run makes the program's terminal, and stands between the two.
func (s *Terminal) run(ctx context.Context, b *bridge.Bridge, what bridge.SignIn) (done bridge.SignedIn, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	master, terminal, err := openTerminal()
	if err != nil {
		return done, fmt.Errorf("making a terminal: %w", err)
	}
	r := &relay{in: s.In, master: master, out: screen{to: s.Out}, end: cancel}
	defer func() { err = errors.Join(err, r.close()) }()
	r.resize()
	what.Terminal = terminal
	what.Started = func(agent, held string) {
		s.began(agent, held)
		if err := r.begin(); err != nil {
			cancel(err)
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = master.Close() }) // a hang-up, to the program
	defer stop()
	return b.SignIn(ctx, what)
}

// openTerminal makes a terminal, and its other end, which can be closed while it is
// read: the library's own blocks.
func openTerminal() (master, terminal *os.File, err error) {
	blocking, terminal, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, errors.Join(err, terminal.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), terminal, nil
}

// relay passes bytes and the size of the window between two terminals.
type relay struct {
	in     *os.File
	master *os.File
	out    screen
	end    context.CancelCauseFunc

	before *term.State // of in; nil before begin
	waker  *os.File    // ends the reading of in
	sizes  chan os.Signal
	wg     sync.WaitGroup // the readers of in and of sizes
}

// drained is how long what was written by a program that is gone may take.
const drained = time.Second

var errClosed = errors.New("its terminal was closed")

// begin passes what is typed on, from now on as it is typed.
func (r *relay) begin() error {
	wake, waker, err := os.Pipe()
	if err != nil {
		return err
	}
	before, err := term.MakeRaw(int(r.in.Fd()))
	if err != nil {
		_, _ = wake.Close(), waker.Close()
		return fmt.Errorf("setting up the terminal: %w", err)
	}
	r.before, r.waker = before, waker
	r.sizes = make(chan os.Signal, 1)
	signal.Notify(r.sizes, syscall.SIGWINCH)
	r.resize() // it may have changed before
	r.wg.Go(func() {
		for range r.sizes {
			r.resize()
		}
	})
	r.wg.Go(func() {
		defer wake.Close()
		r.typed(wake)
	})
	r.wg.Go(r.said)
	return nil
}

// resize gives the program's terminal the size of the person's. Either may be gone.
func (r *relay) resize() {
	size, err := unix.IoctlGetWinsize(int(r.in.Fd()), unix.TIOCGWINSZ)
	raw, rawErr := r.master.SyscallConn()
	if err != nil || rawErr != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
}

// said passes on what the program writes, until nobody can write any more.
func (r *relay) said() {
	if _, err := io.Copy(&r.out, r.master); r.out.failed {
		r.end(err)
	}
}

// typed passes on what is typed, until wake ends.
func (r *relay) typed(wake *os.File) {
	fds := []unix.PollFd{{Fd: int32(r.in.Fd()), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}}
	for buf := make([]byte, 4<<10); ; {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil, fds[1].Revents != 0:
			return
		}
		n, err := r.in.Read(buf)
		if n == 0 || err != nil {
			r.end(errClosed)
			return
		}
		if _, err := r.master.Write(buf[:n]); err != nil { // the program is gone, or told so
			return
		}
	}
}

// close ends what begin began, and gives the terminal back as it was. The program
// is gone.
func (r *relay) close() error {
	_ = r.master.SetReadDeadline(time.Now().Add(drained)) // somebody else may have it
	if r.before == nil {
		r.said()
	} else {
		_ = r.waker.Close()
		signal.Stop(r.sizes)
		close(r.sizes)
	}
	_ = r.master.SetWriteDeadline(time.Now())
	r.wg.Wait()
	_ = r.master.Close() // may be closed already
	r.out.leave()
	if r.before == nil {
		return nil
	}
	discard(int(r.in.Fd()))
	if err := term.Restore(int(r.in.Fd()), r.before); err != nil && !errors.Is(err, unix.EIO) { // EIO: it is gone
		return fmt.Errorf("restoring the terminal: %w", err)
	}
	return nil
}
