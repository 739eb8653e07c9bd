package servertest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace"
)

// Sessions is a bridge.Sessions without agents: what a turn does is a
// function. The zero value is ready; Attach is what server.Server.Sessions
// wants.
type Sessions struct {
	// Turn runs a prompt; nil: it ends at once. ctx ends when the turn is
	// cancelled.
	Turn func(ctx context.Context, t Turn) (bridge.TurnResult, error)
	// Begin runs before New begins a session and may wait or fail; nil: it does
	// neither.
	Begin func(ctx context.Context, n bridge.NewSession) error
	// History is what Stored gives.
	History []bridge.StoredSession
	// Record is what is kept of turns.
	Record

	Display bridge.Display
	Editor  workspace.Editor
	Docs    *workspace.Documents

	calls
}

// calls is guarded by mu.
type calls struct {
	mu     sync.Mutex
	made   []string
	live   []bridge.Info
	turns  map[string]context.CancelFunc
	closed bool
	number int
}

// Turn is one prompt under way.
type Turn struct {
	*Sessions
	Session string
	ID      string
	Blocks  []jsontext.Value
}

// Update shows an update of the turn.
func (t Turn) Update(ctx context.Context, kind, raw string) {
	t.Display.Update(ctx, bridge.Update{Session: t.Session, Turn: t.ID, Kind: kind, Raw: jsontext.Value(raw)})
}

// Say shows a chunk of what the agent says.
func (t Turn) Say(ctx context.Context, s string) {
	t.Update(ctx, "agent_message_chunk",
		fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, s))
}

// Ask asks a permission with the options "once" and "no".
func (t Turn) Ask(ctx context.Context, title string) (permit.Answer, error) {
	return t.Display.Ask(ctx, t.Card(title))
}

// Card is a permission of the turn with the options "once" and "no".
func (t Turn) Card(title string) *permit.Card {
	return &permit.Card{
		ID: "p-" + t.ID, Session: t.Session, Turn: t.ID, Title: title,
		Request: permit.Request{ID: "p-" + t.ID, Kind: permit.Command, Tool: "Bash"},
		Options: []permit.Option{
			{ID: "once", Name: "Allow", Kind: "allow_once"}, {ID: "no", Name: "Reject", Kind: "reject_once"},
		},
	}
}

// Attach takes what a server gives.
func (s *Sessions) Attach(d bridge.Display, e workspace.Editor, docs *workspace.Documents) bridge.Sessions {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Display, s.Editor, s.Docs = d, e, docs
	s.turns = map[string]context.CancelFunc{}
	return s
}

// Made is every call so far, as "Name argument".
func (s *Sessions) Made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// Closed reports whether Close was called.
func (s *Sessions) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Sessions) noteLocked(format string, args ...any) {
	s.made = append(s.made, fmt.Sprintf(format, args...))
}

func (s *Sessions) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(format, args...)
}

// New begins a session s1, s2, ….
func (s *Sessions) New(ctx context.Context, n bridge.NewSession) (bridge.Info, error) {
	s.note("New %s %s %s", n.Agent, n.Folder, n.Mode)
	if s.Begin != nil {
		if err := s.Begin(ctx, n); err != nil {
			return bridge.Info{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	info := bridge.Info{ID: fmt.Sprintf("s%d", s.number), AgentID: "a", Agent: "fake", Folder: n.Folder, Mode: permit.Default}
	s.live = append(s.live, info)
	return info, nil
}

// Load is New with the agent's id.
func (s *Sessions) Load(ctx context.Context, l bridge.LoadSession) (bridge.Info, error) {
	return s.New(ctx, bridge.NewSession{Agent: l.Agent, Folder: l.Folder})
}

// Stored gives History.
func (s *Sessions) Stored(_ context.Context, agent, folder, cursor string) ([]bridge.StoredSession, string, error) {
	s.note("Stored %s %s %s", agent, folder, cursor)
	return s.History, "", nil
}

// Live gives the sessions.
func (s *Sessions) Live() []bridge.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.live)
}

// Info gives one session.
func (s *Sessions) Info(session string) (bridge.Info, error) {
	for _, i := range s.Live() {
		if i.ID == session {
			return i, nil
		}
	}
	return bridge.Info{}, &bridge.UnknownSessionError{Session: session}
}

// Prompt runs Turn. One turn at a time for a session.
func (s *Sessions) Prompt(ctx context.Context, session string, blocks []jsontext.Value) (bridge.TurnResult, error) {
	if _, err := s.Info(session); err != nil {
		return bridge.TurnResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	if s.turns[session] != nil {
		s.mu.Unlock()
		return bridge.TurnResult{}, &bridge.BusyError{Session: session}
	}
	s.turns[session] = cancel
	s.number++
	id := fmt.Sprintf("t%d", s.number)
	s.noteLocked("Prompt %s", session)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.turns, session)
	}()
	r := bridge.TurnResult{StopReason: "end_turn"}
	var err error
	if s.Turn != nil {
		r, err = s.Turn(ctx, Turn{s, session, id, blocks})
	}
	r.Turn = id
	if err == nil && ctx.Err() != nil {
		r.AgentSaid, r.StopReason = r.StopReason, "cancelled"
	}
	return r, err
}

// Cancel cancels the turn.
func (s *Sessions) Cancel(_ context.Context, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked("Cancel %s", session)
	if cancel := s.turns[session]; cancel != nil {
		cancel()
	}
	return nil
}

// SetMode notes the mode.
func (s *Sessions) SetMode(_ context.Context, session string, mode permit.Mode) (bridge.Info, error) {
	s.note("SetMode %s %s", session, mode)
	info, err := s.Info(session)
	info.Mode = mode
	return info, err
}

// SetConfigOption notes the value and gives it back.
func (s *Sessions) SetConfigOption(_ context.Context, session, option string, value jsontext.Value) (jsontext.Value, error) {
	s.note("SetConfigOption %s %s %s", session, option, value)
	return value, nil
}

// SetModel notes the model.
func (s *Sessions) SetModel(_ context.Context, session, model string) error {
	s.note("SetModel %s %s", session, model)
	return nil
}

// Authenticate notes the method.
func (s *Sessions) Authenticate(_ context.Context, agent, folder, method string) error {
	s.note("Authenticate %s %s %s", agent, folder, method)
	return nil
}

// CloseSession forgets a session.
func (s *Sessions) CloseSession(_ context.Context, session string) error {
	if _, err := s.Info(session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked("CloseSession %s", session)
	s.live = slices.DeleteFunc(s.live, func(i bridge.Info) bool { return i.ID == session })
	return nil
}

// DeleteStored notes the id.
func (s *Sessions) DeleteStored(_ context.Context, agent, folder, id string) error {
	s.note("DeleteStored %s %s %s", agent, folder, id)
	return nil
}

// Close ends all turns.
func (s *Sessions) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked("Close")
	s.closed = true
	for _, cancel := range s.turns {
		cancel()
	}
	return nil
}
