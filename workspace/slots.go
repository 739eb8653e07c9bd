package workspace

import (
	"context"
	"sync"
)

// Slots lets one at a time work on a document, for an Editor: what is held across calls
// to the program that has it, so it is taken with a context and no lock is held meanwhile.
// The zero value is ready.
type Slots struct {
	mu   sync.Mutex
	open map[string]*slot
}

// slot is a document's; users counts who has it or waits for it.
type slot struct {
	taken chan struct{} // one slot
	users int
}

// Take waits for the slot of key, a path or what else names a document; release gives it
// back. The error is ctx's.
func (s *Slots) Take(ctx context.Context, key string) (release func(), err error) {
	s.mu.Lock()
	if s.open == nil {
		s.open = map[string]*slot{}
	}
	x := s.open[key]
	if x == nil {
		x = &slot{taken: make(chan struct{}, 1)}
		s.open[key] = x
	}
	x.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if x.users--; x.users == 0 {
			delete(s.open, key)
		}
	}
	select {
	case x.taken <- struct{}{}:
		return func() { <-x.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
