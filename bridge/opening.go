package bridge

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// authRequired is ACP's error code for "sign in first".
const authRequired = -32000

// Bounds of an agent's answer to session/new, which we keep: the id goes into
// every message to it, the offer into every Info.
const (
	maxSessionID = 4 << 10
	maxOffer     = 4 << 20
)

// openParams are the params of session/new, and with SessionID of session/load
// and session/resume.
type openParams struct {
	SessionID  string         `json:"sessionId,omitzero"`
	Cwd        string         `json:"cwd"`
	Roots      []string       `json:"additionalDirectories,omitempty"`
	MCPServers jsontext.Value `json:"mcpServers"`
}

func (s *session) openParams(a *agent, id string) any {
	if s.wire != nil {
		return s.wireParams(id)
	}
	p := openParams{SessionID: id, Cwd: s.folder, MCPServers: s.mcp}
	if a.hello.offers("additionalDirectories") {
		p.Roots = s.roots
	}
	return p
}

// create asks an agent for a new session; nil: one is acquired for it. When it
// fails the agent was ended, or kept for a sign-in.
func (s *session) create(ctx context.Context, a *agent) error {
	if a == nil {
		var err error
		if a, err = s.b.acquire(ctx, s.harness, s.folder, s.roots...); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, s.config.Timeouts.Start())
	defer cancel()
	method := "session/new"
	if s.forks() {
		method = "session/fork"
	}
	if err := s.ask(limited, a, method, "", s.openParams(a, "")); err != nil {
		return err
	}
	return s.tune(ctx, limited, a)
}

// load asks an agent to open a conversation that it kept, by session/load when
// the history is to be told again, and by session/resume otherwise. It says
// whether it was told: an agent that announces session/resume and does not have
// it is asked by session/load. told is what the history is to the client. When
// it fails the agent was ended, or kept for a sign-in.
func (s *session) load(ctx context.Context, a *agent, id string, replays bool, told replay) (replayed bool, err error) {
	method := "session/resume"
	if replays {
		method = "session/load"
		if err := s.spare(ctx, a, id); err != nil {
			s.detach(a)
			a.stop()
			return false, err
		}
		s.replaying(told)
	}
	limited, cancel := context.WithTimeout(ctx, s.config.Timeouts.Start())
	defer cancel()
	if err := a.bind(s, id); err != nil {
		a.stop()
		return false, err
	}
	err = s.ask(limited, a, method, id, s.openParams(a, id))
	if a.lacksResume(method, err) {
		return s.load(ctx, a, id, true, told)
	}
	if err != nil {
		s.replaying(action)
		return replays, err
	}
	if replays && told == first && s.replayed() == 0 && !a.quirks.Has(quirk.LateReplay) {
		s.notice(Notice{Kind: NoticeNew, Level: Warning, Text: "nothing was restored: " + a.harness.Name + " has no history for this session"})
	}
	return replays, s.tune(ctx, limited, a)
}

// lacksResume reports whether an agent answered session/resume with "method not
// found" and has session/load (qwen-code 0.15.10 announces both). It is as good
// as before then.
func (a *agent) lacksResume(method string, err error) bool {
	var said *AgentError
	return method == "session/resume" && a.hello.Capabilities.LoadSession &&
		errors.As(err, &said) && said.Code == int64(rpc.MethodNotFound)
}

// tune brings the agent of a session that was opened into the session's mode.
// An agent that cannot is told of: the rules here hold the mode all the same.
// One that is gone by now, or that the caller gave up on within ctx, is an
// error; limited bounds the wait.
func (s *session) tune(ctx, limited context.Context, a *agent) error {
	err := s.setAgentMode(limited, a, s.currentMode())
	var gone *GoneError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.As(err, &gone):
		s.detach(a)
		a.stop()
		return cmp.Or(ctx.Err(), err)
	default:
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: err.Error()})
		return nil
	}
}

// ask opens the session at an agent by method; id is the agent's own of a
// conversation that is opened again. On failure the agent is off the session, and
// is kept for a sign-in or ended; only one that lacksResume stays.
func (s *session) ask(ctx context.Context, a *agent, method, id string, params any) error {
	answered := make(chan error, 1)
	started := time.Now()
	giveUp := a.conn.Go(method, params, func(result []byte, err error) {
		if err == nil {
			err = s.opened(a, id, result)
		}
		answered <- err
	})
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		giveUp()
		err = <-answered // nil: the answer came in the same moment
	}
	if err == nil {
		return nil
	}
	err = a.agentError(err)
	if a.lacksResume(method, err) {
		return err
	}
	s.detach(a)
	var (
		said   *AgentError
		start  *StartError
		closed *UnknownSessionError
	)
	switch {
	case errors.As(err, &said) && said.Code == authRequired:
		s.b.keepWarm(a)
		return &AuthError{Agent: a.harness.Name, Message: said.Message, Methods: a.signIn(), Raw: said.Raw}
	case errors.As(err, &said), errors.As(err, &start), errors.As(err, &closed):
	default:
		err = a.startError(ctx, method, time.Since(started), err)
	}
	a.stop()
	return err
}

// opened reads the answer to session/new, load or resume, on the read loop: what
// the agent sends next finds its session.
func (s *session) opened(a *agent, id string, result []byte) error {
	isNew := id == ""
	if isNew {
		value, _ := rpc.Member(result, "sessionId")
		var err error
		if id, err = rpc.Unquote(value); err != nil || id == "" || len(id) > maxSessionID {
			return &StartError{Agent: a.harness.Name, Reason: "its answer to session/new names no session", Hint: "update the agent"}
		}
	}
	var raw jsontext.Value
	if len(result) <= maxOffer {
		raw = append(raw, result...)
	} else {
		a.noise.count("an answer to session/new that is too large to keep")
	}
	offered := readOffer(raw)
	s.state.mu.Lock()
	s.state.offer = raw
	mode := offered.mode(s.harness.Own.ModeOption)
	s.state.memory.own = ownMode{said: mode, agreed: mode, settled: s.state.memory.own.settled}
	if !a.quirks.Has(quirk.LateReplay) { // it tells the history after its answer
		s.state.memory.history.replay = action
	}
	s.state.mu.Unlock()
	if !isNew {
		s.wireAnswered(result) // bound before it was asked
		return nil
	}
	if err := a.bind(s, id); err != nil {
		return err
	}
	if s.wire != nil {
		if err := s.b.put(s); err != nil {
			return err
		}
		s.wireAnswered(result)
	}
	a.settleEarly()
	return nil
}
