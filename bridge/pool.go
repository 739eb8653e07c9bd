package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sallyport/plugins/harness"
)

// errClosing is why nothing is started any more.
var errClosing = errors.New("sallyport is closing")

// acquire returns an agent for a session in folder: one that was started ahead
// or a new one. It keeps the number of live agents within the setting by
// ending the idle one that was used least recently; a busy one is never ended.
func (b *Bridge) acquire(ctx context.Context, h *harness.Harness, folder string) (*agent, error) {
	b.live.mu.Lock()
	warming := b.live.warming[warmKey{h.ID, folder}]
	b.live.mu.Unlock()
	if warming != nil {
		select {
		case <-warming:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if a := b.takeWarm(h, folder); a != nil {
		return a, nil
	}
	if err := b.reserve(folder); err != nil {
		return nil, err
	}
	defer func() {
		b.live.mu.Lock()
		b.live.starting--
		b.live.mu.Unlock()
	}()
	return b.startAgent(ctx, h, folder)
}

// warmKey is what an agent that is started ahead is for.
type warmKey struct{ agent, folder string }

func (b *Bridge) takeWarm(h *harness.Harness, folder string) *agent {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	for i, a := range b.live.warm {
		if a.harness.ID == h.ID && a.folder == folder && !a.gone() {
			b.live.warm = append(b.live.warm[:i:i], b.live.warm[i+1:]...)
			return a
		}
	}
	return nil
}

// keepWarm holds an agent without a session, for the next one that fits.
func (b *Bridge) keepWarm(a *agent) {
	b.live.mu.Lock()
	closed := b.live.closed
	if !closed {
		a.used = time.Now()
		b.live.warm = append(b.live.warm, a)
	}
	b.live.mu.Unlock()
	if closed {
		a.stop()
	}
}

// reserve makes room for one more agent and counts it as starting.
func (b *Bridge) reserve(folder string) error {
	limit := 4
	if c, err := b.Home.Config(folder); err == nil && c.MaxAgents > 0 {
		limit = c.MaxAgents
	}
	for {
		b.live.mu.Lock()
		if b.live.closed {
			b.live.mu.Unlock()
			return errClosing
		}
		count := b.countLocked()
		if count < limit {
			b.live.starting++
			b.live.mu.Unlock()
			return nil
		}
		victim := b.leastUsedLocked()
		b.live.mu.Unlock()
		if victim == nil {
			return fmt.Errorf("%d agents are live and all are busy; wait for a turn to end, or raise the setting maxAgents", count)
		}
		victim()
	}
}

func (b *Bridge) countLocked() int {
	n := b.live.starting
	for _, a := range b.live.warm {
		if !a.gone() {
			n++
		}
	}
	for _, s := range b.live.sessions {
		if a := s.current(); a != nil && !a.gone() {
			n++
		}
	}
	return n
}

// leastUsedLocked returns how to end the idle agent used least recently, nil
// when all are busy.
func (b *Bridge) leastUsedLocked() (end func()) {
	var oldest time.Time
	for i, a := range b.live.warm {
		if end == nil || a.used.Before(oldest) {
			oldest = a.used
			end = func() {
				b.live.mu.Lock()
				if i < len(b.live.warm) && b.live.warm[i] == a {
					b.live.warm = append(b.live.warm[:i:i], b.live.warm[i+1:]...)
				}
				b.live.mu.Unlock()
				a.stop()
			}
		}
	}
	for _, s := range b.live.sessions {
		used, idle := s.idleSince()
		if idle && (end == nil || used.Before(oldest)) {
			oldest = used
			end = func() { s.rest(used) }
		}
	}
	return end
}

// sweep ends agents idle for longer than the setting.
func (b *Bridge) sweep(now time.Time) {
	b.live.mu.Lock()
	var end []func()
	keep := b.live.warm[:0:0]
	for _, a := range b.live.warm {
		if a.gone() || now.Sub(a.used) >= b.idleTime(a.folder) {
			end = append(end, a.stop)
			continue
		}
		keep = append(keep, a)
	}
	b.live.warm = keep
	for _, s := range b.live.sessions {
		if used, idle := s.idleSince(); idle && now.Sub(used) >= b.idleTime(s.spec.folder) {
			end = append(end, func() { s.rest(used) })
		}
	}
	b.live.mu.Unlock()
	for _, f := range end {
		f()
	}
}

func (b *Bridge) idleTime(folder string) time.Duration {
	if c, err := b.Home.Config(folder); err == nil && c.IdleMinutes > 0 {
		return c.Idle()
	}
	return time.Hour
}

// Prestart starts an agent ahead of its first session in folder, so that the
// user does not wait for it. Errors are only logged: the session will meet and
// tell them.
func (b *Bridge) Prestart(id, folder string) {
	b.start()
	done := make(chan struct{})
	key := warmKey{id, folder}
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	if b.live.closed || b.live.warming[key] != nil {
		return
	}
	b.live.warming[key] = done
	b.life.wg.Go(func() {
		defer close(done)
		defer func() {
			b.live.mu.Lock()
			defer b.live.mu.Unlock()
			delete(b.live.warming, key)
		}()
		h, err := b.Home.Harness(id)
		if err != nil {
			b.Log.Warn("cannot start an agent ahead", "agent", id, "err", err)
			return
		}
		if err := b.reserve(folder); err != nil {
			b.Log.Warn("cannot start an agent ahead", "agent", id, "err", err)
			return
		}
		a, err := b.startAgent(b.life.ctx, h, folder)
		b.live.mu.Lock()
		b.live.starting--
		b.live.mu.Unlock()
		if err != nil {
			b.Log.Warn("cannot start an agent ahead", "agent", id, "err", err)
			return
		}
		b.keepWarm(a)
	})
}
