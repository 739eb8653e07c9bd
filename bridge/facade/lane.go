package facade

import (
	"sync"
	"time"

	"sallyport/bridge/rpc"
)

// Bounds of what waits in one lane. One message alone is never too large.
const (
	maxLane      = 256
	maxLaneBytes = 8 << 20
)

// lane does one thing after the other on a goroutine of its own. Who has more to
// do than it takes waits.
type lane struct {
	mu     sync.Mutex
	room   *sync.Cond // something was taken up, or the lane was closed
	tasks  []task
	bytes  int
	closed bool
	stuck  bool // nothing moved for stall
	stall  time.Duration
	ended  chan struct{}
}

type task struct {
	do   func()
	size int
}

// newLane makes one whose put waits so long for room.
func newLane(stall time.Duration) *lane {
	l := &lane{stall: stall, ended: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	go l.run() // ends with close, which waits for it
	return l
}

// put adds something to do; size is the memory that it holds. It waits for room.
// A lane that was closed, or does not move, takes nothing more: false.
func (l *lane) put(size int, do func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fullLocked(size) && !l.stuck {
		timer := time.AfterFunc(l.stall, l.giveUp)
		defer timer.Stop()
	}
	for !l.closed && !l.stuck && l.fullLocked(size) {
		l.room.Wait()
	}
	if l.closed || l.fullLocked(size) {
		return false
	}
	l.tasks = append(l.tasks, task{do, size})
	l.bytes += size
	l.room.Broadcast()
	return true
}

// insist is put that waits for no room: for what ends the lane's session.
func (l *lane) insist(do func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.tasks = append(l.tasks, task{do: do})
	l.room.Broadcast()
	return true
}

func (l *lane) fullLocked(size int) bool {
	return len(l.tasks) > 0 && (len(l.tasks) >= maxLane || l.bytes+size > maxLaneBytes)
}

// giveUp ends the wait for room.
func (l *lane) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck = true
	l.room.Broadcast()
}

// refused is why put took nothing.
func (l *lane) refused(closed error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return closed
	}
	return ours(rpc.InternalError, "the agent takes nothing more: wait for it, cancel its turn, or close the session")
}

func (l *lane) run() {
	defer close(l.ended)
	for {
		l.mu.Lock()
		for len(l.tasks) == 0 && !l.closed {
			l.room.Wait()
		}
		if len(l.tasks) == 0 {
			l.mu.Unlock()
			return
		}
		next := l.tasks[0]
		l.tasks[0] = task{}
		l.tasks = l.tasks[1:]
		l.bytes -= next.size
		l.stuck = false
		l.room.Broadcast()
		l.mu.Unlock()
		next.do()
	}
}

// shut takes nothing more. What waits is still done.
func (l *lane) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.room.Broadcast()
}

// close is shut, and waits until what waited was done. Not from the lane itself.
func (l *lane) close() {
	l.shut()
	<-l.ended
}

// over reports whether the lane was closed and has done everything.
func (l *lane) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}
