package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
	"sallyport/workspace/disk"
)

// authRequired is ACP's error code for "sign in first".
const authRequired = -32000

// openParams are the params of session/new, and with SessionID of session/load
// and session/resume.
type openParams struct {
	SessionID  string         `json:"sessionId,omitzero"`
	Cwd        string         `json:"cwd"`
	Roots      []string       `json:"additionalDirectories,omitempty"`
	MCPServers jsontext.Value `json:"mcpServers"`
}

// New begins a session: an agent is started or taken from those started ahead.
func (b *Bridge) New(ctx context.Context, n NewSession) (Info, error) {
	b.start()
	h, err := b.Home.Harness(n.Agent)
	if err != nil {
		return Info{}, err
	}
	s, err := b.newSession(h, n.Folder, n.Roots, n.Mode)
	if err != nil {
		return Info{}, err
	}
	if len(n.MCP) > 0 {
		s.spec.mcp = n.MCP
	}
	s.hold()
	if err := s.create(ctx); err != nil {
		return Info{}, err
	}
	return b.admit(s, n.Ready)
}

// Load opens a conversation that an agent kept. Its history is told as replay.
func (b *Bridge) Load(ctx context.Context, l LoadSession) (Info, error) {
	b.start()
	h, err := b.Home.Harness(l.Agent)
	if err != nil {
		return Info{}, err
	}
	s, err := b.newSession(h, l.Folder, l.Roots, "")
	if err != nil {
		return Info{}, err
	}
	a, err := b.acquire(ctx, h, s.spec.folder)
	if err != nil {
		return Info{}, err
	}
	if err := a.canLoad(l.Replays); err != nil {
		b.keepWarm(a)
		return Info{}, err
	}
	b.put(s)
	if l.Ready != nil { // the history comes before the answer to session/load
		a.bind(s, l.ID)
		l.Ready(s.info())
	}
	if _, err := s.load(ctx, a, l.ID, l.Replays); err != nil {
		b.drop(s)
		return Info{}, err
	}
	return s.info(), nil
}

func (a *agent) canLoad(replays bool) error {
	c := a.hello.capabilities()
	if replays && !c.Load {
		return &UnsupportedError{Agent: a.harness.Name, What: "session/load"}
	}
	if !replays && !c.Resume {
		return &UnsupportedError{Agent: a.harness.Name, What: "session/resume"}
	}
	return nil
}

// put makes a session known under its id. The first one in a folder clears
// away what writers that were killed have left there.
func (b *Bridge) put(s *session) {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	b.live.sessions[s.id] = s
	if b.live.swept[s.spec.folder] || b.live.closed {
		return
	}
	b.live.swept[s.spec.folder] = true
	b.life.wg.Go(func() {
		if _, err := disk.SweepTemp(b.life.ctx, s.spec.folder); err != nil {
			b.Log.Debug("sweeping temporary files", "err", err)
		}
	})
}

// drop forgets a session and ends its agent.
func (b *Bridge) drop(s *session) {
	b.live.mu.Lock()
	delete(b.live.sessions, s.id)
	b.live.mu.Unlock()
	if a := s.current(); a != nil {
		s.detach(a)
		a.stop()
	}
	s.ground.engine.Wait()
}

// admit makes a new session known, first to its client, then shows what the
// agent has said meanwhile.
func (b *Bridge) admit(s *session, ready func(Info)) (Info, error) {
	b.put(s)
	info := s.info()
	if ready != nil {
		ready(info)
	}
	s.release()
	return info, nil
}

// create starts an agent and asks it for a new session.
func (s *session) create(ctx context.Context) error {
	a, err := s.b.acquire(ctx, s.spec.harness, s.spec.folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.spec.config.Timeouts.Start())
	defer cancel()
	if err := s.ask(ctx, a, "session/new", openParams{Cwd: s.spec.folder, Roots: a.roots(s.spec.roots), MCPServers: s.spec.mcp}); err != nil {
		return err
	}
	if err := s.setAgentMode(ctx, a, s.currentMode()); err != nil {
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: err.Error()})
	}
	return nil
}

// ask opens the session at an agent by method; on failure the agent is kept for
// a sign-in, or ended.
func (s *session) ask(ctx context.Context, a *agent, method string, params openParams) error {
	answered := make(chan error, 1)
	started := time.Now()
	giveUp := a.conn.Go(method, params, func(result []byte, err error) {
		if err == nil {
			err = s.opened(a, params.SessionID, result)
		}
		answered <- err
	})
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		giveUp()
		if err = <-answered; err != nil {
			err = ctx.Err()
		}
	}
	if err == nil {
		return nil
	}
	err = a.agentError(err)
	if a.lacksResume(method, err) {
		return err
	}
	var said *AgentError
	if errors.As(err, &said) {
		if said.Code == authRequired && params.SessionID == "" {
			s.b.keepWarm(a)
			return &AuthError{Agent: a.harness.Name, Message: said.Message, Methods: a.signIn()}
		}
		a.stop()
		return said
	}
	err = a.startError(ctx, method, time.Since(started), err)
	s.detach(a)
	a.stop()
	return err
}

