package decider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// How long things may take.
const (
	AnswerLimit = 500 * time.Millisecond // a question
	StartLimit  = 3 * time.Second        // once: the first question while the program starts for the first time

	helloLimit    = 30 * time.Second       // initialize, before the program is ended
	shutdownLimit = 500 * time.Millisecond // shutdown
	firstPause    = 250 * time.Millisecond // before a program that ended soon is started again; doubled each time
	longestPause  = time.Minute
	steady        = 10 * time.Second // a life as long as this is followed by the next at once
	maxSilences   = 5                // so many questions in a row without an answer in time end a life
	maxPast       = 256              // settled questions that are still known, to tell late answers
)

// Process is a running program: what is written goes to its standard input, what
// is read comes from its standard output. Stop ends it with all that it started,
// and waits for that; Read and Write return then. It may be called again.
type Process interface {
	io.Reader
	io.Writer
	Stop()
}

// Explainer is a Process that can say, after Stop, how it ended, for its author.
type Explainer interface{ Ended() string }

// Program says what a decider is. Start and ID have to be set.
type Program struct {
	ID      string // reverse domain
	Name    string // for people, such as "Team rules"; default: ID
	Version string
	Host    string // our own version
	Start   func(context.Context) (Process, error)
	Note    func(Entry)  // is told what the journal is to hold, in order, quickly; default: nothing
	Log     *slog.Logger // default: nothing is logged
}

// Decider is a program that is kept running and can be asked. Its methods can be
// called from any goroutine.
type Decider struct {
	Program

	stop context.CancelFunc
	work sync.WaitGroup // the goroutine that runs the program

	mu    sync.Mutex
	now   stage
	life  *life // while ready
	asked book
	slow  slowness

	notes sync.Mutex // held while Note is called; never taken before mu is given back
}

// stage is what a decider is doing.
type stage struct {
	state state
	why   string        // why it cannot answer, where it cannot
	next  chan struct{} // closed with the next stage
}

type state int

const (
	starting state = iota
	ready
	resting // until it is started again
	closed  // for good
)

// slowness is what is known of how fast a decider is.
type slowness struct {
	once     time.Time // until when the first questions of a first start may wait; zero: not asked yet
	begun    bool      // it was ready once
	silences int       // questions in a row without an answer in time
}

