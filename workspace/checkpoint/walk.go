package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// workers walk a tree. More than four gain nothing: the kernel is the limit.
const workers = 4

// walk is one pass over a root. The last worker that leaves a folder makes its tree, so trees are made from the leaves up.
type walk struct {
	store    *Store
	ctx      context.Context
	options  *Options
	root     string // the project's folder
	own      string // our state folder relative to root, slashed; "" when it is elsewhere
	deadline time.Time
	base     *base // nil without Options.Base
	queue    queue
	counts   counts

	mu      sync.Mutex
	skipped []Skipped
	err     error // the first that ends the walk
}

// counts are of one Take.
type counts struct {
	files  atomic.Int64 // seen
	read   atomic.Int64 // of these, read because they were new or changed
	stored atomic.Int64 // bytes
	warm   bool         // the root was known before
}

// task is a folder to walk: a name in an open one. The worker releases it.
type task struct {
	in   *folder
	stat stat
	node *node
}

// queue is last in, first out: so few folders are open at a time.
type queue struct {
	mu     sync.Mutex
	ready  sync.Cond
	tasks  []task
	active int // tasks that are being worked on
}

func (q *queue) push(tasks []task) {
	q.mu.Lock()
	q.tasks = append(q.tasks, tasks...)
	q.mu.Unlock()
	if len(tasks) > 1 {
		q.ready.Broadcast()
	} else {
		q.ready.Signal()
	}
}

// pop waits for a task; false when there will be none. The caller calls done after its task.
func (q *queue) pop() (task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 {
		if q.active == 0 {
			return task{}, false
		}
		q.ready.Wait()
	}
	t := q.tasks[len(q.tasks)-1]
	q.tasks = q.tasks[:len(q.tasks)-1]
	q.active++
	return t, true
}

func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active--
	if q.active == 0 && len(q.tasks) == 0 {
		q.ready.Broadcast()
	}
}

// run walks the root. On an error the nodes are half old and half new and must be dropped.
func (w *walk) run(root *node) error {
	w.queue.ready.L = &w.queue.mu
	h, err := openRoot(w.root)
	if err != nil {
		return err
	}
	r := newReader(w)
	w.scan(root, h, r) // alone, so that the workers find something
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { w.work(newReader(w)) })
	}
	wg.Wait()
	if w.err == nil && root.fault != 0 {
		w.err = errors.New("the folder of the project: " + root.fault.String())
	}
	return w.err
}

func (w *walk) work(r *reader) {
	for {
		t, ok := w.queue.pop()
		if !ok {
			return
		}
		w.enter(t, r)
		w.queue.done()
	}
}

func (w *walk) enter(t task, r *reader) {
	defer t.in.release()
	t.node.pending.Store(1)
	t.node.fault = 0
	if w.over() {
		t.node.fault = TimeLimit
		w.leave(t.node)
		return
	}
	h, err := t.in.openFolder(t.node.name, t.stat)
	if err != nil {
		t.node.fault = reasonOf(err)
		w.leave(t.node)
		return
	}
	w.scan(t.node, h, r)
}

// over says whether nothing more is to be read.
func (w *walk) over() bool {
	if err := w.ctx.Err(); err != nil {
		w.fail(context.Cause(w.ctx))
	}
	return w.failed() || !w.deadline.IsZero() && time.Now().After(w.deadline)
}

func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *walk) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil
}

func (w *walk) skip(path string, why Reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skipped = append(w.skipped, Skipped{w.root, path, why})
}

// leave is called when a folder, or one beneath it, is done. The last call makes the tree and goes on with the parent.
func (w *walk) leave(n *node) {
	for n.pending.Add(-1) == 0 {
		if n.fault == 0 && (n.dirty.Swap(false) || n.tree.IsZero()) {
			tree, took, err := w.store.putTree(n.items(), n.tree, w.compress())
			w.counts.stored.Add(took)
			if err != nil {
				w.fail(err)
			}
			n.tree = tree
		}
		p := n.parent
		if p == nil {
			return
		}
		w.report(n)
		n = p
	}
}

// report tells a folder's parent what became of it.
func (w *walk) report(n *node) {
	e := &n.parent.entries[n.slot]
	now := State{Kind: Folder, Mode: n.mode, Hash: n.tree}
	switch {
	case n.fault == gone:
		now = State{}
	case n.fault != 0:
		now = w.leftOut(n)
		w.skip(n.path(), n.fault)
	case n.only != nil:
		now = State{Kind: Folder, Reason: Ignored, Hash: n.tree}
		w.skip(n.path(), Ignored)
	}
	if n.fault != 0 && n.fault != TimeLimit {
		e.node = nil
	}
	if e.State != now {
		e.State = now
		n.parent.dirty.Store(true)
	}
}

// leftOut is the state of a folder that could not be walked. Of one that nobody may list, at least the mode is known.
func (w *walk) leftOut(n *node) State {
	if n.fault != Denied {
		return State{Kind: LeftOut, Reason: n.fault}
	}
	h, _, err := w.store.putTree(nil, Hash{}, false)
	if err != nil {
		w.fail(err)
	}
	return State{Kind: Folder, Reason: Denied, Mode: n.mode, Hash: h}
}

func (w *walk) compress() bool {
	const most = 8 << 20 // beyond that, speed comes first; a sweep compresses later
	return w.counts.warm && w.counts.stored.Load() < most
}

// gone is a reason within a walk: what was listed is not there any more.
const gone Reason = 255

func reasonOf(err error) Reason {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, errSwapped) || errors.Is(err, errNoFolder) || errors.Is(err, errNoFile) || isSwap(err):
		return Changing
	default:
		return Unreadable
	}
}
