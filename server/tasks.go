package server

import (
	"context"
	"errors"
	"sync"

	"sallyport/bridge/rpc"
)

// maxTasks bounds the requests that are worked on at once. An editor has a
// handful open; the bound is for one that runs wild.
const maxTasks = 1024

// Why a task's context ended.
var (
	errByClient = errors.New("cancelled by $/cancelRequest")
	errByCancel = errors.New("cancelled by sallyport/session/cancel")
	errClosing  = errors.New("the connection is closing")
)

// tasks owns the goroutines of one connection. The zero value is not usable;
// see newTasks.
type tasks struct {
	ctx  context.Context // ends with the connection
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	open   map[rpc.RawID]*task // requests that can be cancelled
	count  int
	closed bool
}

// task is one goroutine.
type task struct{ cancel context.CancelCauseFunc }

func newTasks(ctx context.Context) *tasks {
	t := &tasks{open: map[rpc.RawID]*task{}}
	t.ctx, t.stop = context.WithCancelCause(ctx)
	return t
}

// start runs f on a goroutine of its own and reports whether it could. id is
// the request that f answers; empty when there is none. f gets a context that
// ends when the returned cancel is called, on $/cancelRequest for id, and with
// the connection.
func (t *tasks) start(id rpc.RawID, f func(ctx context.Context)) (cancel context.CancelCauseFunc, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.count >= maxTasks {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	t.count++
	own := &task{cancel}
	if id != "" {
		t.open[id] = own // an id used twice: the later one can be cancelled
	}
	t.wg.Go(func() {
		defer t.end(id, own)
		f(ctx)
	})
	return cancel, true
}

func (t *tasks) end(id rpc.RawID, own *task) {
	own.cancel(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count--
	if t.open[id] == own {
		delete(t.open, id)
	}
}

// cancel ends the context of the task that answers id, if it still runs.
func (t *tasks) cancel(id rpc.RawID) {
	t.mu.Lock()
	own := t.open[id]
	t.mu.Unlock()
	if own != nil {
		own.cancel(errByClient)
	}
}

// close ends every task and waits for them. No task starts after it.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop(errClosing)
	t.wg.Wait()
}