// Open starts a program and keeps it running until Close. It does not wait for it.
func Open(p Program) *Decider {
	if p.Name == "" {
		p.Name = p.ID
	}
	if p.Note == nil {
		p.Note = func(Entry) {}
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	d := &Decider{Program: p, stop: stop, now: stage{next: make(chan struct{})}}
	d.asked.open = map[int64]*pending{}
	d.work.Go(func() { d.run(ctx) })
	return d
}

// Close asks the program to end, ends it, and waits until it is gone. Open
// questions are answered with ask.
func (d *Decider) Close() {
	d.rest(closed, "it was switched off")
	d.stop()
	d.work.Wait()
}

// run starts the program again and again.
func (d *Decider) run(ctx context.Context) {
	pause := firstPause
	for {
		began := time.Now()
		why, final := d.live(ctx)
		switch {
		case ctx.Err() != nil:
			d.note(Entry{What: Life, Why: why})
			return
		case final:
			d.rest(closed, why)
			d.note(Entry{What: Life, Why: why + "; it is not started again"})
			return
		case time.Since(began) >= steady:
			pause = firstPause
			d.note(Entry{What: Life, Why: why + "; it is started again"})
			continue
		}
		d.note(Entry{What: Life, Why: why + "; it is started again in " + pause.String()})
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// rest answers all open questions with ask; those to come are until it is ready.
func (d *Decider) rest(to state, why string) {
	d.mu.Lock()
	if d.now.state == closed {
		why = d.now.why
	} else {
		d.turnLocked(stage{state: to, why: why})
	}
	d.life = nil
	var said []Entry
	for _, p := range d.asked.all() {
		said = append(said, d.settleLocked(p, Answer{Why: why}))
	}
	d.mu.Unlock()
	d.note(said...)
}

// begin says that the program is being started.
func (d *Decider) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now.state != closed {
		d.turnLocked(stage{state: starting})
	}
}

// greet says that the program is ready, and sends it what waits.
func (d *Decider) greet(l *life) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now.state == closed {
		return
	}
	d.turnLocked(stage{state: ready})
	d.life = l
	d.slow.begun, d.slow.silences = true, 0
	for _, p := range d.asked.all() {
		l.send(p.line)
	}
}

func (d *Decider) turnLocked(to stage) {
	close(d.now.next)
	to.next = make(chan struct{})
	d.now = to
}

// Ready waits until the program can be asked. It fails as soon as one start has
// failed, with the reason.
func (d *Decider) Ready(ctx context.Context) error {
	for {
		d.mu.Lock()
		now := d.now
		d.mu.Unlock()
		switch now.state {
		case ready:
			return nil
		case starting:
		default:
			return errors.New(now.why)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-now.next:
		}
	}
}

// Decide asks this one alone.
func (d *Decider) Decide(ctx context.Context, q *Question) (Answer, error) {
	params, err := json.Marshal(q)
	if err != nil {
		return Answer{}, fmt.Errorf("writing a question for a decider: %w", err)
	}
	said := make(chan Answer, 2)
	d.ask(q, params, func(a Answer) { said <- a })
	select {
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case a := <-said:
		return a, nil
	}
}

// ask puts a question; its answers come through tell, the first within the limit,
// and a second one if the program answers twice. tell may not block.
func (d *Decider) ask(q *Question, params jsontext.Value, tell func(Answer)) *pending {
	d.mu.Lock()
	p := d.asked.add(q, params, tell)
	limit := AnswerLimit
	var why string
	switch d.now.state {
	case ready:
		if !d.life.send(p.line) {
			why = "it does not read what it is asked"
		}
	case starting:
		if d.slow.once.IsZero() {
			d.slow.once = p.at.Add(StartLimit)
		}
		if wait := d.slow.once.Sub(p.at); !d.slow.begun && wait > limit {
			limit = wait
		}
	default:
		why = d.now.why
	}
	if why == "" {
		p.timer = time.AfterFunc(limit, func() { d.expire(p) })
		d.mu.Unlock()
		return p
	}
	said := d.settleLocked(p, Answer{Why: why})
	d.mu.Unlock()
	d.note(said)
	return p
}

// overtake says that a question needs no answer any more. One that comes all the
// same is late.
func (d *Decider) overtake(p *pending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.overtaken = !p.settled
}

// expire is called when a question's time is over.
func (d *Decider) expire(p *pending) {
	d.mu.Lock()
	if p.settled {
		d.mu.Unlock()
		return
	}
	d.work.Add(1) // Close waits for what is noted here: it is not yet past its own turn with mu
	defer d.work.Done()
	why := "no answer in time"
	if d.now.state == starting {
		why = "it has not started in time"
	}
	said := d.settleLocked(p, Answer{Why: why})
	var hung *life
	if d.now.state == ready {
		if d.slow.silences++; d.slow.silences >= maxSilences {
			hung = d.life
		}
	}
	d.mu.Unlock()
	d.note(said)
	if hung != nil {
		hung.end("it left many questions unanswered")
	}
}

// settleLocked answers a question. The caller holds mu, and notes the entry
// after giving it back.
func (d *Decider) settleLocked(p *pending, a Answer) Entry {
	if p.timer != nil {
		p.timer.Stop()
	}
	a.Delay = time.Since(p.at)
	p.settled, p.said = true, a
	d.asked.settle(p)
	p.tell(a)
	return p.entry(a)
}

// note writes to the journal.
func (d *Decider) note(entries ...Entry) {
	if len(entries) == 0 {
		return
	}
	d.notes.Lock()
	defer d.notes.Unlock()
	for _, e := range entries {
		e.Time, e.Decider = time.Now(), d.ID
		if e.What == Life {
			d.Log.Info("decider", "id", d.ID, "event", e.Why)
		}
		d.Note(e)
	}
}
