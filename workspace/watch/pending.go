package watch

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// pending is what the source told and nobody has looked at. It is filled by a goroutine of
// its own: a source that cannot tell may block who adds a folder to it (on Windows).
type pending struct {
	most int           // paths
	wake chan struct{} // one slot

	mu   sync.Mutex
	ops  map[string]fsnotify.Op
	lost bool
}

func newPending(most int) *pending {
	return &pending{most: most, wake: make(chan struct{}, 1), ops: map[string]fsnotify.Op{}}
}

// fill takes in what a source tells, until it is closed.
func (p *pending) fill(s source) {
	events, errs := s.events(), s.errors()
	for events != nil || errs != nil {
		select {
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			p.add(e.Name, e.Op)
		case _, open := <-errs:
			if !open {
				errs = nil
				continue
			}
			p.lose() // the queue ran over, or something could not be read: the same to us
		}
	}
}

func (p *pending) add(name string, op fsnotify.Op) {
	p.mu.Lock()
	if _, known := p.ops[name]; known || len(p.ops) < p.most {
		p.ops[name] |= op
	} else {
		p.lost = true
	}
	p.mu.Unlock()
	p.rouse()
}

// lose notes that something was missed.
func (p *pending) lose() {
	p.mu.Lock()
	p.lost = true
	p.mu.Unlock()
	p.rouse()
}

func (p *pending) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pending) take() (ops map[string]fsnotify.Op, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ops, lost = p.ops, p.lost
	p.ops, p.lost = map[string]fsnotify.Op{}, false
	return ops, lost
}
