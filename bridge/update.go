package bridge

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// flow is how updates and notices of a session reach the display: at once and
// in order, or kept while the client does not know the session yet.
type flow struct {
	// slot is a one-slot channel: who shows an update has it, so that order is
	// kept. No lock is held while a slow display takes one.
	slot chan struct{}
	held held // guarded by slot
	// closing is behind which answer to a prompt the agent's words wait; nil: none.
	closing atomic.Pointer[chan struct{}]

	mu      sync.Mutex
	hold    bool // notices are kept
	notices []Notice
}

// held is what waits for a client that has not been told the session's id.
type held struct {
	on      bool // updates are kept
	updates []heldUpdate
	bytes   int
}

type heldUpdate struct {
	now  moment
	kind string
	raw  []byte
	from Original
}

// hold keeps updates and notices until release. Before the session has an agent.
func (s *session) hold() {
	s.flow.held.on = true
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	s.flow.hold = true
}

// release shows what was kept, in order, and everything after it at once.
func (s *session) release(ctx context.Context) {
	if s.show(ctx) != nil {
		return
	}
	defer s.shown()
	s.flow.mu.Lock()
	notices := s.flow.notices
	s.flow.hold, s.flow.notices = false, nil
	s.flow.mu.Unlock()
	for _, n := range notices {
		s.b.Display.Notice(n)
	}
	for _, u := range s.flow.held.updates {
		s.showUpdate(ctx, u.now, u.kind, u.raw, u.from)
	}
	s.flow.held = held{}
}

