package rpc

import "time"

const (
	soon   = 100 * time.Microsecond // a read that waits less follows close on what was handled
	many   = 8                      // such reads in a row are a burst
	little = 64 << 10               // bytes: who brings as many at once needs no pause
)

// burst notices a peer that sends many small messages, one by one, as fast as they
// are taken. Whoever is woken for each spends most of its time on waking up, and
// slows the peer down, too: within a burst a short pause lets more come together.
// What is asked or answered ends it, since somebody waits for that.
type burst struct {
	quick int // reads in a row that waited for less than soon
	last  int // bytes that the last one brought
}

// on reports whether a pause is due before the next read, when all that came was
// handled and written.
func (b *burst) on() bool { return b.quick >= many && b.last < little }

// came notes what a read brought, and how long it waited.
func (b *burst) came(bytes int, waited time.Duration) {
	b.last = bytes
	if b.quick++; waited >= soon {
		b.quick = 0
	}
}

// end is called for what somebody waits for.
func (b *burst) end() { b.quick = 0 }
