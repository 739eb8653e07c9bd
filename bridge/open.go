package bridge

import (
	"context"
	"errors"

	"sallyport/workspace/disk"
)

// New begins a session: an agent is started or taken from those started ahead.
func (b *Bridge) New(ctx context.Context, n NewSession) (Info, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	h, err := b.Home.Harness(n.Agent)
	if err != nil {
		return Info{}, err
	}
	s, err := b.newSession(h, n)
	if err != nil {
		return Info{}, err
	}
	if n.Wire != nil {
		return b.newOverWire(ctx, s)
	}
	s.hold() // what the agent says before its client knows the session
	if err := s.create(ctx, nil); err != nil {
		return Info{}, err
	}
	if err := b.put(s); err != nil {
		b.drop(s)
		return Info{}, err
	}
	info := s.info()
	if n.Ready != nil {
		n.Ready(info)
	}
	s.release(b.life.ctx)
	return info, nil
}

// newOverWire is New for a client that speaks ACP: it is answered on the read loop,
// so that nothing has to be kept that the agent says next.
func (b *Bridge) newOverWire(ctx context.Context, s *session) (Info, error) {
	if err := s.create(ctx, nil); err != nil {
		b.drop(s)
		return Info{}, err
	}
	return s.info(), nil
}

// Load opens a conversation that an agent kept. Its history is told as replay.
func (b *Bridge) Load(ctx context.Context, l LoadSession) (Info, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	if l.ID == "" {
		return Info{}, errors.New("loading a session: its id is missing")
	}
	h, err := b.Home.Harness(l.Agent)
	if err != nil {
		return Info{}, err
	}
	s, err := b.newSession(h, NewSession{Folder: l.Folder, Roots: l.Roots, Wire: l.Wire})
	if err != nil {
		return Info{}, err
	}
	if err := s.begin(ctx); err != nil { // a prompt that comes at once waits for the history
		return Info{}, err
	}
	defer s.end()
	a, err := b.acquire(ctx, h, s.folder, s.roots...)
	if err != nil {
		return Info{}, err
	}
	if err := a.canLoad(l.Replays); err != nil {
		b.keepWarm(a)
		return Info{}, err
	}
	if old, err := b.session(l.Instead); err == nil {
		b.drop(old)
	}
	s.hold()
	told := again // an agent that tells it all the same is not asked to
	if l.Replays {
		told = first
		s.replaying(told)
	}
	if err := b.introduce(s, a, l); err != nil {
		s.detach(a)
		a.stop()
		b.drop(s)
		return Info{}, err
	}
	if _, err := s.load(ctx, a, l.ID, l.Replays, told); err != nil {
		b.drop(s)
		return Info{}, err
	}
	return s.info(), nil
}

// introduce makes a session known to its client before its history is told.
func (b *Bridge) introduce(s *session, a *agent, l LoadSession) error {
	if err := a.bind(s, l.ID); err != nil {
		return err
	}
	if err := b.put(s); err != nil {
		return err
	}
	if l.Ready != nil {
		l.Ready(s.info())
	}
	s.release(b.life.ctx)
	return nil
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
// away what writers that were killed have left there. The private projects are
// brought up to date: they may have changed while the agent was started.
func (b *Bridge) put(s *session) error {
	b.live.mu.Lock()
	if b.live.closed {
		b.live.mu.Unlock()
		return errClosing
	}
	b.live.sessions[s.id] = s
	sweep := !b.live.swept[s.folder]
	b.live.swept[s.folder] = true
	b.live.mu.Unlock()
	b.refence(s)
	if sweep {
		b.spawn(func() {
			if _, err := disk.SweepTemp(b.life.ctx, s.folder); err != nil {
				b.Log.Debug("sweeping temporary files", "err", err)
			}
		})
	}
	return nil
}

// drop forgets a session and ends its agent.
func (b *Bridge) drop(s *session) {
	s.close()
	b.live.mu.Lock()
	delete(b.live.sessions, s.id)
	b.live.mu.Unlock()
	if a := s.current(); a != nil {
		s.detach(a)
		a.stop()
	}
	s.ground.engine.Wait()
}

// CloseSession ends a session for good: its turn is cancelled, the agent told
// where it can be, and its tree ended.
func (b *Bridge) CloseSession(ctx context.Context, id string) error {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := b.session(id)
	if err != nil {
		return err
	}
	s.close()
	if a := s.current(); a != nil && a.hello.offers("close") {
		bound, cancel := context.WithTimeout(ctx, stopGrace)
		_, err := a.call(bound, "session/close", namedParams{SessionID: s.agentID()})
		cancel()
		if err != nil {
			b.Log.Debug("session/close", "agent", a.harness.ID, "err", loggable(err))
		}
	}
	b.drop(s)
	return nil
}
