package decider

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Ids of what is not asked on an agent's behalf: below 1, the first question.
const (
	helloID    = -1
	shutdownID = -2
)

// ended is the reason of a life that the program ended.
const ended = "it ended"

// life is one run of a program.
type life struct {
	proc   Process
	out    chan []byte // lines for its input
	hello  chan message
	bye    chan struct{} // closed when it answered shutdown
	over   chan struct{} // closed when it is over
	once   sync.Once
	why    string // before over is closed
	strays int    // since the last answer; the reader's own
}

// end ends the life; the first reason is kept.
func (l *life) end(why string) {
	l.once.Do(func() {
		l.why = why
		close(l.over)
	})
}

// send queues a line; false: the program does not read what it was sent.
func (l *life) send(line []byte) bool {
	select {
	case l.out <- line:
		return true
	default:
		return false
	}
}

// live runs the program once. final says that it makes no sense to start it
// again. Nothing of it runs any more afterwards.
func (d *Decider) live(ctx context.Context) (why string, final bool) {
	d.begin()
	proc, err := d.Start(ctx)
	if err != nil {
		why = "it could not be started: " + oneLine(err.Error(), MaxMessage)
		d.rest(resting, why)
		return why, false
	}
	l := &life{proc: proc, out: make(chan []byte, 64), hello: make(chan message, 1), bye: make(chan struct{}), over: make(chan struct{})}
	var pipes sync.WaitGroup
	pipes.Go(func() { l.write() })
	pipes.Go(func() { d.read(l) })
	final = d.accompany(ctx, l)
	d.rest(resting, l.why)
	proc.Stop()
	pipes.Wait()
	if e, ok := proc.(Explainer); ok && l.why == ended {
		return l.why + " (" + oneLine(e.Ended(), 300) + ")", final
	}
	return l.why, final
}

// accompany greets the program and waits for the end of its life.
func (d *Decider) accompany(ctx context.Context, l *life) (final bool) {
	l.send(call(helloID, "initialize", d.introduction()))
	timer := time.NewTimer(helloLimit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		l.end("it was switched off")
		return false
	case <-l.over:
		return false
	case <-timer.C:
		l.end("it did not answer initialize")
		return false
	case m := <-l.hello:
		if err := m.welcome(); err != nil {
			l.end(err.Error())
			var other *VersionError
			return errors.As(err, &other)
		}
	}
	d.greet(l)
	d.note(Entry{What: Life, Why: "it is ready"})
	select {
	case <-l.over:
	case <-ctx.Done():
		l.farewell()
	}
	return false
}

// farewell asks the program to end.
func (l *life) farewell() {
	l.send(call(shutdownID, "shutdown", jsontext.Value("{}")))
	timer := time.NewTimer(shutdownLimit)
	defer timer.Stop()
	select {
	case <-l.bye:
	case <-l.over:
	case <-timer.C:
	}
	l.end("it was switched off")
}

// introduction is the params of initialize.
func (d *Decider) introduction() jsontext.Value {
	type named struct {
		ID      string `json:"id,omitzero"`
		Version string `json:"version"`
	}
	params, err := json.Marshal(struct {
		Protocol int      `json:"protocolVersion"`
		Host     named    `json:"sallyport"`
		Like     named    `json:"escouade"` // programs written for it look here
		Plugin   named    `json:"plugin"`
		Can      struct{} `json:"capabilities"`
	}{Protocol: 1, Host: named{Version: d.Host}, Like: named{Version: d.Host}, Plugin: named{d.ID, d.Version}})
	if err != nil {
		return jsontext.Value("{}") // texts that are no UTF-8; the program says what it misses
	}
	return params
}

// write passes lines on, until the life is over.
func (l *life) write() {
	for {
		select {
		case <-l.over:
			return
		case line := <-l.out:
			if _, err := l.proc.Write(line); err != nil {
				return // the reader sees its end
			}
		}
	}
}

