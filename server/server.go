package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// closeTimeout bounds the end of all sessions when the editor has gone.
const closeTimeout = 15 * time.Second

// Server is the LSP server. Its fields are set before Run and not changed
// after. Only Sessions must be set.
type Server struct {
	// Sessions makes the agents' side for one editor. It is called once, after
	// initialize was answered, and must not start agents. d is also a
	// bridge.Elicitor or a bridge.UnsavedAsker where the editor can do that.
	Sessions func(d bridge.Display, e workspace.Editor, docs *workspace.Documents) bridge.Sessions
	// Agents lists the known harnesses; nil: none.
	Agents func(ctx context.Context) []wire.Agent
	// Initialized is called once, after Sessions, with the first workspace
	// folder, if there is one; it must not wait. nil: nothing.
	Initialized func(folder string)
	// Log gets what a developer needs, never contents; nil: nothing.
	Log *slog.Logger
	// Version is told to the editor; empty: "devel".
	Version string
	// StateDir is where conversations of plain editors are kept, in a folder
	// "conversations" that is made when needed; empty: none is kept.
	StateDir string
	// Settle is how long an edit may take to show in the mirror after the
	// editor's answer; 0: 2 s.
	Settle time.Duration
}

// Why a connection ended, as far as it was not the stream's end.
var (
	errExit       = errors.New("exit")
	errParentGone = errors.New("the editor's process ended")
)

// Run serves one editor on a stream until it says exit, its end of the stream
// or its process goes away, or ctx is done; then it closes every session and
// returns. exit is 0 after a shutdown request and 1 without one. err says why
// reading failed; a stream that just ended is no error.
func (s *Server) Run(ctx context.Context, r io.Reader, w io.Writer) (exit int, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := newClient(ctx, s, end)
	c.conn = rpc.New(r, w, rpc.Headers{})
	c.conn.Handle = c.handle
	c.conn.Log = c.log
	c.conn.CancelMethod = "$/cancelRequest"
	c.conn.Noise = func(b []byte) { c.log.Debug("skipped input that is no message", "bytes", len(b)) }

	err = c.conn.Run(ctx)
	c.finish()
	exit = 1
	if c.state == down {
		exit = 0
	}
	switch {
	case err == nil, errors.Is(err, errExit), errors.Is(err, errParentGone):
		c.log.Info("the editor has gone", "exit", exit, "reason", err)
		return exit, nil
	default:
		return exit, err
	}
}

// finish ends everything that the connection owns and waits for it.
func (c *client) finish() {
	c.tasks.stop(errClosing)
	if c.sessions != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := c.sessions.Close(ctx); err != nil {
			c.log.Error("closing sessions", "error", err)
		}
	}
	c.tasks.close()
	c.book.close()
}
