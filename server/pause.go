package server

import (
	"context"
	"sync"
	"time"
)

const (
	// quiet is how long nothing may have come from the editor before an edit is
	// sent to it. Editors gather what is typed for some 150 ms and send the first
	// key at once, so a text that was quiet that long is the editor's own.
	quiet = 200 * time.Millisecond
	// patience is how long an edit waits for somebody who does not stop typing.
	patience = time.Second
)

// pauses has edits of plain editors wait for a pause in the typing: an edit
// that meets a newer text is dropped, which Neovim says aloud, or goes beside
// the text where versions are not looked at. The zero value is ready.
type pauses struct {
	mu    sync.Mutex
	typed map[string]time.Time // by URI: when it was changed last, by somebody else
}

// note says that a document was changed now.
func (p *pauses) note(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed == nil {
		p.typed = map[string]time.Time{}
	}
	p.typed[uri] = time.Now()
}

// forget says that the last change was ours, or that the document is closed.
func (p *pauses) forget(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.typed, uri)
}

// left is how long a document still has to be quiet.
func (p *pauses) left(uri string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, typed := p.typed[uri]
	if !typed {
		return 0
	}
	return quiet - time.Since(at)
}

// wait waits for a pause, for at most patience.
func (p *pauses) wait(ctx context.Context, uri string) error {
	for begun := time.Now(); ; {
		left := min(p.left(uri), patience-time.Since(begun))
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
