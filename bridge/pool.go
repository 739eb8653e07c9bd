package bridge

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"sallyport/plugins/harness"
)

// errClosing is why nothing is started any more.
var errClosing = errors.New("sallyport is closing")

// standby says whether an agent waits for a session: since then, and not while
// it is zero.
type standby struct{ since time.Time }

func (s standby) warm() bool { return !s.since.IsZero() }

// acquire returns an agent for a session in folder: one that waits for one, or
// a new one. It keeps the number of live agents within the setting by ending
// the idle one that was used least recently; a busy one is never ended. folder
// is as fence.Policy.Folder gives it; roots are the session's other folders,
// which the agent's fences open.
func (b *Bridge) acquire(ctx context.Context, h *harness.Harness, folder string, roots ...string) (*agent, error) {
	for {
		b.live.mu.Lock()
		a := b.takeWarmLocked(h, folder, roots)
		warming := b.live.warming[warmKey{h.ID, folder}]
		b.live.mu.Unlock()
		switch {
		case a != nil:
			return a, nil
		case warming == nil:
			if err := b.reserve(folder, true); err != nil {
				return nil, err
			}
			return b.startAgent(ctx, h, folder, roots)
		}
		select {
		case <-warming:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// warmKey is what an agent that is started ahead is for.
type warmKey struct{ agent, folder string }

// takeWarmLocked takes an agent that was started from the same description: it
// may have been changed since.
func (b *Bridge) takeWarmLocked(h *harness.Harness, folder string, roots []string) *agent {
	for a, st := range b.live.agents {
		if st.warm() && a.folder == folder && slices.Equal(a.roots, roots) && a.harness.ID == h.ID && !a.gone() && reflect.DeepEqual(a.harness, h) {
			b.live.agents[a] = standby{}
			return a
		}
	}
	return nil
}

// keepWarm holds an agent without a session for the next one that fits. One of
// a kind is enough: another, and one that has ended, is ended here.
func (b *Bridge) keepWarm(a *agent) {
	b.live.mu.Lock()
	keep := !b.live.closed && !a.gone()
	for other, st := range b.live.agents {
		if st.warm() && other.harness.ID == a.harness.ID && other.folder == a.folder && !other.gone() {
			keep = false
		}
	}
	if keep {
		b.live.agents[a] = standby{time.Now()}
	}
	b.live.mu.Unlock()
	if !keep {
		a.stop()
	}
}

// reserve takes the place of one more agent, which startAgent fills or gives
// back. With room it ends an idle agent where there is no place.
func (b *Bridge) reserve(folder string, room bool) error {
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
		count := b.live.starting + len(b.live.agents)
		if count < limit {
			b.live.starting++
			b.live.mu.Unlock()
			return nil
		}
		victim := b.leastUsedLocked()
		b.live.mu.Unlock()
		switch {
		case !room:
			return fmt.Errorf("%d agents are live already, as many as the setting maxAgents lets", count)
		case victim == nil:
			return fmt.Errorf("%d agents are live and all are busy; wait for a turn to end, or raise the setting maxAgents", count)
		}
		victim()
	}
}

// giveBack gives up a place that was reserved.
func (b *Bridge) giveBack() {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	b.live.starting--
}

// adopt puts an agent that was started into its reserved place, and runs it.
// False: the bridge was closed meanwhile.
func (b *Bridge) adopt(a *agent) bool {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	b.live.starting--
	if b.live.closed {
		return false
	}
	b.live.agents[a] = standby{}
	b.life.wg.Go(a.run)
	return true
}

// leastUsedLocked returns how to end the idle agent used least recently, nil
// when all are busy. One that is ending already counts as the oldest: waiting
// for it makes room.
func (b *Bridge) leastUsedLocked() (end func()) {
	var oldest time.Time
	for a, st := range b.live.agents {
		switch {
		case a.gone():
			return a.stop
		case st.warm() && (end == nil || st.since.Before(oldest)):
			oldest, end = st.since, func() { b.endWarm(a, st) }
		}
	}
	for _, s := range b.live.sessions {
		used, idle := s.idleSince()
		if idle && (end == nil || used.Before(oldest)) {
			oldest, end = used, func() { s.rest(used) }
		}
	}
	return end
}

// endWarm ends an agent, unless somebody took it since.
func (b *Bridge) endWarm(a *agent, st standby) {
	b.live.mu.Lock()
	mine := b.live.agents[a] == st
	if mine {
		b.live.agents[a] = standby{}
	}
	b.live.mu.Unlock()
	if mine {
		a.stop()
	}
}

// sweep ends agents idle for longer than the setting.
func (b *Bridge) sweep(now time.Time) {
	type idle struct {
		folder string
		since  time.Time
		end    func()
	}
	var all []idle
	b.live.mu.Lock()
	for a, st := range b.live.agents {
		if st.warm() {
			all = append(all, idle{a.folder, st.since, func() { b.endWarm(a, st) }})
		}
	}
	for _, s := range b.live.sessions {
		if used, ok := s.idleSince(); ok {
			all = append(all, idle{s.folder, used, func() { s.rest(used) }})
		}
	}
	b.live.mu.Unlock()
	for _, i := range all {
		if now.Sub(i.since) >= b.idleTime(i.folder) {
			i.end()
		}
	}
}

func (b *Bridge) idleTime(folder string) time.Duration {
	if c, err := b.Home.Config(folder); err == nil && c.IdleMinutes > 0 {
		return c.Idle()
	}
	return time.Hour
}

// Prestart starts an agent ahead of its first session in folder, so that the
// user does not wait for it. It ends no other agent for that. Errors are only
// logged: the session will meet and tell them.
func (b *Bridge) Prestart(id, folder string) {
	b.start()
	h, err := b.Home.Harness(id)
	if err != nil {
		b.Log.Warn("cannot start an agent ahead", "agent", id, "err", err)
		return
	}
	folder, done := settled(folder), make(chan struct{})
	key := warmKey{h.ID, folder}
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
		a, err := b.startAhead(h, folder)
		if err != nil {
			b.Log.Warn("cannot start an agent ahead", "agent", h.ID, "err", loggable(err))
			return
		}
		b.keepWarm(a)
	})
}

func (b *Bridge) startAhead(h *harness.Harness, folder string) (*agent, error) {
	if err := b.reserve(folder, false); err != nil {
		return nil, err
	}
	return b.startAgent(b.life.ctx, h, folder, nil)
}
