package facade

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// place is what is acted on of the params of session/new and its like.
type place struct {
	Cwd   string         `json:"cwd"`
	Roots []string       `json:"additionalDirectories"`
	MCP   jsontext.Value `json:"mcpServers"`
}

func readPlace(params []byte) (p place, err error) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	cwd, _ := rpc.Member(params, "cwd")
	if p.Cwd, err = rpc.Unquote(cwd); err != nil || !filepath.IsAbs(p.Cwd) {
		return p, ours(rpc.InvalidParams, "cwd is missing or no absolute path")
	}
	if roots, _ := rpc.Member(params, "additionalDirectories"); len(roots) > 0 && string(roots) != "null" {
		relative := func(root string) bool { return !filepath.IsAbs(root) }
		if err := rpc.Unmarshal(roots, &p.Roots); err != nil || slices.ContainsFunc(p.Roots, relative) {
			return p, ours(rpc.InvalidParams, "additionalDirectories is no array of absolute paths")
		}
	}
	p.MCP, _ = rpc.Member(params, "mcpServers")
	return p, nil
}

// begin opens a new session, or a copy of one. The lobby goes on meanwhile.
func (q *call) begin() {
	p, err := readPlace(q.params)
	if err != nil {
		q.fail(err)
		return
	}
	if !q.work.run(func() { q.open(p) }) {
		q.fail(errClosing)
	}
}

func (q *call) open(p place) {
	var e *entry
	opened := make(chan struct{}) // closed when the bridge is done with opening
	defer close(opened)
	wire, agent := &bridge.Wire{Params: q.params, Fork: q.method == "session/fork"}, q.Agent
	if wire.Fork {
		if id, ok := sessionOf(q.params); ok {
			if known := q.table.named(id); known != nil { // as its agent knows it
				if i, err := q.side().Info(known.known()); err == nil {
					agent = i.Agent
					wire.Params, _ = rpc.SetMember(q.params, "sessionId", rpc.AppendQuote(nil, i.AgentID))
				}
			}
		}
	}
	wire.Answered = func(i bridge.Info, answer jsontext.Value) {
		if e = q.register(i, q.params); e == nil {
			return
		}
		e.lane.put(0, func() { <-opened })
		q.opened(e, i, answer)
	}
	_, err := q.side().New(q.ctx, bridge.NewSession{Agent: agent, Folder: p.Cwd, Roots: p.Roots, MCP: p.MCP, Wire: wire})
	switch {
	case e == nil && err == nil: // closing
		q.fail(errClosing)
	case e == nil:
		q.fail(err)
	case err != nil: // the client has its answer
		q.gone(e, err)
	default:
		q.sayCommands(e)
		q.side().Dismiss(e.harness(), p.Cwd)
	}
}

// register finds a name for a new session: the agent's own, unless another has it.
func (c *client) register(i bridge.Info, params jsontext.Value) *entry {
	if e, ok := c.table.add(i.AgentID, params); ok {
		return e
	}
	for n := 2; n < 1000; n++ {
		if e, ok := c.table.add(i.AgentID+"~"+strconv.Itoa(n), params); ok {
			return e
		}
	}
	return nil
}

// opened gives the client its answer, on the agent's read loop: the agent's own,
// with our name of the session where that is another.
func (q *call) opened(e *entry, i bridge.Info, answer jsontext.Value) {
	early := q.table.bind(e, i)
	if id, ok := rpc.Member(answer, "sessionId"); ok && string(id) != string(e.quoted) {
		if named, err := rpc.SetMember(answer, "sessionId", e.quoted); err == nil {
			answer = named
		}
	}
	answer = e.learnOffer(answer, q.choices(i.Agent))
	q.answer(answer, nil)
	for _, n := range early {
		q.notice(e, n)
	}
}

// load opens a conversation that the agent kept. On the read loop: what follows
// for the session waits in its lane.
func (q *call) load() {
	id, ok := sessionOf(q.params)
	if !ok || id == "" {
		q.fail(ours(rpc.InvalidParams, "sessionId is missing"))
		return
	}
	p, err := readPlace(q.params)
	if err != nil {
		q.fail(err)
		return
	}
	e := q.table.named(id)
	if e == nil {
		if e, ok = q.table.add(id, q.params); !ok {
			q.fail(errClosing)
			return
		}
	}
	ok = e.lane.put(len(q.params), func() {
		q.inLobbyWait()
		q.reload(e, p)
	})
	if !ok {
		q.fail(e.lane.refused(errClosing))
	}
}

