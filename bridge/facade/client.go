package facade

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

// errClosing is why a request's context ended that the client did not take back.
var errClosing = errors.New("the connection is closing")

// client is one connection.
type client struct {
	*Facade
	life  context.Context // ends with the connection
	end   context.CancelCauseFunc
	conn  *rpc.Conn
	log   *slog.Logger
	table *table
	lobby *lane
	work  work
	met   met
}

// met is what the client's initialize made of it.
type met struct {
	mu     sync.Mutex
	asked  bool
	bridge *bridge.Bridge // nil before
	able   able
	texts
}

// texts are the client's.
type texts struct {
	paths   workspace.Slots // those that are being written
	unsaved unsaved
}

func newClient(ctx context.Context, f *Facade, end context.CancelCauseFunc) *client {
	c := &client{Facade: f, life: ctx, end: end, log: f.Log, table: newTable(f.stall()), lobby: newLane(f.stall())}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

// side is the agents' side, nil before the client has said hello.
func (c *client) side() *bridge.Bridge {
	c.met.mu.Lock()
	defer c.met.mu.Unlock()
	return c.met.bridge
}

func (c *client) abilities() able {
	c.met.mu.Lock()
	defer c.met.mu.Unlock()
	return c.met.able
}

// handle takes one message of the client, on the read loop.
func (c *client) handle(m *rpc.Message) {
	if m.Kind == rpc.Notification {
		c.notification(m)
		return
	}
	method := string(m.Method)
	if c.side() == nil && method != "initialize" {
		// One that follows its initialize without waiting is dealt with after it.
		c.met.mu.Lock()
		asked := c.met.asked
		c.met.mu.Unlock()
		if !asked {
			_ = c.conn.ReplyError(m.ID, ours(rpc.InvalidRequest, "say initialize first"))
			return
		}
	}
	r, ok := c.work.begin(c.life, m.ID)
	if !ok {
		_ = c.conn.ReplyError(m.ID, ours(rpc.InternalError, "too many requests are open: wait for answers"))
		return
	}
	q := &call{client: c, request: r, method: method, params: bytes.Clone(m.Params)}
	q.dispatch()
}

// call is one request of the client that is being dealt with.
type call struct {
	*client
	*request
	method string
	params jsontext.Value // its own copy; nil when there are none
}

// dispatch puts a request into its lane, on the read loop.
func (q *call) dispatch() {
	switch q.method {
	case "initialize":
		q.initialize()
	case "session/new", "session/fork":
		q.inLobby(q.begin)
	case "session/load", "session/resume":
		q.load()
	default:
		q.forSession()
	}
}

// inLobby puts a request behind the others that are about no session.
func (q *call) inLobby(do func()) {
	ok := q.lobby.put(len(q.params), func() {
		if q.side() == nil {
			q.fail(ours(rpc.InvalidRequest, "initialize failed"))
			return
		}
		do()
	})
	if !ok {
		q.fail(q.lobby.refused(errClosing))
	}
}

// forSession puts a request into the lane of the session that it names, or into
// the lobby.
func (q *call) forSession() {
	id, ok := sessionOf(q.params)
	if !ok {
		if q.method == "session/prompt" || q.method == "session/close" {
			q.fail(ours(rpc.InvalidParams, "sessionId is missing"))
			return
		}
		q.inLobby(func() { q.forward("") })
		return
	}
	e := q.table.named(id)
	switch {
	case e == nil && q.method != "session/prompt": // one that only the agent knows
		q.inLobby(func() { q.forward("") })
	case e == nil:
		q.fail(&bridge.UnknownSessionError{Session: id})
	case q.method == "session/prompt":
		q.prompt(e)
	case q.method == "session/close", q.method == "session/delete":
		q.closing(e)
	default:
		do := func() { q.forward(e.known()) }
		if q.method == "session/set_config_option" {
			do = func() { q.setOption(e) }
		}
		ok := e.lane.put(len(q.params), func() {
			if q.table.named(id) != e { // it could not be opened, or was closed
				q.fail(&bridge.UnknownSessionError{Session: id})
				return
			}
			do()
		})
		if !ok {
			q.fail(e.lane.refused(&bridge.UnknownSessionError{Session: id}))
		}
	}
}

// sessionOf is the session that params name.
func sessionOf(params []byte) (id string, ok bool) {
	value, _ := rpc.Member(params, "sessionId")
	id, err := rpc.Unquote(value)
	return id, err == nil
}

// notification takes one of the client's notifications, on the read loop.
func (c *client) notification(m *rpc.Message) {
	method := string(m.Method)
	if method == rpc.CancelRequest {
		id, _ := rpc.Member(m.Params, "requestId")
		c.work.cancel(rpc.RawID(id), m)
		return
	}
	b := c.side()
	if b == nil {
		return // nobody is there yet who could be told
	}
	id, ok := sessionOf(m.Params)
	if !ok {
		params := bytes.Clone(m.Params)
		c.lobby.put(len(params), func() { b.Broadcast(c.life, method, params) })
		return
	}
	e := c.table.named(id)
	switch {
	case e == nil:
		c.log.Debug("dropped a notification about no session", "method", clip(method))
	case method == "session/cancel":
		if !c.cancelTurns(e, rpc.TakeBack(m)) { // the agent may know what it is about
			c.pass(e, b, m)
		}
	default:
		c.pass(e, b, m)
	}
}

// pass puts a notification about a session into its lane.
func (c *client) pass(e *entry, b *bridge.Bridge, m *rpc.Message) {
	method, params := string(m.Method), bytes.Clone(m.Params)
	e.lane.put(len(params), func() {
		b.Forward(c.life, bridge.Through{Session: e.known(), Method: method, Params: params}, nil)
	})
}

// forward passes a request on to the agent of a session, ours by id, or to any
// agent, and the answer back.
func (q *call) forward(session string) {
	t := bridge.Through{Session: session, Agent: q.Agent, Folder: q.Folder, ID: q.id, Method: q.method, Params: q.params}
	q.side().Forward(q.ctx, t, q.answer)
}

// answer answers with a result as it came, or an error, and ends the request.
func (q *call) answer(result jsontext.Value, err error) {
	if err != nil {
		q.fail(err)
		return
	}
	_ = q.conn.ReplyRaw(q.id, result)
	q.work.done(q.request)
}

func (q *call) fail(err error) {
	_ = q.conn.ReplyError(q.id, q.signInsOf(refusal(q.ctx, err)))
	q.work.done(q.request)
}

// clip bounds what of the client's words goes into the log.
func clip(s string) string { return s[:min(len(s), 128)] }
