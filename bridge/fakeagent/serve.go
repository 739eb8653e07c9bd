package fakeagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/coder/acp-go-sdk"
)

// ErrCrashed is the end that a crash step asks for.
var ErrCrashed = errors.New("the script crashed")

// errGone ends a run whose wait can no longer come true: the client has left.
var errGone = errors.New("the client has left")

// ExitError is the end that a script asked for, or came to.
type ExitError struct {
	Code    int    // status for the process: of an exit step, or 3 for a script that failed
	Message string // why it failed; empty for an exit step
}

func (e *ExitError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the script exited with status %d", e.Code)
	}
	return e.Message
}

// failed is the error of a script whose expectation or step failed.
func failed(format string, args ...any) *ExitError {
	return &ExitError{Code: 3, Message: fmt.Sprintf(format, args...)}
}

// Agent serves one connection by a script.
type Agent struct {
	Script *Script
	Log    io.Writer       // every received line, as it came; nil: not kept
	Stderr io.Writer       // for noise and failures; nil: discarded
	Die    func(err error) // ends the process at once, for *ExitError and ErrCrashed; nil: Serve returns err
}

// Main serves one connection by script until in ends (nil), ctx is done
// (its cause), or the script exits or fails (*ExitError) or crashes
// (ErrCrashed). It closes in, when that can be closed, on its own end.
func Main(ctx context.Context, script Script, in io.Reader, out, stderr io.Writer) error {
	return (&Agent{Script: &script, Stderr: stderr}).Serve(ctx, in, out)
}

// Serve is Main with the agent's settings.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if slices.Contains(a.Script.Stubborn, "term") {
		signal.Ignore(syscall.SIGTERM)
	}
	s := &serving{agent: a, end: end, out: &outbox{w: out}}
	s.gone = make(chan struct{})
	s.deaf = make(chan struct{})
	if err := s.newRun(nil).steps(a.Script.Start); err != nil {
		s.fail(err)
		return context.Cause(ctx)
	}

	toSDK, feed := io.Pipe()
	conn := acp.NewConnection(s.respond, responses{out: s.out, written: s.calls.written}, toSDK)
	s.over = conn.Done()
	conn.SetLogger(slog.New(slog.DiscardHandler))
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.receive(in, feed)
	}()
	select {
	case <-read:
		if slices.Contains(a.Script.Stubborn, "eof") {
			<-ctx.Done()
		}
	case <-conn.Done():
		s.fail(errors.New("the SDK's connection ended by itself"))
	case <-ctx.Done():
	}
	close(s.gone)
	if c, ok := in.(io.Closer); ok {
		c.Close()
		if _, ok := in.(*os.File); !ok { // whose reads may outlive their file
			<-read
		}
	}
	s.work.Wait()
	feed.Close()
	<-conn.Done()
	s.out.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// serving is one connection being served.
type serving struct {
	agent *Agent
	end   context.CancelCauseFunc
	out   *outbox
	ending

	calls    calls    // what the client asked
	requests requests // what we asked
	memory   memory
	work     sync.WaitGroup // runs of steps
}

// ending holds what stops a connection from working.
type ending struct {
	gone   chan struct{} // closed when nothing more will come from the client
	deaf   chan struct{} // closed when the script stopped reading
	deafen sync.Once
	over   <-chan struct{} // closed when the SDK's connection has ended
}

// memory is what lasts from one request to the next.
type memory struct {
	sessions sessions
	vars     variables
}

// fail ends the connection for a reason; the first reason stays.
func (s *serving) fail(err error) {
	var exit *ExitError
	if !errors.As(err, &exit) && !errors.Is(err, ErrCrashed) {
		exit = failed("%s", err)
		err = exit
	}
	if exit != nil && exit.Message != "" {
		s.stderr("fake-agent: " + exit.Message + "\n")
	}
	if s.agent.Die != nil {
		s.agent.Die(err)
	}
	s.end(err)
}

func (s *serving) stderr(text string) {
	if s.agent.Stderr != nil {
		io.WriteString(s.agent.Stderr, text) // nobody has to read it
	}
}