// show takes the slot of flow, and shown gives it back.
func (s *session) show(ctx context.Context) error {
	select {
	case s.flow.slot <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.flow.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) shown() { <-s.flow.slot }

// kinds are the update kinds of ACP v1, so that naming one allocates nothing.
var kinds = []string{
	"agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update",
	"plan", "available_commands_update", "current_mode_update", "config_option_update",
	"session_info_update", "usage_update",
}

// agentUpdate is one session/update. All of it is borrowed.
type agentUpdate struct {
	kind string
	raw  []byte       // the update
	in   *rpc.Message // that it came in: it knows where the members are
}

// readUpdate finds the update in a session/update; false if there is none.
func readUpdate(m *rpc.Message) (u agentUpdate, ok bool) {
	raw, _ := m.Param("update")
	if len(raw) == 0 || raw[0] != '{' {
		return agentUpdate{}, false
	}
	u = agentUpdate{raw: raw, in: m}
	u.kind = kindOf(u.member("sessionUpdate"))
	return u, true
}

// member is one of the update's, nil when there is none.
func (u *agentUpdate) member(name string) []byte {
	value, _ := u.in.Param("update", name)
	return value
}

// text is the text of a message chunk's content block.
func (u *agentUpdate) text() string {
	value, _ := rpc.Member(u.member("content"), "text")
	text, _ := rpc.Unquote(value)
	return text
}

func kindOf(value []byte) string {
	if len(value) > 2 {
		for _, k := range kinds {
			if string(value[1:len(value)-1]) == k {
				return k
			}
		}
	}
	kind, _ := rpc.Unquote(value) // not a string: an unknown kind, passed on
	return kind
}

// isString reports whether a JSON value is the string s.
func isString(value []byte, s string) bool {
	if n := len(value); n == len(s)+2 && value[0] == '"' && string(value[1:n-1]) == s && bytes.IndexByte(value, '\\') < 0 {
		return true
	}
	got, err := rpc.Unquote(value)
	return err == nil && got == s
}

// moment is what an update falls into.
type moment struct {
	id     string // the agent's own of the session
	turn   *turn  // that runs and is not cancelled; nil if none
	turnID string // the turn that the update belongs to; "" for none and for history
	replay replay
}

func (s *session) moment() moment {
	s.state.mu.Lock()
	turns := &s.state.turns
	m := moment{s.state.agentID, turns.runningLocked(), turns.idLocked(), s.state.memory.history.replay}
	s.state.mu.Unlock()
	if m.replay != action {
		m.turnID = "" // one may wait for the end of the history
	}
	return m
}

// update takes one update of its agent a, on the read loop. It waits for the
// display: that is how a slow one slows the agent.
func (s *session) update(a *agent, u *agentUpdate) {
	now, from := s.moment(), original(u.in)
	if !isString(from.Frame[from.At:from.End], now.id) {
		a.noise.count("a session/update for another session")
		a.passNotification(u.in) // a child of this one, perhaps
		return
	}
	if now.replay != action {
		s.countReplayed()
		if now.replay == first {
			s.recall(u)
		}
	} else {
		s.learn(a, &now, u)
		if u.kind == "user_message_chunk" && now.turn != nil && !s.passes() && now.turn.repeats(u.text()) {
			return
		}
	}
	s.waitClosed(a)
	if s.show(a.span.ctx) != nil {
		return // the agent was ended, and the display does not read
	}
	defer s.shown()
	from.Alike = s.alike(a, &now, u)
	s.pass(a, now, u.kind, u.raw, from)
}

// pass shows an update, or keeps it for a client that does not know the session
// yet. It needs the slot of flow.
func (s *session) pass(a *agent, now moment, kind string, raw []byte, from Original) {
	switch {
	case now.replay == again:
	case !s.flow.held.on:
		s.showUpdate(a.span.ctx, now, kind, raw, from)
	case len(s.flow.held.updates) >= maxEarly || s.flow.held.bytes+len(raw) > maxEarlyBytes:
		a.noise.count("a session/update before its session was known")
	default:
		s.flow.held.bytes += len(raw)
		s.flow.held.updates = append(s.flow.held.updates, heldUpdate{now, kind, bytes.Clone(raw), from.clone()})
	}
}

// alike takes the chunks that follow on one and differ from it only in its content,
// where that is for the client alone: it passes, and nothing is learned from it. It
// needs the slot of flow.
func (s *session) alike(a *agent, now *moment, u *agentUpdate) []byte {
	switch u.kind {
	case "agent_message_chunk", "agent_thought_chunk":
		_, ok := s.b.Display.(Flusher)
		if ok && now.replay == action && !s.flow.held.on && !a.quirks.Has(quirk.ModeText) {
			return a.conn.Alike(u.in, u.member("content"))
		}
	}
	return nil
}

// showUpdate needs the slot of flow.
func (s *session) showUpdate(ctx context.Context, now moment, kind string, raw []byte, from Original) {
	s.b.Display.Update(ctx, Update{Session: s.id, Turn: now.turnID, Kind: kind, Replay: now.replay != action, Raw: raw, From: from})
}

// learn takes from an update what the rules need: tool calls before their
// permissions, files that were touched, modes that ask less.
func (s *session) learn(a *agent, now *moment, u *agentUpdate) {
	switch u.kind {
	case "tool_call", "tool_call_update":
		s.learnCall(u)
		if now.turn != nil {
			now.turn.touched.call(u)
		}
	case "current_mode_update":
		id, _ := rpc.Unquote(u.member("currentModeId"))
		s.modeChanged(a, id)
	case "config_option_update":
		s.modeChanged(a, modeOption(u.member("configOptions"), s.harness.Own.ModeOption))
	case "agent_message_chunk":
		if a.quirks.Has(quirk.ModeText) && bytes.Contains(u.raw, []byte("[MODE_UPDATE]")) {
			if mode, ok := quirk.ModeFromText(u.text()); ok {
				s.modeChanged(a, mode)
			}
		}
	}
}

// closeCalls tells the display that calls without an end have ended with the
// turn: several agents send nothing after a refusal or a cancel.
func (s *session) closeCalls(cancelled bool) {
	open := s.cards.Calls.Open()
	ctx := s.b.life.ctx
	if len(open) == 0 || s.passes() || s.show(ctx) != nil {
		return
	}
	defer s.shown()
	why := "the turn ended"
	if cancelled {
		why = "the turn was cancelled"
	}
	now := moment{turnID: s.turnID()}
	for _, c := range open {
		s.showUpdate(ctx, now, "tool_call_update", closedCall(c.ID, why), Original{})
	}
}

// closedCall is the update that closes a call for the agent.
func closedCall(id, why string) jsontext.Value {
	raw := []byte(`{"sessionUpdate":"tool_call_update","toolCallId":`)
	raw = rpc.AppendQuote(raw, id)
	raw = append(raw, `,"status":"failed","_meta":{"sallyport":{"closed":`...)
	raw = rpc.AppendQuote(raw, why)
	return append(raw, "}}}"...)
}
