package facade

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

// closeTimeout bounds the end of all sessions when the client has gone.
const closeTimeout = 15 * time.Second

// Facade is an ACP agent on a stream. Its fields are set before Run and not
// changed after. Only Bridge must be set.
type Facade struct {
	// Bridge makes the agents' side for one client, when that has said hello.
	// greeting are the params of its initialize.
	Bridge func(d bridge.Display, editors func(session string) workspace.Editor, greeting jsontext.Value) *bridge.Bridge
	// Agent is the harness that stands behind us; empty: the user's default.
	Agent string
	// Choices lists the agents that the client's user can pick from; nil: the one
	// there is. It is asked for each session.
	Choices func() []Choice
	// Folder is where the agent is started that answers the client's initialize;
	// most clients start us in the folder of their first session.
	Folder string
	// Stall is how long the client is held up by an agent that takes nothing: past it
	// what comes for that agent is refused; default 30 s.
	Stall time.Duration
	// Log gets what a developer needs, never contents; nil: nothing.
	Log *slog.Logger
	// Version is ours; empty: "devel".
	Version string
	// Self is the command line by which we were started, with an absolute program,
	// for clients that run an agent's own command to sign in; nil: they run none.
	Self []string
}

func (f *Facade) stall() time.Duration {
	if f.Stall > 0 {
		return f.Stall
	}
	return 30 * time.Second
}

// Choice is an agent that can be picked.
type Choice struct {
	ID   string // of the harness
	Name string
}

// StartError says why there is no agent behind us: the client was told, and there
// is nothing more to do.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Run serves one client until its stream ends or ctx is done, and then closes
// every session. An error says why reading failed, or is a *StartError.
func (f *Facade) Run(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := newClient(ctx, f, end)
	c.conn = rpc.New(r, w, rpc.Lines{})
	c.conn.Handle = c.handle
	c.conn.Log = c.log
	c.conn.CancelMethod = rpc.CancelRequest
	c.conn.Noise = func(b []byte) { c.log.Debug("skipped input that is no message", "bytes", len(b)) }
	err := c.conn.Run(ctx)
	c.finish()
	var start *StartError
	switch {
	case err == nil, ctx.Err() != nil && !errors.As(context.Cause(ctx), &start):
		return nil
	default:
		return err
	}
}

// finish ends everything that the connection owns and waits for it.
func (c *client) finish() {
	c.end(errClosing)
	if b := c.side(); b != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			c.log.Error("closing sessions", "error", err)
		}
	}
	c.table.close()
	c.lobby.close()
	c.work.wait()
}
