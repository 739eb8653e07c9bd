package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
)

// Through is a request or a notification of a client that speaks ACP, which is
// passed on to an agent as it came; only its sessionId becomes the agent's own.
type Through struct {
	Session string    // ours; "": it is about no live session
	Agent   string    // without a session: the harness that is meant
	Folder  string    // without a session: where an agent is started if none lives
	ID      rpc.RawID // the client's id of the request; "" of a notification
	Method  string
	Params  jsontext.Value // nil: none
}

// Forward passes a request or a notification on. It returns when it was sent: what
// is forwarded by one caller reaches the agent in order. It opens a session again
// that was closed, and blocks while the agent does not read.
//
// answered is called once with the answer to a request, as it came, on the agent's
// read loop in the order of the wire, where it must not wait; or on another
// goroutine when there was none. When ctx ends the agent is told that the request
// is cancelled, and its answer waited for a while. Of a notification nothing is
// told; answered may be nil.
func (b *Bridge) Forward(ctx context.Context, t Through, answered func(jsontext.Value, error)) {
	if answered == nil {
		answered = func(jsontext.Value, error) {}
	}
	within, leave, err := b.enter(ctx)
	if err != nil {
		answered(nil, err)
		return
	}
	f := &forward{Through: t, b: b, ctx: within}
	f.answered = sync.OnceFunc(func() {
		f.undo.call(f.err)
		answered(f.result, f.err)
		f.free()
		leave()
	})
	if err := f.send(); err != nil {
		f.end(nil, err)
	}
}

// forward is one message on its way.
type forward struct {
	Through
	b        *Bridge
	ctx      context.Context
	free     func()
	answered func()
	result   jsontext.Value
	err      error
	undo     undo
}

// undo takes back what was noted of a request that the agent refuses.
type undo func()

func (u undo) call(err error) {
	if u != nil && err != nil {
		u()
	}
}

func (f *forward) end(result jsontext.Value, err error) {
	f.result, f.err = result, err
	f.answered()
}

func (f *forward) send() error {
	f.free = func() {}
	a, s, err := f.agent()
	if err != nil {
		return err
	}
	if a == nil { // nothing of an agent that is gone has to be cancelled
		f.end(nil, nil)
		return nil
	}
	params := f.Params
	if s != nil {
		if params, err = named(params, s.agentID()); err != nil {
			return rpc.Errorf(rpc.InvalidParams, "params are no object: %v", err)
		}
		f.undo = s.expect(f.Method, params)
	}
	if f.ID == "" {
		err := a.conn.StreamNotification(f.ctx, f.Method, params)
		f.end(nil, a.agentError(err))
		return nil
	}
	answered := make(chan struct{})
	asked, err := a.conn.AskFor(f.ctx, f.ID, f.Method, params, func(result []byte, err error) {
		defer close(answered)
		if errors.Is(err, rpc.ErrClosed) {
			go f.end(nil, a.agentError(err)) // it waits for the end of the process
			return
		}
		f.end(result, passedError(err))
	})
	if err != nil {
		return a.agentError(err)
	}
	go func() { // ends with the answer
		select {
		case <-answered:
			return
		case <-f.ctx.Done():
		}
		asked.Cancel(context.Cause(f.ctx))
		timer := time.NewTimer(f.grace(s))
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
			asked.GiveUp()
		}
	}()
	return nil
}

// passedError is an agent's error as it came, and a call that was given up.
func passedError(err error) error {
	if errors.Is(err, context.Canceled) {
		return rpc.Errorf(rpc.RequestCancelled, "cancelled: the agent did not answer in time")
	}
	return err
}

func (f *forward) grace(s *session) time.Duration {
	if s != nil {
		return s.config.Timeouts.CancelGrace()
	}
	return stopGrace
}

// Grace is how long the agent of a session has to answer what was cancelled; 0 for a
// session that is not known.
func (b *Bridge) Grace(session string) time.Duration {
	s, err := b.session(session)
	if err != nil {
		return 0
	}
	return s.config.Timeouts.CancelGrace()
}

// agent finds who is meant. Nobody is when a session is cancelled that has no agent.
func (f *forward) agent() (*agent, *session, error) {
	if f.Session == "" {
		a, free, err := f.b.anyAgent(f.ctx, f.Agent, f.Folder)
		if err == nil {
			f.free = free
		}
		return a, nil, err
	}
	s, err := f.b.session(f.Session)
	if err != nil {
		return nil, nil, err
	}
	f.free = s.busy()
	if f.Method == cancelMethod {
		return s.current(), s, nil
	}
	a, err := s.open(f.ctx)
	return a, s, err
}

