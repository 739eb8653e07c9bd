package bridge

import (
	"log/slog"
	"sync"
	"time"

	"sallyport/workspace/text"
)

// noise logs what an agent says that is no message, at a bounded rate: the
// first line of a second, then a count.
type noise struct {
	log *slog.Logger

	mu      sync.Mutex
	since   time.Time
	skipped int
}

// maxNoise is how much of a line is logged.
const maxNoise = 200

// line logs one line from the agent's stdout that is no message.
func (n *noise) line(b []byte) {
	if len(b) == 0 {
		return
	}
	cut := b[:min(len(b), maxNoise)]
	n.say("not a message on stdout", "line", text.Visible(string(cut)), "bytes", len(b))
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
