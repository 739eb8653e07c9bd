package facade

import (
	"context"
	"sync"

	"sallyport/bridge/rpc"
)

// maxOpen is how many requests of the client are worked on at once.
const maxOpen = 1024

// work is what is under way for the client: requests that it may cancel, and
// goroutines that Run waits for.
type work struct {
	mu     sync.Mutex
	open   map[rpc.RawID]*request
	count  int
	closed bool
	wg     sync.WaitGroup
}

// request is one request of the client. It is answered once.
type request struct {
	id     rpc.RawID
	ctx    context.Context // ends with the connection, and when the client cancels
	cancel context.CancelCauseFunc
}

// begin notes a request; false: there are too many.
func (w *work) begin(ctx context.Context, id rpc.RawID) (*request, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.count >= maxOpen {
		return nil, false
	}
	if w.open == nil {
		w.open = map[rpc.RawID]*request{}
	}
	w.count++
	r := &request{id: id}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	w.open[id] = r // an id used twice: the later one can be cancelled
	return r, true
}

// done ends a request.
func (w *work) done(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.open[r.id] == r {
		delete(w.open, r.id)
	}
	r.cancel(nil)
}

// cancel ends the context of a request, by a notification.
func (w *work) cancel(id rpc.RawID, m *rpc.Message) {
	w.mu.Lock()
	r := w.open[id]
	w.mu.Unlock()
	if r != nil {
		r.cancel(rpc.TakeBack(m))
	}
}

// run runs f on a goroutine that wait waits for; false: it is too late.
func (w *work) run(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.wg.Go(f)
	return true
}

func (w *work) wait() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
}
