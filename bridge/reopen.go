package bridge

import (
	"context"
	"errors"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// load asks an agent to open a conversation that it kept, by session/load when
// the history is to be told again, and by session/resume otherwise. It says
// whether it was told: an agent that announces session/resume and does not have
// it is asked by session/load.
func (s *session) load(ctx context.Context, a *agent, id string, replays bool) (replayed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.spec.config.Timeouts.Start())
	defer cancel()
	method := "session/resume"
	if replays {
		method = "session/load"
		s.replaying(true)
		a.bind(s, id)
		if !a.quirks.Has(quirk.LateReplay) { // it tells the history after its answer
			defer s.replaying(false)
		}
	}
	err = s.ask(ctx, a, method, openParams{SessionID: id, Cwd: s.spec.folder, Roots: a.roots(s.spec.roots), MCPServers: s.spec.mcp})
	if a.lacksResume(method, err) {
		return s.load(ctx, a, id, true)
	}
	if err != nil {
		s.replaying(false)
		return replays, err
	}
	if replays && s.replayed() == 0 && !a.quirks.Has(quirk.LateReplay) {
		s.notice(Notice{Kind: NoticeNew, Level: Warning, Text: "nothing was restored: " + a.harness.Name + " has no history for this session"})
	}
	if err := s.setAgentMode(ctx, a, s.currentMode()); err != nil {
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: err.Error()})
	}
	return replays, nil
}

// lacksResume reports whether an agent answered session/resume with "method not
// found" and has session/load (qwen-code 0.15.10 announces both). It is as good
// as before then.
func (a *agent) lacksResume(method string, err error) bool {
	var said *AgentError
	return method == "session/resume" && a.hello.Capabilities.LoadSession &&
		errors.As(err, &said) && said.Code == int64(rpc.MethodNotFound)
}

// open returns the session's agent, opening the session again when it was
// closed: by resume or load where the agent can, else as a new conversation,
// which the user is told.
func (s *session) open(ctx context.Context) (*agent, error) {
	if a := s.current(); a != nil && !a.gone() {
		return a, nil
	}
	id := s.agentID()
	a, err := s.b.acquire(ctx, s.spec.harness, s.spec.folder)
	if err != nil {
		return nil, err
	}
	c := a.hello.capabilities()
	if id == "" || !c.Resume && !c.Load {
		s.b.keepWarm(a)
		return s.anew(ctx)
	}
	replayed, err := s.load(ctx, a, id, !c.Resume)
	if err == nil {
		how := "resumed"
		if replayed {
			how = "loaded again"
		}
		s.notice(Notice{Kind: NoticeNew, Level: Plain, Text: a.harness.Name + " was started again and the conversation " + how})
		return s.current(), nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	var said *AgentError
	if errors.As(err, &said) { // its own words are not logged
		s.b.Log.Warn("a session could not be opened again", "agent", a.harness.ID, "code", said.Code)
	}
	return s.anew(ctx)
}

// anew goes on in a new conversation and says so.
func (s *session) anew(ctx context.Context) (*agent, error) {
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	s.notice(Notice{
		Kind: NoticeNew, Level: Warning,
		Text: s.spec.harness.Name + " was started again and does not remember the conversation",
		Hint: "tell it what it needs to know",
	})
	return s.current(), nil
}
