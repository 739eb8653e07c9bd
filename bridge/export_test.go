package bridge

import (
	"log/slog"
	"time"

	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
	"sallyport/plugins/harness"
)

// JudgeOf asks a set of deciders as a session does.
func JudgeOf(set decider.Set) permit.Judge {
	s := &session{b: &Bridge{Log: slog.New(slog.DiscardHandler)}, spec: spec{id: "s", folder: "/p", harness: &harness.Harness{}}}
	return s.judge(set, false)
}

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
