package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
)

// sequence is the turn that runs and the one before it.
type sequence struct {
	now    *turn
	next   *turn     // waits for the last updates of the turn before
	last   string    // id of the turn that ended last
	lastAt time.Time // when
}

// turn is one turn, from the prompt to its end.
type turn struct {
	id      string
	ctx     context.Context // ends with a cancel or with the turn: permissions and writes hang on it
	end     context.CancelFunc
	grants  permit.Grants
	touched touched
	work    sync.WaitGroup // writes and questions under way; grows only while the turn runs
	echo    string         // of the prompt's text, what the agent has not repeated yet; read loop only
	record  record
	wire    *promptWire // of a client that speaks ACP; nil for others
}

const (
	// linger is how long updates that come after a turn's end still belong to
	// it: agents send their last chunks after the answer (I5).
	linger = 300 * time.Millisecond
)

// errCancelled is the cause with which a cancelled turn's context ends.
var errCancelled = errors.New("the turn was cancelled")

// turnID is the id of the turn that runs, or of the one that ended a moment
// ago, or "".
func (s *session) turnID() string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.turns.idLocked()
}

func (t *sequence) idLocked() string {
	if t.now != nil {
		return t.now.id
	}
	if time.Since(t.lastAt) < linger {
		return t.last
	}
	return ""
}

// runningLocked is the turn that runs and is not cancelled, nil otherwise.
func (t *sequence) runningLocked() *turn {
	if t.now != nil && !t.now.cancelled() {
		return t.now
	}
	return nil
}

func (s *session) running() *turn {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.turns.runningLocked()
}

// beginWork is running for a write or a question, which the turn's end waits for:
// the caller calls work.Done. History does not work, also when a prompt waits
// for its end.
func (s *session) beginWork() *turn {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if s.state.memory.history.replay != action {
		return nil
	}
	t := s.state.turns.runningLocked()
	if t != nil {
		t.work.Add(1)
	}
	return t
}

// Prompt runs one turn.
func (b *Bridge) Prompt(ctx context.Context, id string, blocks []jsontext.Value) (TurnResult, error) {
	return b.prompt(ctx, id, blocks, nil)
}

// prompt runs one turn; wire is nil but for a client that speaks ACP.
func (b *Bridge) prompt(ctx context.Context, id string, blocks []jsontext.Value, wire *promptWire) (result TurnResult, err error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return TurnResult{}, err
	}
	defer leave()
	s, err := b.session(id)
	if err != nil {
		return TurnResult{}, err
	}
	t, err := s.beginTurn(ctx, promptText(blocks), wire)
	if errors.Is(err, errCancelled) {
		return TurnResult{Turn: t.id, StopReason: "cancelled"}, nil
	}
	if err != nil {
		return TurnResult{}, err
	}
	defer func() { s.endTurn(ctx, t, &result, err) }()
	a, blocks, err := s.ready(ctx, t, blocks)
	switch {
	case t.cancelled():
		return TurnResult{Turn: t.id, StopReason: "cancelled"}, nil
	case err != nil:
		return TurnResult{Turn: t.id}, err
	}
	return s.drive(ctx, a, t, blocks)
}

// ready opens the session's agent and completes the prompt. A cancel ends it.
func (s *session) ready(ctx context.Context, t *turn, blocks []jsontext.Value) (*agent, []jsontext.Value, error) {
	ctx, stop := t.within(ctx)
	defer stop()
	a, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	blocks, sent := s.withUnsaved(ctx, a, blocks)
	s.restoreMode(ctx, a)
	s.settle(ctx)
	if err := s.cover(ctx, a, t); err != nil {
		return nil, nil, err
	}
	s.hearUndos(ctx)
	t.record.unwatch = s.watchTurn(t)
	s.passedOn(blocks)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for _, doc := range sent { // from here on the agent will know them
		s.ground.files.Sent(doc)
	}
	return a, s.withNotes(blocks), nil
}