// inLobbyWait waits for what was asked before of nobody in particular: initialize.
func (q *call) inLobbyWait() {
	done := make(chan struct{})
	if q.lobby.put(0, func() { close(done) }) {
		<-done
	}
}

func (q *call) reload(e *entry, p place) {
	b := q.side()
	if b == nil {
		q.table.drop(e)
		q.fail(ours(rpc.InvalidRequest, "initialize failed"))
		return
	}
	if q.table.named(e.id) != e { // a load before this one failed
		q.load()
		return
	}
	var (
		early    []bridge.Notice
		answered bool
		before   = e.known()
	)
	l := bridge.LoadSession{
		Agent: q.Agent, ID: e.id, Folder: p.Cwd, Roots: p.Roots, Replays: q.method == "session/load", Instead: before,
		Ready: func(i bridge.Info) { early = q.table.rebind(e, i, q.params) },
		Wire: &bridge.Wire{Params: q.params, Answered: func(i bridge.Info, answer jsontext.Value) {
			answered = true
			q.opened(e, i, answer)
			for _, n := range early {
				q.notice(e, n)
			}
		}},
	}
	if i, err := b.Info(before); err == nil { // it is open: with its agent, and as that knows it
		l.Agent, l.ID = i.Agent, i.AgentID
	}
	_, err := b.Load(q.ctx, l)
	switch {
	case err != nil && answered:
		q.gone(e, err)
	case err != nil && before != "" && e.known() == before: // nothing was done
		q.fail(err)
	case err != nil:
		q.table.drop(e)
		q.fail(err)
	case !answered: // cannot be
		q.fail(errClosing)
	default:
		q.sayCommands(e)
	}
}

// gone tells that a session ended while it was being opened, and forgets it.
func (q *call) gone(e *entry, err error) {
	q.log.Warn("a session ended while it was opened", "error", err)
	q.notice(e, bridge.Notice{Kind: bridge.NoticeGone, Level: bridge.Problem, Text: err.Error(), Hint: "begin a new session"})
	q.table.drop(e)
}

// release ends a session of the bridge that the client has closed.
func (c *client) release(e *entry) {
	if ours := e.known(); ours != "" {
		if err := c.side().Release(c.life, ours); err != nil {
			c.log.Debug("releasing a session", "error", err)
		}
	}
}

// closing passes session/close or session/delete on, behind what the client said for
// the session before, and ends the session when the agent has agreed. A close ends it
// also where the agent takes nothing, or does not answer, for the cancel's grace, or
// is gone. On the read loop.
func (q *call) closing(e *entry) {
	q.cancelTurns(e, nil)
	var settled atomic.Bool
	answered := make(chan struct{})
	ok := e.lane.insist(func() {
		done := make(chan struct{})
		t := bridge.Through{Session: e.known(), ID: q.id, Method: q.method, Params: q.params}
		q.side().Forward(q.ctx, t, func(result jsontext.Value, err error) {
			answer := append(jsontext.Value(nil), result...)
			var gone *bridge.GoneError
			if q.method == "session/close" && errors.As(err, &gone) {
				answer, err = jsontext.Value("{}"), nil
			}
			switch {
			case settled.Swap(true):
				close(done)
				return
			case err != nil:
				q.fail(err)
				close(done)
			default:
				q.closed(e, answer, func() { close(done) })
			}
			close(answered)
		})
		<-done
	})
	if !ok {
		q.fail(&bridge.UnknownSessionError{Session: e.id})
		return
	}
	if ours := e.known(); q.method == "session/close" && ours != "" {
		q.work.run(func() {
			timer := time.NewTimer(q.side().Grace(ours))
			defer timer.Stop()
			select {
			case <-answered:
				return
			case <-q.life.Done():
				return
			case <-timer.C:
			}
			if !settled.Swap(true) {
				q.log.Warn("an agent did not answer session/close and is ended")
				q.closed(e, jsontext.Value("{}"), func() {})
			}
		})
	}
}

// closed ends a session, and then answers the client, which asked for that.
func (q *call) closed(e *entry, answer jsontext.Value, done func()) {
	q.table.drop(e) // what it says from now on is for nobody
	ok := q.work.run(func() {
		defer done()
		q.release(e)
		q.answer(answer, nil)
	})
	if !ok {
		done()
		q.fail(errClosing)
	}
}
