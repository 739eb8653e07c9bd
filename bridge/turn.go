package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
)

// turns is the turn that runs and the one before it.
type turns struct {
	now    *turn
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
	echo    string // of the prompt's text, what the agent has not repeated yet; read loop only
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

func (t *turns) idLocked() string {
	if t.now != nil {
		return t.now.id
	}
	if time.Since(t.lastAt) < linger {
		return t.last
	}
	return ""
}

// running is the turn that runs and is not cancelled, nil otherwise.
func (s *session) running() *turn {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if t := s.state.turns.now; t != nil && !t.cancelled() {
		return t
	}
	return nil
}

// Prompt runs one turn.
func (b *Bridge) Prompt(ctx context.Context, id string, blocks []jsontext.Value) (TurnResult, error) {
	s, err := b.session(id)
	if err != nil {
		return TurnResult{}, err
	}
	t, err := s.beginTurn(ctx)
	if err != nil {
		return TurnResult{}, err
	}
	defer s.endTurn(t)
	// A cancel that comes while the agent is being opened again ends the wait.
	opening, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(t.ctx, func() { stop(errCancelled) })()
	a, err := s.open(opening)
	if err != nil {
		if t.cancelled() {
			return TurnResult{Turn: t.id, StopReason: "cancelled"}, nil
		}
		return TurnResult{Turn: t.id}, err
	}
	t.echo = promptText(blocks)
	blocks = s.withUnsaved(opening, a, blocks)
	return s.drive(ctx, a, t, s.withNotes(blocks))
}

// beginTurn takes the session's only place for a turn. It waits until updates
// of the turn before can be told apart.
func (s *session) beginTurn(ctx context.Context) (*turn, error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for {
		if s.state.turns.now != nil {
			return nil, &BusyError{Session: s.id}
		}
		wait := linger - time.Since(s.state.turns.lastAt)
		if wait <= 0 {
			break
		}
		s.state.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		s.state.mu.Lock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	t := &turn{id: newID("t-")}
	t.ctx, t.end = context.WithCancel(s.b.life.ctx)
	t.grants.Place = s.ground.engine.Place
	s.state.turns.now = t
	s.state.memory.loading = false // a history told late has been told by now
	s.state.used = time.Now()
	return t, nil
}

// endTurn is the one place where a turn ends, however it ended.
func (s *session) endTurn(t *turn) {
	s.closeCalls(t)
	s.tellDirect(t)
	t.end()
	s.state.mu.Lock()
	s.state.turns = turns{last: t.id, lastAt: time.Now()}
	s.state.used = time.Now()
	s.state.mu.Unlock()
	s.cards.Calls.Clear()
}

// drive sends the prompt and waits for the turn's end: the agent's answer, its
// death, or a cancel that it does not answer in time.
func (s *session) drive(ctx context.Context, a *agent, t *turn, blocks []jsontext.Value) (TurnResult, error) {
	type answer struct {
		result jsontext.Value
		err    error
	}
	answers := make(chan answer, 1)
	params := promptParams{SessionID: s.agentID(), Prompt: blocks}
	giveUp := a.conn.Go("session/prompt", params, func(result []byte, err error) {
		answers <- answer{append(jsontext.Value(nil), result...), err}
	})
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
			_ = a.conn.Notify("session/cancel", cancelParams{SessionID: s.agentID()})
			late = time.After(s.spec.config.Timeouts.CancelGrace())
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

type cancelParams struct {
	SessionID string `json:"sessionId"`
}

// turnResult reads the agent's answer to session/prompt (ACP v1, PromptResponse).
func (s *session) turnResult(a *agent, t *turn, raw jsontext.Value, err error) (TurnResult, error) {
	result := TurnResult{Turn: t.id}
	if err != nil {
		err = a.agentError(err)
		var gone *GoneError
		if errors.As(err, &gone) && s.b.life.ctx.Err() == nil {
			s.detach(a) // so that its end is told once
			s.notice(Notice{Kind: NoticeGone, Level: Problem, Turn: t.id, Text: err.Error(), Hint: lastLines(gone.Stderr)})
		}
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
		return result, &AgentError{Agent: a.harness.Name, Code: int64(rpc.InternalError), Message: "its answer to the prompt has no stopReason", Data: string(raw)}
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

// Cancel ends the running turn. It returns at once; the turn's Prompt returns
// when the agent has answered, or was ended. Without a turn it does nothing.
func (b *Bridge) Cancel(_ context.Context, id string) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	s.state.mu.Lock()
	t := s.state.turns.now
	s.state.mu.Unlock()
	if t != nil {
		t.end()
	}
	return nil
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

// withNotes puts before a prompt what was refused since the last one: ACP's
// answer to a permission has no text that would tell the agent why.
func (s *session) withNotes(blocks []jsontext.Value) []jsontext.Value {
	s.state.mu.Lock()
	notes := s.state.memory.notes
	s.state.memory.notes = nil
	s.state.mu.Unlock()
	if len(notes) == 0 {
		return blocks
	}
	text := "Note from Sallyport on the last turn:\n"
	for _, n := range notes {
		text += "- " + n + "\n"
	}
	return append([]jsontext.Value{textBlock(text)}, blocks...)
}

// textBlock is an ACP content block of type text.
func textBlock(text string) jsontext.Value {
	raw, _ := json.Marshal(struct { // two strings always encode
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	return raw
}

// promptText is what a client has shown of a prompt itself.
func promptText(blocks []jsontext.Value) string {
	var text string
	for _, b := range blocks {
		value, _ := rpc.Member(b, "text")
		s, _ := rpc.Unquote(value) // another kind of block has none
		text += s
	}
	return text
}

// repeats reports whether a user_message_chunk only repeats the prompt, which
// the client has shown already.
func (t *turn) repeats(chunk string) bool {
	rest, ok := strings.CutPrefix(t.echo, chunk)
	if ok {
		t.echo = rest
	}
	return ok && chunk != ""
}
