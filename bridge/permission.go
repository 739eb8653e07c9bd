package bridge

import (
	"context"
	"path/filepath"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// permissionRequest serves session/request_permission (ACP v1, Tool Calls). The
// call is merged here, on the read loop, so that what the agent said before is
// known to the rules.
func (s *session) permissionRequest(a *agent, m *rpc.Message) func(context.Context) {
	if !s.names(m.Params) {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "sessionId names no session of this agent"))
		return nil
	}
	id := m.ID
	if s.inReplay() {
		_ = a.conn.ReplyRaw(id, permit.Outcome{By: permit.ByCancel}.Response())
		return nil
	}
	t := s.beginWork()
	if t == nil { // it is cancelled or over
		_, err := s.cards.Read("", m.Params)
		if err != nil {
			_ = a.conn.ReplyError(id, rpc.Errorf(rpc.InvalidParams, "%s", err))
		} else {
			_ = a.conn.ReplyRaw(id, permit.Outcome{By: permit.ByCancel}.Response())
		}
		return nil
	}
	card, err := s.cards.Read(t.id, m.Params)
	if err != nil {
		t.work.Done()
		_ = a.conn.ReplyError(id, rpc.Errorf(rpc.InvalidParams, "%s", err))
		return nil
	}
	return func(ctx context.Context) {
		defer t.work.Done()
		o := s.decide(ctx, t, card)
		s.pickedMode(card, o)
		_ = a.conn.ReplyRaw(id, o.Response())
	}
}

// decide settles a card and tells everybody who has to know.
func (s *session) decide(ctx context.Context, t *turn, c *permit.Card) permit.Outcome {
	ctx, cancel := t.within(ctx)
	defer cancel()
	c.Offer(s.harness.Name, func(allow bool) string { return s.ground.rules.propose(c, allow) })
	_ = t.record.await(ctx) // a turn that ends first is a cancelled card
	o := s.ground.engine.Decide(ctx, c)
	t.grants.Record(c, o)
	t.record.permission(c, o)
	s.remember(ctx, o)
	if o.Allowed {
		s.ground.taint.Allowed(c)
	} else {
		t.touched.refuse(callID(c))
	}
	s.b.Display.Settled(c, o)
	if o.By == permit.ByFence {
		s.caused(Notice{Kind: NoticeRefused, Level: Warning, Text: o.DenyNote(), Paths: c.Paths})
	}
	if note := permit.PromptNote(c, o); note != "" && o.By != permit.ByUser {
		s.state.mu.Lock()
		s.state.memory.notes.add(note)
		s.state.mu.Unlock()
	}
	return o
}

// settledError is a write that was asked about and refused.
type settledError struct{ note string }

func (e *settledError) Error() string { return e.note }

// mayWrite makes sure that a write through fs/* is covered: by a permission of
// this turn, by the mode, or by asking now, with the diff.
func (s *session) mayWrite(ctx context.Context, t *turn, path, content string) error {
	before := func() string {
		text, _, _ := s.ground.files.Preview(ctx, path) // what cannot be read is not what was shown
		return text
	}
	switch t.grants.Covers(path, content, before) {
	case permit.Granted:
		return nil
	case permit.Refused:
		return &settledError{"Refused through Sallyport: the permission for this file was refused in this turn"}
	default:
	}
	c, err := s.writeCard(ctx, t, path, content)
	if c == nil || err != nil {
		return err
	}
	return s.granted(ctx, t, c)
}

// granted decides a card; an error says why what it asks for is not allowed.
func (s *session) granted(ctx context.Context, t *turn, c *permit.Card) error {
	switch o := s.decide(ctx, t, c); {
	case o.Allowed:
		return nil
	case o.By == permit.ByCancel:
		return errCancelled
	default:
		return &settledError{o.DenyNote()}
	}
}

// question asks the user, when few enough other questions are open.
func (s *session) question(ctx context.Context, c *permit.Card) (answer permit.Answer, err error) {
	err = inSlot(ctx, s.ground.slots.asking, func() (err error) {
		answer, err = s.b.Display.Ask(ctx, c)
		return err
	})
	return answer, err
}

// early puts a card on the screen that is still being decided, when the display can
// and few enough other questions are open.
func (s *session) early(ctx context.Context, c *permit.Card) permit.Shown {
	display, ok := s.b.Display.(Early)
	if !ok {
		return nil
	}
	select {
	case s.ground.slots.asking <- struct{}{}:
	default:
		return nil
	}
	free := func() { <-s.ground.slots.asking }
	shown := display.Show(ctx, c)
	if shown == nil {
		free()
		return nil
	}
	return inUse{shown, free}
}

// inUse is a card on the screen that has a slot until it is answered or withdrawn.
type inUse struct {
	permit.Shown
	free func()
}

func (u inUse) Answer(ctx context.Context) (permit.Answer, error) {
	defer u.free()
	return u.Shown.Answer(ctx)
}

// relative is a path as a person likes to read it.
func (s *session) relative(path string) string {
	rel, err := filepath.Rel(s.folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// writeCard is the card for a write: what the file would hold, with what the
// user typed meanwhile. No card: nothing would change.
func (s *session) writeCard(ctx context.Context, t *turn, path, content string) (*permit.Card, error) {
	before, after, err := s.ground.files.Rehearse(ctx, path, content)
	if err != nil {
		return nil, err
	}
	old := &before
	if before == "" { // empty, or not there
		_, exists, err := s.ground.files.Preview(ctx, path)
		if err != nil {
			return nil, err
		}
		if !exists {
			old = nil
		}
	}
	if old != nil && before == after {
		return nil, nil
	}
	c := s.cards.Write(t.id, path, old, after)
	c.Title = text.Visible(c.Request.Tool + " " + s.relative(path))
	return c, nil
}
