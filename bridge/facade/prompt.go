package facade

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// promptCall is one prompt from its coming to its end.
type promptCall struct{ cancel context.CancelCauseFunc }

// prompt puts a prompt into its session's lane, on the read loop. A session/cancel
// behind it finds it, wherever it is.
func (q *call) prompt(e *entry) {
	if list, _ := rpc.Member(q.params, "prompt"); len(list) == 0 || list[0] != '[' {
		q.fail(ours(rpc.InvalidParams, "prompt is no array of content blocks"))
		return
	}
	p := &promptCall{q.cancel}
	e.mu.Lock()
	e.prompts[p] = false
	e.mu.Unlock()
	ended := func() {
		e.mu.Lock()
		delete(e.prompts, p)
		e.mu.Unlock()
	}
	ok := e.lane.put(len(q.params), func() {
		e.mu.Lock()
		e.prompts[p] = true
		e.mu.Unlock()
		sent := make(chan struct{})
		ok := q.work.run(func() {
			defer ended()
			q.turn(e, func() { close(sent) }, func(r bridge.TurnResult, err error) {
				ended() // first: a client that has the answer may go on
				q.turnEnded(r, err)
			})
		})
		if !ok {
			ended()
			q.fail(errClosing)
			return
		}
		<-sent // what the client said after it comes after it
	})
	if !ok {
		ended()
		q.fail(e.lane.refused(&bridge.UnknownSessionError{Session: e.id}))
	}
}

// turn runs one prompt. sent is called once, when what follows may follow; answer
// gets its end, unless it is a command of ours.
func (q *call) turn(e *entry, sent func(), answer func(bridge.TurnResult, error)) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-q.ctx.Done():
		sent()
		answer(bridge.TurnResult{StopReason: "cancelled"}, nil)
		return
	}
	switch {
	case q.ctx.Err() != nil:
		sent()
		answer(bridge.TurnResult{StopReason: "cancelled"}, nil)
		return
	case q.table.named(e.id) != e: // it could not be opened, or was closed
		sent()
		answer(bridge.TurnResult{}, &bridge.UnknownSessionError{Session: e.id})
		return
	}
	if c, ok := e.command(q.params); ok {
		sent()
		q.command(e, c)
		return
	}
	e.mu.Lock()
	e.offer.spoken = true
	e.mu.Unlock()
	w := bridge.PromptWire{Params: q.params, Sent: sent}
	q.side().PromptOverWire(q.ctx, e.known(), w, answer)
}

// turnEnded answers a prompt: with the agent's answer as it came, in which only the
// stop reason is exchanged where the client has cancelled the turn.
func (q *call) turnEnded(r bridge.TurnResult, err error) {
	switch {
	case err != nil && q.ctx.Err() != nil && q.life.Err() == nil:
		r.StopReason, r.Raw = "cancelled", nil
	case err != nil:
		q.fail(err)
		return
	}
	reason := rpc.AppendQuote(nil, string(r.StopReason))
	answer := r.Raw
	switch {
	case len(answer) == 0:
		answer = append(append(jsontext.Value(`{"stopReason":`), reason...), '}')
	case r.AgentSaid != "":
		if changed, err := rpc.SetMember(answer, "stopReason", reason); err == nil {
			answer = changed
		}
	}
	q.answer(answer, nil)
}

// cancelTurns ends the turns of a session, and those that have not begun. False:
// there are none.
func (c *client) cancelTurns(e *entry, why error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := range e.prompts {
		p.cancel(why)
	}
	return len(e.prompts) > 0
}
