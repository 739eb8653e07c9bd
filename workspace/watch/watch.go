package watch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Options say what is watched. The zero value watches what Set names.
type Options struct {
	// Trees are the folders to watch with all below them, absolute. They need not exist yet.
	Trees []string
	// Flat folders to begin with; see Set. They go before the trees.
	Flat []string
	// Skip reports whether a folder below a tree is left out, with all below it; nil: none.
	Skip func(folder string) bool
	// MaxFolders to watch; default 4,096, on macOS 256. Those nearest to the top go first.
	MaxFolders int
	// MaxPaths that one event lists; default 1,024.
	MaxPaths int
	// Quiet is how long nothing must have come before an event is told, and Longest how long
	// one is gathered at most; defaults 50 ms and 250 ms.
	Quiet, Longest time.Duration
	// Limited is called once, from the watcher's goroutine, when not everything can be
	// watched: MaxFolders (ErrMaxFolders) or a limit of the system is met; nil: nobody is told.
	Limited func(err error)

	open func() (source, error) // nil: the system's
}

// Event is a batch of changes.
type Event struct {
	// Paths in which something was made, changed, renamed or removed, sorted: plain files and
	// whatever else lies in a watched folder.
	Paths []string
	// Overflow: anything else may have changed, too.
	Overflow bool
}

// Watcher watches folders. Its methods may be called from any goroutine.
type Watcher struct {
	options Options
	told    chan Event
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	flat []string // as wished
	wish chan struct{}
}

// New begins to watch and returns at once; the first event says that it has begun. The caller
// calls Close. Nothing is an error: what cannot be watched is said by Limited.
func New(o Options) *Watcher {
	if o.MaxFolders <= 0 {
		o.MaxFolders = defaultFolders
	}
	if o.MaxPaths <= 0 {
		o.MaxPaths = 1024
	}
	if o.Quiet <= 0 {
		o.Quiet = 50 * time.Millisecond
	}
	if o.Longest <= 0 {
		o.Longest = 250 * time.Millisecond
	}
	if o.open == nil {
		o.open = openSystem
	}
	w := &Watcher{options: o, told: make(chan Event), wish: make(chan struct{}, 1), flat: slices.Clone(o.Flat)}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.wg.Go(func() { w.run(ctx) })
	return w
}

// Events is where events come. One that nobody takes gathers what else happens.
func (w *Watcher) Events() <-chan Event { return w.told }

// Set makes these the flat folders that are watched, absolute. They need not exist.
func (w *Watcher) Set(folders []string) {
	w.mu.Lock()
	w.flat = slices.Clone(folders)
	w.mu.Unlock()
	select {
	case w.wish <- struct{}{}:
	default:
	}
}

func (w *Watcher) wished() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flat
}

// Close ends watching and waits until nothing of it is left. It may be called twice.
func (w *Watcher) Close() {
	w.cancel()
	w.wg.Wait()
}

// run owns the source and all that is known of folders.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.told)
	s, err := w.options.open()
	if err != nil {
		if w.options.Limited != nil {
			w.options.Limited(err)
		}
		<-ctx.Done()
		return
	}
	p := newPending(4 * w.options.MaxPaths)
	var filling sync.WaitGroup
	filling.Go(func() { p.fill(s) })
	defer filling.Wait()
	defer s.Close() // all that it could say is not of interest any more
	f := &folders{options: w.options, source: s, known: map[string]role{}, roots: map[string]role{}}
	f.flats(ctx, w.wished())
	f.trees(ctx, w.options.Trees)
	w.tell(ctx, f, p)
}

// tell gathers changes and tells of them.
func (w *Watcher) tell(ctx context.Context, f *folders, p *pending) {
	b := batch{most: w.options.MaxPaths, overflow: true, first: time.Now()}
	due := time.NewTimer(0)
	defer due.Stop()
	var out chan Event
	var next Event
	for {
		if out != nil {
			next = b.event()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wish:
			if f.flats(ctx, w.wished()) {
				b.overflow = true // what changed in them before is not known
			}
		case <-p.wake:
			f.take(ctx, p, &b)
		case <-due.C:
			out = w.told
			continue
		case out <- next:
			b, out = batch{most: b.most}, nil
			continue
		}
		if b.empty() || out != nil {
			continue
		}
		if b.first.IsZero() {
			b.first = time.Now()
		}
		left := min(w.options.Quiet, w.options.Longest-time.Since(b.first))
		if left <= 0 {
			out = w.told
			continue
		}
		due.Reset(left)
	}
}

// batch is an event in the making.
type batch struct {
	most     int
	paths    map[string]bool
	overflow bool
	first    time.Time
}

func (b *batch) add(path string) {
	switch {
	case b.paths[path]:
	case len(b.paths) >= b.most:
		b.overflow = true
	case b.paths == nil:
		b.paths = map[string]bool{path: true}
	default:
		b.paths[path] = true
	}
}

func (b *batch) empty() bool { return len(b.paths) == 0 && !b.overflow }

func (b *batch) event() Event {
	return Event{Paths: slices.Sorted(maps.Keys(b.paths)), Overflow: b.overflow}
}
