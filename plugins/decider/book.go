package decider

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// book holds what a decider was asked: what is open, and what was settled lately.
type book struct {
	last int64 // the newest id
	open map[int64]*pending
	past []*pending // settled, oldest first, at most maxPast
}

// pending is one question to one decider. Its decider's mu guards what changes.
type pending struct {
	id      int64
	at      time.Time
	line    []byte
	tell    func(Answer)
	what    about
	timer   *time.Timer // set before mu is given back for the first time, where it waits
	settled bool
	answers int    // that came in time; tell is called for two at most
	said    Answer // once settled

	overtaken bool // what it asks was settled before
}

// about is what the journal says of a question.
type about struct{ tool, target string }

func (b *book) add(q *Question, params jsontext.Value, tell func(Answer)) *pending {
	b.last++
	p := &pending{id: b.last, at: time.Now(), tell: tell, line: call(b.last, "permissions/decide", params)}
	p.what = about{oneLine(q.Request.Tool, 128), q.Request.Target()}
	b.open[p.id] = p
	return p
}

// all are the open questions in the order in which they were asked.
func (b *book) all() []*pending {
	var all []*pending
	for _, id := range slices.Sorted(maps.Keys(b.open)) {
		all = append(all, b.open[id])
	}
	return all
}

func (b *book) settle(p *pending) {
	delete(b.open, p.id)
	p.line = nil // what is only remembered takes little memory
	if len(b.past) >= maxPast {
		b.past = slices.Delete(b.past, 0, 1)
	}
	b.past = append(b.past, p)
}

// find is the question with an id; nil: none that is still known.
func (b *book) find(id int64) *pending {
	if p := b.open[id]; p != nil {
		return p
	}
	for _, p := range slices.Backward(b.past) {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (p *pending) entry(a Answer) Entry {
	return Entry{What: Decided, Tool: p.what.tool, Target: p.what.target, Answer: a.Say.String(), Message: a.Message, Why: a.Why, DelayMS: inMillis(a.Delay), Late: p.overtaken}
}

// call is a request as a line. params is valid JSON without line breaks.
func call(id int64, method string, params jsontext.Value) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), strconv.FormatInt(id, 10)...)
	line = append(append(line, `,"method":"`...), method...)
	line = append(append(line, `","params":`...), params...)
	return append(line, "}\n"...)
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