// opened reads the answer to session/new, load or resume, on the read loop.
func (s *session) opened(a *agent, id string, result []byte) error {
	if id == "" {
		var answer struct {
			SessionID string `json:"sessionId"`
		}
		if err := rpc.Unmarshal(result, &answer); err != nil || answer.SessionID == "" {
			return &StartError{Agent: a.harness.Name, Reason: "its answer to session/new names no session", Hint: "update the agent"}
		}
		id = answer.SessionID
	}
	s.cards.CommandInTitle = a.quirks.Has(quirk.CommandInTitle) // before the agent can ask
	s.state.mu.Lock()
	s.state.offer = append(jsontext.Value(nil), result...)
	s.state.mu.Unlock()
	a.bind(s, id)
	return nil
}

// roots are the additional folders, for an agent that takes them.
func (a *agent) roots(all []string) []string {
	if a.hello.offers("additionalDirectories") {
		return all
	}
	return nil
}

// detach takes an agent off its session.
func (s *session) detach(a *agent) {
	s.state.mu.Lock()
	if s.state.agent == a {
		s.state.agent = nil
	}
	s.state.mu.Unlock()
	a.session.CompareAndSwap(s, nil)
}

// Stored lists the conversations that an agent kept.
func (b *Bridge) Stored(ctx context.Context, id, folder, cursor string) (rows []StoredSession, next string, err error) {
	err = b.with(ctx, id, folder, func(a *agent) error {
		if !a.hello.offers("list") {
			return &UnsupportedError{Agent: a.harness.Name, What: "session/list"}
		}
		params := struct {
			Cwd    string `json:"cwd,omitzero"`
			Cursor string `json:"cursor,omitzero"`
		}{folder, cursor}
		raw, err := a.call(ctx, "session/list", params)
		if err != nil {
			return err
		}
		var answer struct {
			Sessions []struct {
				ID      string `json:"sessionId"`
				Cwd     string `json:"cwd"`
				Title   string `json:"title"`
				Updated string `json:"updatedAt"`
			} `json:"sessions"`
			Next string `json:"nextCursor"`
		}
		if err := rpc.Unmarshal(raw, &answer); err != nil {
			return &AgentError{Agent: a.harness.Name, Code: int64(rpc.InternalError), Message: "its answer to session/list is malformed", Data: string(raw)}
		}
		for _, r := range answer.Sessions {
			rows = append(rows, StoredSession{ID: r.ID, Folder: r.Cwd, Title: r.Title, Updated: r.Updated})
		}
		next = answer.Next
		return nil
	})
	return rows, next, err
}

// DeleteStored deletes a conversation that an agent kept.
func (b *Bridge) DeleteStored(ctx context.Context, id, folder, stored string) error {
	return b.with(ctx, id, folder, func(a *agent) error {
		if !a.hello.offers("delete") {
			return &UnsupportedError{Agent: a.harness.Name, What: "session/delete"}
		}
		_, err := a.call(ctx, "session/delete", cancelParams{SessionID: stored})
		return err
	})
}

// Authenticate signs in by a method that the user chose. The agent that asked
// for it is used, so that a session/new after it finds it signed in. A way that
// needs a terminal is not taken here: AuthError has the line to run.
func (b *Bridge) Authenticate(ctx context.Context, id, folder, method string) error {
	return b.with(ctx, id, folder, func(a *agent) error {
		for _, m := range a.signIn() {
			if m.ID == method && m.Command != "" {
				return &AuthError{Agent: a.harness.Name, Message: "this way needs a terminal: run " + m.Command, Methods: []AuthMethod{m}}
			}
		}
		_, err := a.call(ctx, "authenticate", struct {
			MethodID string `json:"methodId"`
		}{method})
		return err
	})
}

// with runs f with an agent that serves no session, and keeps it for the next.
func (b *Bridge) with(ctx context.Context, id, folder string, f func(*agent) error) error {
	b.start()
	h, err := b.Home.Harness(id)
	if err != nil {
		return err
	}
	a, err := b.acquire(ctx, h, folder)
	if err != nil {
		return err
	}
	defer b.keepWarm(a)
	return f(a)
}

// CloseSession ends a session for good: its turn is cancelled, the agent told
// where it can be, and its tree ended.
func (b *Bridge) CloseSession(ctx context.Context, id string) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	s.state.mu.Lock()
	if t := s.state.turns.now; t != nil {
		t.end()
	}
	s.state.mu.Unlock()
	if a := s.current(); a != nil && a.hello.offers("close") {
		bound, cancel := context.WithTimeout(ctx, stopGrace)
		_, err := a.call(bound, "session/close", cancelParams{SessionID: s.agentID()})
		cancel()
		if err != nil {
			b.Log.Debug("session/close", "agent", a.harness.ID, "err", err)
		}
	}
	b.drop(s)
	return nil
}
