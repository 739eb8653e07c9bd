package bridge

// Refence brings the private projects of the configuration into every live
// session: they are closed, or open again, from the next access on (F4). What
// else the configuration says holds for sessions begun after it.
func (b *Bridge) Refence() {
	for _, s := range b.all() {
		b.refence(s)
	}
}

// refence takes the private projects over into one session. The fences stay as
// they were where the configuration cannot be used.
func (b *Bridge) refence(s *session) {
	private, err := b.private(s.folder)
	if err == nil {
		err = s.ground.policy.SetPrivate(private)
	}
	if a := s.current(); a != nil && err == nil {
		a.privateChanged(s.ground.policy.Private())
	}
	if err != nil {
		b.Log.Error("taking over the private projects", "session", s.id, "err", err)
	}
}

func (b *Bridge) private(folder string) ([]string, error) {
	if b.Home.Private != nil {
		return b.Home.Private(), nil
	}
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, err
	}
	return c.Fences.Private, nil
}
