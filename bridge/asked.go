package bridge

import (
	"context"
	"sync"

	"sallyport/bridge/rpc"
)

// asked are the requests of an agent that are being answered, so that it can
// take one back. The zero value is ready.
type asked struct {
	mu  sync.Mutex
	ids map[rpc.RawID]*inquiry
}

// inquiry is one of them.
type inquiry struct{ cancel context.CancelCauseFunc }

// put notes a request until drop. An agent that uses an id twice at once can
// take back only the second.
func (a *asked) put(id rpc.RawID, cancel context.CancelCauseFunc) *inquiry {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = map[rpc.RawID]*inquiry{}
	}
	own := &inquiry{cancel}
	a.ids[id] = own
	return own
}

// drop ends the request's context.
func (a *asked) drop(id rpc.RawID, own *inquiry) {
	own.cancel(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids[id] == own {
		delete(a.ids, id)
	}
}

// cancel takes the request with an id back, by a notification.
func (a *asked) cancel(id rpc.RawID, m *rpc.Message) {
	a.mu.Lock()
	own := a.ids[id]
	a.mu.Unlock()
	if own != nil {
		own.cancel(rpc.TakeBack(m))
	}
}

// Bounds of the requests of one agent that are open at once. The second is for
// what they hold: two messages of the largest size.
const (
	maxRequests     = 1024
	maxRequestBytes = 128 << 20
)

// load is what the open requests of an agent amount to. The zero value is ready.
type load struct {
	mu    sync.Mutex
	count int
	bytes int
}

// take counts a request in, unless there are too many. One alone is never too
// large.
func (l *load) take(size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= maxRequests || l.count > 0 && l.bytes+size > maxRequestBytes {
		return false
	}
	l.count++
	l.bytes += size
	return true
}

func (l *load) give(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
	l.bytes -= size
}
