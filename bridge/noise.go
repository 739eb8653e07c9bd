package bridge

import (
	"log/slog"
	"sync"
	"time"
)

// noise logs that an agent said something that is no message, at a bounded
// rate: once a second, then a count. What it said is not logged: agents print
// keys, and a key may be cut in two at any place.
type noise struct {
	log *slog.Logger

	mu      sync.Mutex
	since   time.Time
	skipped int
}

// line logs one line from the agent's stdout that is no message.
func (n *noise) line(b []byte) {
	if len(b) == 0 {
		return
	}
	n.say("skipped what is no message on stdout", "bytes", len(b))
}

// count logs that a message was dropped.
func (n *noise) count(what string) { n.say("dropped " + what) }

func (n *noise) say(what string, args ...any) {
	const window = time.Second
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if now.Sub(n.since) < window {
		n.skipped++
		return
	}
	if n.skipped > 0 {
		args = append(args, "alsoSkipped", n.skipped)
	}
	n.since, n.skipped = now, 0
	n.log.Warn(what, args...)
}
