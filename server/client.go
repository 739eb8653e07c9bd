package server

import (
	"context"
	"log/slog"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// state is where a connection is in its life (LSP, "Lifecycle Messages").
type state uint8

const (
	fresh   state = iota // before initialize
	running              // between initialize and shutdown
	down                 // after shutdown
)

// client is one editor. Fields above the line belong to the read loop until
// initialize was answered and are not changed after; state belongs to it
// always.
type client struct {
	*Server
	parts
	log  *slog.Logger
	conn *rpc.Conn
	able abilities
	flow

	state state
}

// flow is what goes on.
type flow struct {
	tasks  *tasks
	end    context.CancelCauseFunc // ends the connection
	joined joined                  // what was not sent yet
}

// parts are what a client consists of.
type parts struct {
	docs     *workspace.Documents
	mirror   *mirror
	folders  *folders
	prompts  *prompts
	sessions bridge.Sessions
	desk
}

// desk is what a plain editor needs besides.
type desk struct {
	lastCommand chan struct{} // closed when the command that came last was done; read loop only
	talks       *talks
	book        *book
	cards       *cards
	progresses  *progresses
	standing    *standing
}

func newClient(ctx context.Context, s *Server, end context.CancelCauseFunc) *client {
	c := &client{Server: s, log: s.Log, flow: flow{tasks: newTasks(ctx), end: end}}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.docs = workspace.NewDocuments()
	c.folders = &folders{}
	c.prompts = newPrompts()
	c.cards = &cards{}
	c.progresses = &progresses{}
	c.standing = &standing{}
	c.book = newBook(s.StateDir, c.log)
	c.talks = newTalks()
	c.mirror = newMirror(c)
	return c
}

// route is how one method is handled, on the read loop.
type route struct {
	run          func(c *client, m *rpc.Message)
	notification bool // may come without an id
	request      bool // may come with one
}

// asked is a request that may wait: its params are read on the read loop, the
// rest runs on a goroutine of its own.
func asked[P any](f func(ctx context.Context, c *client, p *P) (any, error)) route {
	return route{request: true, run: func(c *client, m *rpc.Message) {
		p := new(P)
		if err := decode(string(m.Method), m.Params, p); err != nil {
			c.refuse(m.ID, err)
			return
		}
		id := m.ID
		c.spawn(id, func(ctx context.Context) {
			result, err := f(ctx, c, p)
			c.reply(ctx, id, result, err)
		})
	}}
}

// told is a notification, handled on the read loop. What cannot be read is
// dropped.
func told[P any](f func(c *client, p *P)) route {
	return route{notification: true, run: func(c *client, m *rpc.Message) {
		p := new(P)
		if err := decode(string(m.Method), m.Params, p); err != nil {
			c.log.Warn("dropped a notification", "method", string(m.Method), "error", err)
			return
		}
		f(c, p)
	}}
}

// handle is called for every message, in the order of the wire.
func (c *client) handle(m *rpc.Message) {
	r, known := routes[string(m.Method)]
	if m.Kind == rpc.Notification {
		switch {
		case string(m.Method) == "exit":
			c.end(errExit)
		case c.state == running && known && r.notification:
			r.run(c, m)
		}
		return
	}
	switch {
	case c.state == fresh && string(m.Method) != "initialize":
		c.refuse(m.ID, rpc.Errorf(wire.CodeNotInitialized, "the first request is initialize"))
	case c.state == down:
		c.refuse(m.ID, rpc.Errorf(wire.CodeInvalidRequest, "the server is shut down"))
	case !known || !r.request:
		c.refuse(m.ID, rpc.Errorf(wire.CodeUnknownMethod, "no request named %q", clip(string(m.Method))))
	default:
		r.run(c, m)
	}
}

// clip bounds what an answer repeats of a peer's text.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// spawn runs f on a goroutine that the connection owns; f answers id.
func (c *client) spawn(id rpc.RawID, f func(ctx context.Context)) bool {
	if _, ok := c.tasks.start(id, f); !ok {
		c.refuse(id, rpc.Errorf(wire.CodeFailed, "too many requests at once, or the server is ending"))
		return false
	}
	return true
}

func (c *client) refuse(id rpc.RawID, err error) {
	_ = c.conn.ReplyError(id, err) // fails only with the connection
}

// reply answers a request with what became of it.
func (c *client) reply(ctx context.Context, id rpc.RawID, result any, err error) {
	if err != nil {
		c.refuse(id, refusal(ctx, err))
		return
	}
	if result != nil {
		raw, err := encode(result) // a file's bytes may be in it
		if err != nil {
			c.refuse(id, rpc.Errorf(wire.CodeInternal, "the answer could not be encoded"))
			c.log.Error("bug: encoding an answer", "error", err)
			return
		}
		result = raw
	}
	c.settleJoined(c.tasks.ctx)
	if err := c.conn.Reply(id, result); err != nil {
		c.log.Debug("answering", "error", err)
	}
}

// notify sends a notification; it is lost only with the connection.
func (c *client) notify(method string, params any) {
	c.settleJoined(c.tasks.ctx)
	raw, err := encode(params)
	if err == nil {
		err = c.conn.Notify(method, raw)
	}
	if err != nil {
		c.log.Debug("notifying", "method", method, "error", err)
	}
}

// call sends a request to the editor and waits for its answer. When ctx ends
// the editor is told by $/cancelRequest. Never call it on the read loop.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	c.settleJoined(ctx)
	return c.conn.Call(ctx, method, raw, result)
}
