package server

import (
	"context"
	"sync"
)

// slots lets one at a time work on a document. It is held across calls to the
// editor, so it is taken with a context and no lock is held meanwhile.
type slots struct {
	mu   sync.Mutex
	open map[string]*slot
}

// slot is a document's; users counts who has it or waits for it.
type slot struct {
	taken chan struct{} // one slot
	users int
}

// take waits for the slot of key.
func (s *slots) take(ctx context.Context, key string) (release func(), err error) {
	s.mu.Lock()
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
