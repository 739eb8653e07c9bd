package bridge

// Refence brings the private projects of the configuration into every live
// session: they are closed, or open again, from the next access on (F4). What
// else the configuration says holds for sessions begun after it.
func (b *Bridge) Refence() {
	b.start()
	b.live.mu.Lock()
	sessions := make([]*session, 0, len(b.live.sessions))
	for _, s := range b.live.sessions {
		sessions = append(sessions, s)
	}
	b.live.mu.Unlock()
	for _, s := range sessions {
		c, err := b.Home.Config(s.spec.folder)
		if err == nil {
			err = s.ground.policy.SetPrivate(c.Fences.Private)
		}
		if err != nil { // the fences stay as they were
			b.Log.Error("taking over the private projects", "session", s.id, "err", err)
		}
	}
}
