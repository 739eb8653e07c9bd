package bridge

// copied is what is known of the checkpoint before the last turn. The zero value:
// there was none yet.
type copied struct {
	cover   cover
	leftOut string // hash of what it left out
}

// cover is how much of a turn can be taken back.
type cover uint8

const (
	unknown cover = iota // no turn was begun yet, or none is kept
	nothing
	partly // all but what the checkpoint left out, which was told
	whole
)

// sentence is what a person is told of it: never more than was seen to hold.
func (c cover) sentence() string {
	switch c {
	case whole:
		return "a copy was taken and the turn can be undone"
	case partly:
		return "a copy was taken and the turn can be undone, but for what the copy leaves out"
	case nothing:
		return "no copy was taken: the turn cannot be undone"
	default:
		return ""
	}
}

// shownPostureLocked is the posture as a client gets it: with what the copy before
// the last turn is good for.
func (s *session) shownPostureLocked() Posture {
	p := s.withChecks(s.postureLocked())
	if said := s.state.memory.copied.cover.sentence(); said != "" {
		p.Sentence += "; " + said
	}
	return p
}

// withChecks is a posture with what is run of the agent's outside its fences: the
// user's checks run what it wrote, and need more than an agent gets.
func (s *session) withChecks(p Posture) Posture {
	if len(s.config.Verify) > 0 {
		p.Sentence += "; your checks run what it wrote, outside every fence, after a turn"
	}
	return p
}

// setCover notes how much of the turn that begins can be taken back, and says so
// when that is another than before.
func (s *session) setCover(t *turn, now cover) {
	s.state.mu.Lock()
	before := s.state.memory.copied.cover
	s.state.memory.copied.cover = now
	s.state.mu.Unlock()
	if now == before || now == nothing { // told with the reason
		return
	}
	s.notice(Notice{Kind: NoticePosture, Level: Plain, Turn: t.id, Text: now.sentence()})
}
