package bridge

import (
	"bytes"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// flow is how updates of a session reach the display: at once and in order, or
// kept while the client does not know the session yet.
type flow struct {
	mu   sync.Mutex // held while an update is shown, so that order is kept
	held []heldUpdate
	hold bool
	size int
}

type heldUpdate struct {
	kind string
	raw  []byte
}

// hold keeps updates until release: the client has not been told the id.
func (s *session) hold() {
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	s.flow.hold = true
}

// release shows what was kept, in order, and everything after it at once.
func (s *session) release() {
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	for _, u := range s.flow.held {
		s.showLocked(s.moment(), u.kind, u.raw)
	}
	s.flow.held, s.flow.hold, s.flow.size = nil, false, 0
}

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
	turn   *turn  // that runs, cancelled or not; nil if none
	turnID string // the turn that the update belongs to
	replay bool   // of a history
}

func (s *session) moment() moment {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	turns := &s.state.turns
	return moment{s.state.agentID, turns.now, turns.idLocked(), s.state.memory.loading}
}

// running is the turn unless it is cancelled; nil otherwise.
func (m *moment) running() *turn {
	if m.turn == nil || m.turn.cancelled() {
		return nil
	}
	return m.turn
}

// update takes one update of its agent a, on the read loop.
func (s *session) update(a *agent, u *agentUpdate) {
	now := s.moment()
	if id, _ := u.in.Param("sessionId"); !isString(id, now.id) {
		a.noise.count("a session/update for another session")
		return
	}
	if !now.replay {
		s.learn(a, &now, u)
		if u.kind == "user_message_chunk" && now.running() != nil && now.turn.repeats(u.text()) {
			return
		}
	}
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	if !s.flow.hold {
		s.showLocked(now, u.kind, u.raw)
		return
	}
	if len(s.flow.held) >= maxEarly || s.flow.size+len(u.raw) > maxEarlyBytes {
		a.noise.count("a session/update before its session was known")
		return
	}
	s.flow.size += len(u.raw)
	s.flow.held = append(s.flow.held, heldUpdate{u.kind, bytes.Clone(u.raw)})
}

func (s *session) showLocked(now moment, kind string, raw []byte) {
	if now.replay {
		s.state.mu.Lock()
		s.state.memory.replayed++
		s.state.mu.Unlock()
	}
	s.b.Display.Update(s.b.life.ctx, Update{Session: s.id, Turn: now.turnID, Kind: kind, Replay: now.replay, Raw: raw})
}

// learn takes from an update what the rules need: tool calls before their
// permissions, files that were touched, modes that ask less.
func (s *session) learn(a *agent, now *moment, u *agentUpdate) {
	switch u.kind {
	case "tool_call", "tool_call_update":
		s.cards.Calls.MergeMembers(u.kind, func(fn func(key, value []byte) bool) error { return u.in.EachParam(fn, "update") })
		if t := now.running(); t != nil {
			t.touched.call(u)
		}
	case "current_mode_update":
		id, _ := rpc.Unquote(u.member("currentModeId"))
		s.modeChanged(id)
	case "config_option_update":
		s.modeChanged(modeOption(u.raw))
	case "agent_message_chunk":
		if a.quirks.Has(quirk.ModeText) && bytes.Contains(u.raw, []byte("[MODE_UPDATE]")) {
			if mode, ok := quirk.ModeFromText(u.text()); ok {
				s.modeChanged(mode)
			}
		}
	}
}

func (s *session) replaying(on bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.memory.loading = on
	if on {
		s.state.memory.replayed = 0
	}
}

func (s *session) inReplay() bool {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.memory.loading
}

func (s *session) replayed() int {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.memory.replayed
}

// closeCalls tells the display that calls without an end have ended with the
// turn: several agents send nothing after a refusal or a cancel.
func (s *session) closeCalls(t *turn) {
	open := s.cards.Calls.Open()
	if len(open) == 0 || s.b.life.ctx.Err() != nil {
		return
	}
	why := "the turn ended"
	if t.cancelled() {
		why = "the turn was cancelled"
	}
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	for _, c := range slices.All(open) {
		s.showLocked(s.moment(), "tool_call_update", closedCall(c.ID, why))
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
