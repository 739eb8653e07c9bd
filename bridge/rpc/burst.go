package rpc

import "time"

const (
	soon   = 100 * time.Microsecond // a read that waits less follows close on what was handled
	many   = 8                      // such reads in a row are a burst
	little = 16 << 10               // bytes: who brings as many at once needs no pause
	inVain = 256                    // reads without a pause after one that brought no more
)

// burst notices a peer that sends many small messages, one by one, as fast as they
// are taken. Whoever is woken for each spends most of its time on waking up, and
// slows the peer down, too: within a burst a short pause lets more come together.
// What is asked or answered ends it, since somebody waits for that.
type burst struct {
	quick  int  // reads in a row that waited for less than soon
	last   int  // bytes that the last one brought
	alone  int  // bytes that the last one without a pause brought
	paused bool // before the next one
}

// due reports whether to pause before the next read, when all that came was handled
// and written.
func (b *burst) due() bool {
	b.paused = b.quick >= many && b.last < little
	return b.paused
}

// came notes what a read brought, and how long it waited.
func (b *burst) came(bytes int, waited time.Duration) {
	switch {
	case b.paused && bytes < 2*b.alone: // the peer waits until each is taken
		b.quick = -inVain
	case waited >= soon:
		b.quick = min(b.quick, 0)
	default:
		b.quick++
	}
	b.last = bytes
	if !b.paused {
		b.alone = bytes
	}
}

// end is called for what somebody waits for.
func (b *burst) end() { b.quick = min(b.quick, 0) }