// named are params that name an agent's session by its own id.
func named(params jsontext.Value, id string) (jsontext.Value, error) {
	value, _ := rpc.Member(params, "sessionId")
	if isString(value, id) {
		return params, nil
	}
	return rpc.SetMember(params, "sessionId", rpc.AppendQuote(nil, id))
}

// expect notes what a client's own request makes of the agent's mode, and takes
// the session's mode along where the harness maps one to it.
func (s *session) expect(method string, params jsontext.Value) undo {
	member := func(name string) (jsontext.Value, string) {
		value, _ := rpc.Member(params, name)
		text, _ := rpc.Unquote(value)
		return value, text
	}
	switch method {
	case "session/set_mode":
		_, mode := member("modeId")
		return s.followMode(mode, s.expectMode(mode))
	case "session/set_config_option":
		value, mode := member("value")
		_, option := member("configId")
		before := s.agentMode()
		back := s.expectOption(option, value)
		if s.agentMode() != before {
			return s.followMode(mode, back)
		}
		return back
	default:
		return nil
	}
}

// followMode brings the session into the strictest mode that the harness maps to
// the agent's mode, which its user has just picked.
func (s *session) followMode(agentMode string, back func()) undo {
	before := s.currentMode()
	if ours, ok := s.ourMode(agentMode); ok {
		s.setMode(ours)
	}
	if s.asksLess(agentMode) {
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: fmt.Sprintf("%s asks less in its mode %q: what it does not ask about no rule refuses", s.harness.Name, agentMode)})
	}
	return func() {
		s.setMode(before)
		back()
	}
}

// anyAgent is an agent of a harness that lives, or a new one, for what is about no
// session. It is shared: who opens a session may take it meanwhile. free gives it
// back.
func (b *Bridge) anyAgent(ctx context.Context, id, folder string) (a *agent, free func(), err error) {
	h, err := b.Home.Harness(id)
	if err != nil {
		return nil, nil, err
	}
	folder = settled(folder)
	if a := b.warm(h, folder); a != nil {
		return a, func() {}, nil
	}
	var deaf *session // one that does not read is asked only where there is no other
	for _, s := range b.all() {
		switch now := s.current(); {
		case now == nil || now.gone() || now.harness.ID != h.ID:
		case !now.conn.Full():
			return now, s.busy(), nil
		default:
			deaf = s
		}
	}
	if deaf != nil {
		if now := deaf.current(); now != nil {
			return now, deaf.busy(), nil
		}
	}
	if a, err = b.acquire(ctx, h, folder); err != nil {
		return nil, nil, err
	}
	b.keepWarm(a)
	return a, func() {}, nil
}

// warm is an agent that waits for a session, nil when none does. It goes on
// waiting.
func (b *Bridge) warm(h *harness.Harness, folder string) *agent {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	a := b.takeWarmLocked(h, folder, nil)
	if a != nil {
		b.live.agents[a] = standby{time.Now()}
	}
	return a
}

// Dismiss ends the agents of a harness that wait for a session in another folder
// than this: the one that answered initialize may have been started elsewhere.
func (b *Bridge) Dismiss(id, folder string) {
	folder = settled(folder)
	b.live.mu.Lock()
	var all []func()
	for a, st := range b.live.agents {
		if st.warm() && a.harness.ID == id && a.folder != folder {
			all = append(all, func() { b.endWarm(a, st) })
		}
	}
	b.live.mu.Unlock()
	for _, end := range all {
		b.spawn(end)
	}
}

// Broadcast passes a notification about no session on to every agent that lives and
// reads: those that do not are not waited for.
func (b *Bridge) Broadcast(ctx context.Context, method string, params jsontext.Value) {
	b.start()
	b.live.mu.Lock()
	all := make([]*agent, 0, len(b.live.agents))
	for a := range b.live.agents {
		all = append(all, a)
	}
	b.live.mu.Unlock()
	for _, a := range all {
		if a.conn.Full() {
			b.Log.Warn("a notification is not passed to an agent that does not read", "agent", a.harness.ID)
			continue
		}
		if err := a.conn.StreamNotification(ctx, method, params); err != nil {
			b.Log.Debug("a notification did not reach an agent", "agent", a.harness.ID, "err", err)
		}
	}
}

// Greet starts an agent for a client that speaks ACP, unless one waits, and gives
// its answer to initialize as it came. The agent is kept for the first session.
func (b *Bridge) Greet(ctx context.Context, id, folder string) (answer jsontext.Value, err error) {
	err = b.with(ctx, id, folder, func(_ context.Context, a *agent) error {
		answer = a.greeting
		return nil
	})
	return answer, err
}
