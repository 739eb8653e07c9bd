package permit

import (
	"context"
	"errors"
	"time"
)

// Shown is a card that is on the screen while it is still being decided.
type Shown interface {
	// Answer waits for the person. When ctx ends the card is withdrawn, and
	// whatever is clicked later does nothing. It is called once.
	Answer(ctx context.Context) (Answer, error)
	// Call calls the person: nobody else settles the card. c.Reason says why, where
	// there is such a reason. It is called once at the most.
	Call(ctx context.Context, c *Card)
}

// question is a card on its way to its outcome, and before a person where it gets
// there. It belongs to one goroutine.
type question struct {
	engine   *Engine
	card     *Card
	shown    Shown // nil: it is not on the screen
	withdraw context.CancelFunc
	replies  chan reply // one slot; nil: nobody is asked
	early    *reply     // what came while the deciders were heard
}

// reply is what became of a question to a person.
type reply struct {
	answer Answer
	err    error
}

// close takes back what is still on the screen.
func (q *question) close() {
	if q.withdraw != nil {
		q.withdraw()
	}
}

// put waits for a person on a goroutine of its own, so that a display that is slow
// to withdraw a card does not delay a cancel.
func (q *question) put(ctx context.Context, wait func(context.Context) (Answer, error)) {
	asked, withdraw := context.WithCancelCause(ctx)
	replies := make(chan reply, 1)
	q.withdraw, q.replies = func() { withdraw(context.Cause(ctx)) }, replies
	e, id := q.engine, q.card.ID
	e.asking.Go(func() {
		answer, err := wait(asked)
		if asked.Err() != nil && err == nil && answer.Option != "" {
			e.log().Info("a late answer to a permission was dropped", "card", id)
		}
		replies <- reply{answer, err}
	})
}

// during hears the deciders with the card on the screen, where that can be. A
// person who picks an option meanwhile settles it; one who closes the card leaves
// it to the deciders first.
func (q *question) during(ctx context.Context, judge Judge) Verdict {
	if !q.engine.showable(q.card) {
		return judge(ctx, q.card)
	}
	hearing, stop := context.WithCancel(ctx)
	defer stop()
	verdicts := make(chan Verdict, 1)
	q.engine.asking.Go(func() { verdicts <- judge(hearing, q.card) })
	q.show(ctx)
	for {
		select {
		case <-ctx.Done():
			return Verdict{}
		case v := <-verdicts:
			return v
		case r := <-q.replies:
			q.early = &r
			if _, _, ok := picked(q.card.Options, r.answer.Option); ok && r.err == nil {
				return Verdict{Say: answered}
			}
			q.replies = nil
		}
	}
}

// show puts the card on the screen and calls nobody.
func (q *question) show(ctx context.Context) {
	c := *q.card // this one does not change any more
	c.Deciding = true
	if q.shown = q.engine.Show(ctx, &c); q.shown != nil {
		q.put(ctx, q.shown.Answer)
	}
}

var errLimit = errors.New("time limit")

// ask calls a person and waits for the answer, the time limit or ctx.
func (q *question) ask(ctx context.Context) (Answer, error) {
	switch {
	case q.early != nil:
		return q.early.answer, q.early.err
	case q.shown != nil:
		q.shown.Call(ctx, q.card)
	default:
		q.put(ctx, func(asked context.Context) (Answer, error) { return q.engine.Ask(asked, q.card) })
	}
	var limit <-chan time.Time
	if q.engine.Limit > 0 {
		timer := time.NewTimer(q.engine.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case r := <-q.replies:
		return r.answer, r.err
	case <-limit:
		return Answer{}, errLimit
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}
