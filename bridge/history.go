package bridge

import (
	"context"
	"time"
)

// replay says whether what an agent tells is history.
type replay uint8

const (
	action replay = iota // no: it happens now
	first                // history that the client has not seen
	again                // history that the client has: it is not shown twice
)

// history is the telling of a conversation's history (session/load).
type history struct {
	replay replay
	count  int       // updates told
	last   time.Time // when the last one came, or the telling began
}

// replaying begins the telling of the history, or ends it with live.
func (s *session) replaying(r replay) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := &s.state.memory.history
	if h.replay = r; r != action {
		h.count, h.last = 0, time.Now()
	}
}

// countReplayed counts an update of the history.
func (s *session) countReplayed() {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := &s.state.memory.history
	h.count++
	h.last = time.Now()
}

func (s *session) inReplay() bool {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.memory.history.replay != action
}

func (s *session) replayed() int {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.memory.history.count
}

// maxSettle is how long a prompt waits for the end of a late history.
const maxSettle = 5 * time.Second

// settle waits until a history that is told behind the answer to session/load
// (quirk.LateReplay) has been told: until nothing more came for a while. Then
// what comes is action.
func (s *session) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxSettle)
	defer cancel()
	defer s.replaying(action)
	for {
		s.state.mu.Lock()
		h := s.state.memory.history
		s.state.mu.Unlock()
		wait := linger - time.Since(h.last)
		if h.replay == action || wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}