// read takes what the program writes, until its output ends.
func (d *Decider) read(l *life) {
	in := newLines(l.proc, MaxLine)
	for {
		var got []message
		err := in.next(func(line []byte) { got = append(got, d.take(l, line)...) })
		d.hear(l, got)
		switch {
		case err == nil && l.strays <= maxStrays:
			continue
		case err == nil:
			l.end("it wrote too much that nobody asked for")
		case errors.Is(err, errLong):
			l.end(err.Error())
		case errors.Is(err, io.EOF):
			l.end(ended)
		default:
			l.end("its output ended: " + oneLine(err.Error(), 200))
		}
		break
	}
	// What it still writes keeps it from ending.
	_, _ = io.Copy(io.Discard, l.proc)
}

// take reads one line and keeps what may be an answer to a question.
func (d *Decider) take(l *life, line []byte) (answers []message) {
	if l.strays > maxStrays {
		return nil
	}
	all, batch, err := messages(line)
	if err != nil {
		d.stray(l, err.Error())
		return nil
	}
	var replies []byte
	for _, m := range all {
		switch {
		case m.number() > 0:
			answers = append(answers, m)
		case m.Method == "" && string(m.ID) == strconv.Itoa(helloID):
			select {
			case l.hello <- m:
			default:
				d.stray(l, "it answered initialize twice")
			}
		case m.Method == "" && string(m.ID) == strconv.Itoa(shutdownID):
			select {
			case <-l.bye:
			default:
				close(l.bye)
			}
		case m.call():
			d.stray(l, "it asked for "+oneLine(m.Method, 60)+", which there is not")
			replies = append(append(replies, refusal(m.ID)...), ',')
		case m.Method != "":
			d.stray(l, "it sent "+oneLine(m.Method, 60)+", which is not known")
		default:
			d.stray(l, "it answered what it was not asked")
		}
	}
	if len(replies) > 0 {
		replies = replies[:len(replies)-1]
		if batch {
			replies = append(append([]byte("["), replies...), ']')
		}
		l.send(append(replies, '\n'))
	}
	return answers
}

// refusal is the answer to what a program asks us.
func refusal(id jsontext.Value) []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":{"code":-32601,"message":"method not found"}}`...)
}

// stray counts and notes a line that answers nothing. The journal gets the first
// few between two answers.
func (d *Decider) stray(l *life, why string) {
	if l.strays++; l.strays <= 3 {
		d.note(Entry{What: Stray, Why: why})
	}
}

// hear settles questions by answers that came together.
func (d *Decider) hear(l *life, got []message) {
	if len(got) == 0 {
		return
	}
	answers := map[int64]Answer{}
	var order []int64
	for _, m := range got {
		id, a := m.number(), m.answer()
		before, twice := answers[id]
		if !twice {
			order = append(order, id)
			answers[id] = a
			continue
		}
		l.strays++
		answers[id] = both(before, a)
	}
	for _, id := range order {
		d.answered(l, id, answers[id])
	}
}

// both is what two answers to one question come to.
func both(first, second Answer) Answer {
	const why = "it answered twice"
	switch {
	case first.Say == Deny:
		return first
	case second.Say == Deny:
		return second
	default:
		return Answer{Why: why}
	}
}

// answered settles one question, or notes why the answer does not count.
func (d *Decider) answered(l *life, id int64, a Answer) {
	d.mu.Lock()
	p := d.asked.find(id)
	switch {
	case p == nil:
		d.mu.Unlock()
		d.stray(l, "it answered what it was not asked")
	case !p.settled:
		p.answers = 1
		said := d.settleLocked(p, a)
		d.slow.silences = 0
		d.mu.Unlock()
		l.strays = 0
		d.note(said)
	default:
		d.again(l, p, a)
	}
}

// again takes a further answer to a settled question. The caller holds mu, which
// is given back.
func (d *Decider) again(l *life, p *pending, a Answer) {
	said := p.entry(a)
	said.DelayMS = inMillis(time.Since(p.at))
	if p.answers == 0 {
		said.Late = true
	} else {
		said.What, said.Answer, said.Message, said.Why = Stray, "", "", "it answered twice"
	}
	if p.answers == 1 {
		p.said = both(p.said, a)
		p.tell(p.said)
	}
	if p.answers > 0 {
		p.answers++
	}
	d.mu.Unlock()
	if l.strays++; l.strays <= 3 {
		d.note(said)
	}
}
