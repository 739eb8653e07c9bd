package bridge

import "time"

// Agents counts the agents of which something is left, and those being started.
func (b *Bridge) Agents() int {
	b.start()
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	return len(b.live.agents) + b.live.starting
}

// Sweep ends what is idle at a time to come.
func (b *Bridge) Sweep(now time.Time) {
	b.start()
	b.sweep(now)
}

// Untrusted is what the user's patterns mean.
var Untrusted = untrusted
