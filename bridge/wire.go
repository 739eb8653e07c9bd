package bridge

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// forks reports whether the session begins as a copy of a conversation. Opened
// again, it is one of its own.
func (s *session) forks() bool { return s.wire != nil && s.wire.Fork && s.agentID() == "" }

// wireParams are the client's own params of session/new and its like: as they
// came, but for the id of a conversation that is opened again, or that a new one
// takes the place of.
func (s *session) wireParams(id string) jsontext.Value {
	params := s.wire.Params
	switch {
	case id == "" && s.forks():
		return params
	case id == "":
		without, err := rpc.WithoutMember(params, "sessionId")
		if err != nil { // it was an object when it came
			return params
		}
		return without
	}
	value, _ := rpc.Member(params, "sessionId")
	if isString(value, id) {
		return params
	}
	named, err := rpc.SetMember(params, "sessionId", rpc.AppendQuote(nil, id))
	if err != nil { // it was an object when it came
		return params
	}
	return named
}

// wireAnswered gives a client that speaks ACP its answer, the first time.
func (s *session) wireAnswered(result []byte) {
	if s.wire == nil || s.wire.Answered == nil {
		return
	}
	s.state.mu.Lock()
	told := s.state.memory.answered
	s.state.memory.answered = true
	s.state.mu.Unlock()
	if !told {
		s.wire.Answered(s.info(), result)
	}
}

// PromptWire is session/prompt of a client that speaks ACP.
type PromptWire struct {
	Params jsontext.Value // as the client sent them
	// Sent is called once when the prompt was sent to the agent, or will not be:
	// what the client said after it may follow now. It must not wait.
	Sent func()
}

// PromptOverWire is Prompt for a client that speaks ACP. What the agent says behind
// its answer waits until answered is called with the turn's end, which then
// returns: so the client has the answer first.
func (b *Bridge) PromptOverWire(ctx context.Context, session string, p PromptWire, answered func(TurnResult, error)) {
	w := &promptWire{PromptWire: p, closed: make(chan struct{})}
	w.Sent = sync.OnceFunc(p.Sent)
	list, _ := rpc.Member(p.Params, "prompt")
	var blocks []jsontext.Value
	if err := rpc.Unmarshal(list, &blocks); err != nil {
		w.Sent()
		answered(TurnResult{}, rpc.Errorf(rpc.InvalidParams, "prompt is no array of content blocks"))
		return
	}
	w.blocks = len(blocks)
	result, err := b.prompt(ctx, session, blocks, w)
	w.Sent()
	answered(result, err)
	close(w.closed)
}

// Release forgets a session and ends its agent without a word to it: the client
// has told it itself.
func (b *Bridge) Release(ctx context.Context, id string) error {
	_, leave, err := b.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := b.session(id)
	if err != nil {
		return err
	}
	b.drop(s)
	return nil
}

// promptWire is one of them under way.
type promptWire struct {
	PromptWire
	blocks int           // of the client's
	closed chan struct{} // closed when the client has its answer
}

// prompt are the params for the agent: the client's own, with our blocks where
// there are more than the client's, and the agent's own id of the session.
func (w *promptWire) prompt(id string, blocks []jsontext.Value) (jsontext.Value, error) {
	params, err := named(w.Params, id)
	if err != nil || len(blocks) == w.blocks {
		return params, err
	}
	list := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, b...)
	}
	return rpc.SetMember(params, "prompt", append(list, ']'))
}

func (w *promptWire) wasSent() {
	if w != nil {
		w.Sent()
	}
}

// wasAnswered holds back what the agent says from now on. On its read loop.
func (w *promptWire) wasAnswered(s *session) {
	if w != nil {
		s.flow.closing.Store(&w.closed)
	}
}

// passes reports whether the session's client speaks ACP itself.
func (s *session) passes() bool {
	_, ok := s.b.passer()
	return ok
}

// waitClosed waits, on the read loop of a, until the client has the answer to the
// prompt behind which the agent goes on.
func (s *session) waitClosed(a *agent) {
	closed := s.flow.closing.Load()
	if closed == nil {
		return
	}
	select {
	case <-*closed:
	case <-a.span.ctx.Done():
	}
	s.flow.closing.CompareAndSwap(closed, nil)
}
