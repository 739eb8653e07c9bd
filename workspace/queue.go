package workspace

import (
	"context"
	"slices"
	"sync"
)

// queue holds, for each path, the writes that are waiting in the order they came. The zero
// value is empty.
type queue struct {
	mu   sync.Mutex
	line map[string][]*Place // the first of each has its turn
}

// Place is a write's place in the order of writes to its path.
type Place struct {
	files *Files
	path  string
	key   string
	turn  chan struct{} // closed when it is first
}

// Queue takes the next place for a write to path. Call it where requests arrive in order,
// then Write or Leave, on any goroutine; a place that is not left holds up those after it.
func (f *Files) Queue(path string) *Place {
	p := &Place{files: f, path: path, key: clean(own(), path), turn: make(chan struct{})}
	q := &f.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.line == nil {
		q.line = map[string][]*Place{}
	}
	if len(q.line[p.key]) == 0 {
		close(p.turn)
	}
	q.line[p.key] = append(q.line[p.key], p)
	return p
}

// Wait waits until the writes that came before have left. Write does so by
// itself; who shows beforehand what a write will change waits first. The error
// is ctx's.
func (p *Place) Wait(ctx context.Context) error {
	select {
	case <-p.turn:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave gives the place up, whether its turn had come or not. It may be called twice.
func (p *Place) Leave() {
	q := &p.files.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.line[p.key]
	at := slices.Index(line, p)
	if at < 0 {
		return
	}
	line = slices.Delete(line, at, at+1)
	q.line[p.key] = line
	switch {
	case len(line) == 0:
		delete(q.line, p.key)
	case at == 0:
		close(line[0].turn)
	}
}
