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
	ids map[rpc.RawID]context.CancelFunc
}

// put notes a request. An agent that uses an id twice at once can take back
// only the second.
func (a *asked) put(id rpc.RawID, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = map[rpc.RawID]context.CancelFunc{}
	}
	a.ids[id] = cancel
}

// drop ends the request's context.
func (a *asked) drop(id rpc.RawID) {
	a.mu.Lock()
	cancel := a.ids[id]
	delete(a.ids, id)
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (a *asked) cancel(id rpc.RawID) {
	a.mu.Lock()
	cancel := a.ids[id]
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// cancelAll takes every request back: the agent is gone.
func (a *asked) cancelAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, cancel := range a.ids {
		cancel()
	}
}
