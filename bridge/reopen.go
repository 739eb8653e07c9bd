package bridge

import (
	"context"
	"errors"
)

// open returns the session's agent, opening the session again when it was
// closed: by resume or load where the agent can, else as a new conversation,
// which the user is told.
func (s *session) open(ctx context.Context) (*agent, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	a := s.current()
	if a != nil && !a.gone() {
		return a, nil
	}
	if a != nil { // what it wrote last comes before the words of the next one
		select {
		case <-a.span.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.detach(a)
	}
	a, err := s.b.acquire(ctx, s.harness, s.folder, s.roots...)
	if err != nil {
		return nil, err
	}
	id, c := s.agentID(), a.hello.capabilities()
	if id == "" || !c.Resume && !c.Load {
		return s.anew(ctx, a)
	}
	replayed, err := s.load(ctx, a, id, !c.Resume, again)
	if err == nil {
		s.openedAgain(a, replayed)
		return a, nil
	}
	var auth *AuthError
	var closed *UnknownSessionError
	if ctx.Err() != nil || errors.As(err, &auth) || errors.As(err, &closed) {
		return nil, err
	}
	s.b.Log.Warn("a session could not be opened again", "agent", a.harness.ID, "err", loggable(err))
	return s.anew(ctx, nil)
}

// openedAgain says how the conversation came back.
func (s *session) openedAgain(a *agent, replayed bool) {
	n := Notice{Kind: NoticeNew, Level: Plain, Text: a.harness.Name + " was started again and the conversation resumed"}
	if replayed {
		n.Text = a.harness.Name + " was started again and the conversation loaded again"
	}
	if replayed && s.replayed() == 0 && !s.inReplay() { // it knows the session, and nothing of it
		s.ground.files.Forget()
		n.Level, n.Text = Warning, n.Text+", but it told no history: it may not remember"
		n.Hint = "tell it what it needs to know"
	}
	s.notice(n)
}

// anew goes on in a new conversation and says so.
func (s *session) anew(ctx context.Context, a *agent) (*agent, error) {
	if err := s.create(ctx, a); err != nil {
		return nil, err
	}
	// What was read in the conversation is no base of its writes any more.
	s.ground.files.Forget()
	s.notice(Notice{
		Kind: NoticeNew, Level: Warning,
		Text: s.harness.Name + " was started again and does not remember the conversation",
		Hint: "tell it what it needs to know",
	})
	a = s.current()
	if a == nil { // it ended in this moment
		return nil, &GoneError{Agent: s.harness.Name, Exit: "right after its start"}
	}
	return a, nil
}