// beginTurn takes the session's only place for a turn. It waits until updates
// of the turn before can be told apart; a turn that was cancelled meanwhile
// comes with errCancelled.
func (s *session) beginTurn(ctx context.Context, echo string, wire *promptWire) (*turn, error) {
	t := &turn{id: newID("t-"), echo: echo, wire: wire}
	t.record.begun = make(chan struct{})
	t.ctx, t.end = context.WithCancel(s.b.life.ctx)
	t.grants.Place = s.ground.engine.Place
	wait, err := s.queue(t)
	if err != nil {
		t.end()
		return nil, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-t.ctx.Done():
	case <-timer.C:
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.turns.next = nil
	switch {
	case t.cancelled():
		return t, errCancelled
	case ctx.Err() != nil:
		t.end()
		return nil, ctx.Err()
	}
	s.state.turns.now = t
	s.state.use.at = time.Now()
	return t, nil
}

// queue takes the place behind the turn that has just ended, and says how long
// an update that comes could still belong to that one.
func (s *session) queue(t *turn) (wait time.Duration, err error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	switch {
	case s.state.use.closed:
		return 0, &UnknownSessionError{Session: s.id}
	case s.state.turns.now != nil || s.state.turns.next != nil:
		return 0, &BusyError{Session: s.id}
	}
	s.state.turns.next = t
	return linger - time.Since(s.state.turns.lastAt), nil
}

// endTurn is the one place where a turn ends, however it ended. Nothing of it
// is written or open any more when it returns.
func (s *session) endTurn(ctx context.Context, t *turn, result *TurnResult, err error) {
	s.state.mu.Lock()
	cancelled := t.cancelled()
	t.end()
	s.state.mu.Unlock()
	t.work.Wait()
	if t.record.unwatch != nil {
		t.record.unwatch()
	}
	s.closeCalls(cancelled)
	s.leftOpen(t)
	s.closeTurn(ctx, t, ending{result, err, cancelled})
	s.tellMore(t.id)
	s.cards.Calls.Clear()
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.turns.now, s.state.turns.last, s.state.turns.lastAt = nil, t.id, time.Now()
	s.state.use.at = time.Now()
}

// drive sends the prompt and waits for the turn's end: the agent's answer, its
// death, or a cancel that it does not answer in time.
func (s *session) drive(ctx context.Context, a *agent, t *turn, blocks []jsontext.Value) (TurnResult, error) {
	type answer struct {
		result jsontext.Value
		err    error
	}
	answers := make(chan answer, 1)
	var params any = promptParams{SessionID: s.agentID(), Prompt: blocks}
	if t.wire != nil {
		var err error
		if params, err = t.wire.prompt(s.agentID(), blocks); err != nil {
			return TurnResult{Turn: t.id}, err
		}
	}
	giveUp := a.conn.Go("session/prompt", params, func(result []byte, err error) {
		t.wire.wasAnswered(s)
		answers <- answer{append(jsontext.Value(nil), result...), err}
	})
	t.wire.wasSent()
	cancelled := t.ctx.Done()
	done := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case r := <-answers:
			return s.turnResult(a, t, r.result, r.err)
		case <-done:
			done = nil
			t.end()
		case <-cancelled:
			cancelled = nil
			_ = a.conn.Notify(cancelMethod, rpc.RawJSON(s.cancelParams(context.Cause(ctx)))) // fails only with the connection
			late = time.After(s.config.Timeouts.CancelGrace())
		case <-late:
			giveUp()
			<-answers
			s.notice(Notice{
				Kind: NoticeCancelled, Level: Warning, Turn: t.id,
				Text: a.harness.Name + " did not answer the cancel and was ended",
				Hint: "the next prompt starts it again",
			})
			s.detach(a)
			a.stop()
			return TurnResult{Turn: t.id, StopReason: "cancelled"}, nil
		}
	}
}

type promptParams struct {
	SessionID string           `json:"sessionId"`
	Prompt    []jsontext.Value `json:"prompt"`
}

const cancelMethod = "session/cancel"

// cancelParams are those of session/cancel (ACP v1, Prompt Turn), in the client's
// words where it has said why: its own session/cancel, or the _meta of a
// $/cancel_request for the prompt.
func (s *session) cancelParams(why error) []byte {
	var by *rpc.TakenBack
	if errors.As(why, &by) && by.Method == rpc.CancelRequest {
		own := &rpc.TakenBack{Method: cancelMethod}
		if meta, ok := rpc.Member(by.Params, "_meta"); ok {
			own.Params, _ = rpc.SetMember([]byte("{}"), "_meta", meta) // fails for what is no object only
		}
		why = own
	}
	return rpc.Withdrawal(why, cancelMethod, "sessionId", rpc.AppendQuote(nil, s.agentID()))
}

// turnResult reads the agent's answer to session/prompt (ACP v1, PromptResponse).
func (s *session) turnResult(a *agent, t *turn, raw jsontext.Value, err error) (TurnResult, error) {
	result := TurnResult{Turn: t.id, Raw: raw}
	if err != nil {
		err = a.agentError(err)
		var gone *GoneError
		if errors.As(err, &gone) && s.b.life.ctx.Err() == nil {
			s.detach(a) // so that its end is told once
			s.notice(Notice{Kind: NoticeGone, Level: Problem, Turn: t.id, Text: err.Error(), Hint: lastLines(gone.Stderr)})
		}
		a.settled(err)
		if t.cancelled() {
			result.StopReason = "cancelled"
			return result, nil
		}
		return result, err
	}
	var said struct {
		StopReason StopReason     `json:"stopReason"`
		Usage      jsontext.Value `json:"usage"`
	}
	if err := rpc.Unmarshal(raw, &said); err != nil || said.StopReason == "" {
		if t.cancelled() {
			result.StopReason = "cancelled"
			return result, nil
		}
		return result, a.malformed("its answer to the prompt has no stopReason", raw)
	}
	result.StopReason = said.StopReason
	if len(said.Usage) > 0 && said.Usage.Kind() == '{' {
		result.Usage = said.Usage
	}
	if t.cancelled() && said.StopReason != "cancelled" {
		result.StopReason, result.AgentSaid = "cancelled", said.StopReason
	}
	return result, nil
}

// Cancel ends the running turn, or the one that is about to run. It returns at
// once; the turn's Prompt returns when the agent has answered, or was ended.
// Without a turn it does nothing.
func (b *Bridge) Cancel(_ context.Context, id string) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, t := range []*turn{s.state.turns.now, s.state.turns.next} {
		if t != nil {
			t.cancel()
		}
	}
	return nil
}

// cancel ends the turn, and the checks that follow it.
func (t *turn) cancel() {
	t.end()
	t.record.cancel()
}

// within is ctx, ended also by the turn.
func (t *turn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// cancelled reports whether a running turn was cancelled: from then on writes
// are refused and cards are withdrawn.
func (t *turn) cancelled() bool { return t.ctx.Err() != nil }
