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
		s.showLocked(u.kind, u.raw)
	}
	s.flow.held, s.flow.hold, s.flow.size = nil, false, 0
}

// kinds are the update kinds of ACP v1, so that naming one allocates nothing.
var kinds = []string{
	"agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update",
	"plan", "available_commands_update", "current_mode_update", "config_option_update",
	"session_info_update", "usage_update",
}

func kindOf(update []byte) string {
	value, _ := rpc.Member(update, "sessionUpdate")
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

// update takes one update of the agent, on its read loop; raw is borrowed.
func (s *session) update(raw []byte) {
	kind := kindOf(raw)
	s.learn(kind, raw)
	if t := s.running(); kind == "user_message_chunk" && t != nil && !s.inReplay() && t.repeats(chunkText(raw)) {
		return
	}
	s.flow.mu.Lock()
	defer s.flow.mu.Unlock()
	if !s.flow.hold {
		s.showLocked(kind, raw)
		return
	}
	if len(s.flow.held) >= maxEarly || s.flow.size+len(raw) > maxEarlyBytes {
		if a := s.current(); a != nil {
			a.noise.count("a session/update before its session was known")
		}
		return
	}
	s.flow.size += len(raw)
	s.flow.held = append(s.flow.held, heldUpdate{kind, bytes.Clone(raw)})
}

func (s *session) showLocked(kind string, raw []byte) {
	s.state.mu.Lock()
	turn, replay := s.state.turns.idLocked(), s.state.memory.loading
	if replay {
		s.state.memory.replayed++
	}
	s.state.mu.Unlock()
	s.b.Display.Update(s.b.life.ctx, Update{Session: s.id, Turn: turn, Kind: kind, Replay: replay, Raw: raw})
}

// learn takes from an update what the rules need: tool calls before their
// permissions, files that were touched, modes that ask less.
func (s *session) learn(kind string, raw []byte) {
	if s.inReplay() {
		return
	}
	switch kind {
	case "tool_call", "tool_call_update":
		s.cards.Calls.Merge(kind, raw)
		if t := s.running(); t != nil {
			t.touched.call(raw)
		}
	case "current_mode_update":
		mode, _ := rpc.Member(raw, "currentModeId")
		id, _ := rpc.Unquote(mode)
		s.modeChanged(id)
	case "config_option_update":
		s.modeChanged(modeOption(raw))
	case "agent_message_chunk":
		if a := s.current(); a != nil && a.quirks.Has(quirk.ModeText) && bytes.Contains(raw, []byte("[MODE_UPDATE]")) {
			if mode, ok := quirk.ModeFromText(chunkText(raw)); ok {
				s.modeChanged(mode)
			}
		}
	}
}

// chunkText is the text of a message chunk's content block.
func chunkText(raw []byte) string {
	content, _ := rpc.Member(raw, "content")
	value, _ := rpc.Member(content, "text")
	text, _ := rpc.Unquote(value)
	return text
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
		s.showLocked("tool_call_update", closedCall(c.ID, why))
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
