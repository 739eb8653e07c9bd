package permit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// Say is a judge's word on a card.
type Say int

// What a judge can say. Refuse settles at once. AskUser sends the card to a
// person unless another judge refuses it: no judge, mode or policy allows it.
const (
	Pass Say = iota
	Allow
	Refuse
	AskUser
)

// Verdict is a judge's word with its name and reason. The zero value passes
// the card on.
type Verdict struct {
	Say  Say
	By   Party
	Name string
	Why  string
}

// Judge looks at a card and may settle it. It obeys ctx and does not change
// the card.
type Judge func(ctx context.Context, c *Card) Verdict

// Engine settles the permissions of one session. The fields are set before the
// first Decide; Decide is safe for concurrent use, one call for each card.
type Engine struct {
	Mode   func() Mode // the mode now; nil: Default
	Policy Policy      // empty: Ask
	Place  Place
	Hearing
	Ask   func(context.Context, *Card) (Answer, error) // shows the card to a person; nil: nobody is there
	Limit time.Duration                                // how long a person is waited for; 0: for ever
	Log   *slog.Logger                                 // nil: slog.Default()

	asking sync.WaitGroup // questions that may still be open
}

// Hearing is who is heard between the fence and the mode.
type Hearing struct {
	// Judges are the deciders: all are heard, in this order, until one refuses.
	Judges []Judge
	// Gate is heard when no judge refused, and before their leave counts: the
	// taint gate. nil: none.
	Gate Judge
	// Uncovered says why the turn of a card cannot be taken back, "" when it can:
	// policy Record grants nothing then. nil: it can.
	Uncovered func(c *Card) string
}

// Decide settles one card and measures how long that took. It never fails: what
// goes wrong is a refusal, and a ctx that ends is the outcome "cancelled", at
// once, also when Ask is slow to see it.
func (e *Engine) Decide(ctx context.Context, c *Card) Outcome {
	start := time.Now()
	o := e.decide(ctx, c)
	o.Delay = time.Since(start)
	return o
}

// Wait returns when every question that was withdrawn has been given up by the
// one who asked it. Its place is the session's end.
func (e *Engine) Wait() { e.asking.Wait() }

func (e *Engine) decide(ctx context.Context, c *Card) Outcome {
	v := e.hear(ctx, c)
	if ctx.Err() != nil {
		return cancelled()
	}
	switch v.Say {
	case Allow:
		return e.allow(ctx, c, v)
	case Refuse:
		return refuse(c, v)
	case AskUser:
		return e.person(ctx, c, v)
	case Pass:
		return e.policy(ctx, c)
	default:
		return refuse(c, Verdict{By: v.By, Name: v.Name, Why: "it gave no answer that is known"})
	}
}

// hear asks the judges in their order until one settles the card.
func (e *Engine) hear(ctx context.Context, c *Card) Verdict {
	if v := e.fence(c); v.Say != Pass {
		return v
	}
	if c.Request.Kind == Plan || c.Request.Kind == Question {
		return Verdict{Say: AskUser, Why: "a plan or a question is for a person"}
	}
	if v := e.Hearing.hear(ctx, c); v.Say != Pass {
		return v
	}
	return e.mode(c)
}

// hear is what the judges and the gate come to: a refusal, else a question to the
// user, else the first leave.
func (h *Hearing) hear(ctx context.Context, c *Card) (heard Verdict) {
	for _, judge := range h.Judges {
		switch v := judge(ctx, c); {
		case v.Say == Pass:
		case v.Say != Allow && v.Say != AskUser:
			return v
		case heard.Say == Pass, v.Say == AskUser && heard.Say == Allow:
			heard = v
		}
	}
	if h.Gate != nil && heard.Say != AskUser {
		if v := h.Gate(ctx, c); v.Say != Pass {
			return v
		}
	}
	return heard
}

func (e *Engine) fence(c *Card) Verdict {
	err := e.Place.refusal(c)
	if err == nil {
		return Verdict{}
	}
	v := Verdict{Say: Refuse, By: ByFence, Name: "fence", Why: err.Error()}
	var refused *fence.Refusal
	if errors.As(err, &refused) {
		v.Name = string(refused.Fence) + " fence"
		v.Why = text.Visible(refused.Path) + ": " + refused.Why + "; " + refused.Allowed
	}
	return v
}

// allow chooses the agent's option for what v allows.
func (e *Engine) allow(ctx context.Context, c *Card, v Verdict) Outcome {
	o, how := allowing(c.Options)
	switch how {
	case one:
		return Outcome{Allowed: true, Option: o.ID, By: v.By, Name: v.Name, Why: v.Why}
	case several:
		return e.person(ctx, c, Verdict{Why: "several options allow it once, and only a person can tell them apart"})
	default:
		return Outcome{By: v.By, Name: v.Name, Why: "the agent offers no way to allow this once"}
	}
}

// policy settles a card on which nobody had an opinion.
func (e *Engine) policy(ctx context.Context, c *Card) Outcome {
	switch e.Policy {
	case "", Ask:
		return e.person(ctx, c, Verdict{})
	case Record:
		if e.Uncovered != nil {
			if why := e.Uncovered(c); why != "" {
				return e.person(ctx, c, Verdict{Why: "policy record grants nothing in a turn that cannot be taken back: " + why})
			}
		}
		return e.allow(ctx, c, Verdict{By: ByPolicy, Name: string(Record), Why: "granted once and recorded"})
	default:
		return refuse(c, Verdict{By: ByPolicy, Name: string(e.Policy), Why: "nobody is there to answer, and nothing else allows it"})
	}
}

// person asks the user; v says why it must be a person, if it must.
func (e *Engine) person(ctx context.Context, c *Card, v Verdict) Outcome {
	nobody := Verdict{By: ByPolicy, Name: string(e.Policy), Why: "nobody is there to answer"}
	if nobody.Name == "" {
		nobody.Name = string(Ask)
	}
	if v.Why != "" {
		nobody.Why += ": " + v.Why
	}
	switch {
	case len(c.Options) == 0:
		return Outcome{By: ByPolicy, Name: "options", Why: "the agent offered nothing to choose from"}
	case e.Ask == nil || e.Policy == Deny:
		return refuse(c, nobody)
	}
	if c.Request.Kind != Plan && c.Request.Kind != Question {
		c.Reason = v.Why
	}
	answer, err := e.ask(ctx, c)
	switch {
	case ctx.Err() != nil:
		return cancelled()
	case errors.Is(err, errLimit):
		return refuse(c, Verdict{By: ByPolicy, Name: "time limit", Why: fmt.Sprintf("nobody answered within %s", e.Limit)})
	case err != nil:
		e.log().Warn("asking for a permission", "card", c.ID, "error", err)
		return refuse(c, nobody)
	}
	return e.answered(c, answer)
}

// answered turns what a person picked into an outcome.
func (e *Engine) answered(c *Card, a Answer) Outcome {
	o, allows, ok := picked(c.Options, a.Option)
	switch {
	case ok && allows:
		return Outcome{Allowed: true, Option: o.ID, By: ByUser, Raw: a.Raw}
	case ok:
		return Outcome{Option: o.ID, By: ByUser, Why: "the user refused it", Raw: a.Raw}
	case a.Raw != nil && a.Option == "": // as the client says it when it cancels the turn
		return Outcome{By: ByCancel, Why: "the client cancelled it", Raw: a.Raw}
	case a.Option == "":
		return refuse(c, Verdict{By: ByUser, Why: "the question was closed without an answer"})
	default:
		e.log().Warn("a permission was answered with an option that was not offered", "card", c.ID, "option", a.Option)
		return refuse(c, Verdict{By: ByUser, Why: "the answer names an option that the agent did not offer"})
	}
}

var errLimit = errors.New("time limit")

// ask puts the question and waits for its answer, the time limit or ctx. The
// question runs on its own goroutine, so that a display that is slow to
// withdraw a card does not delay a cancel.
func (e *Engine) ask(ctx context.Context, c *Card) (Answer, error) {
	asked, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	if e.Limit > 0 {
		timer := time.AfterFunc(e.Limit, func() { withdraw(errLimit) })
		defer timer.Stop()
	}
	type reply struct {
		answer Answer
		err    error
	}
	replies := make(chan reply, 1)
	e.asking.Go(func() {
		answer, err := e.Ask(asked, c)
		if asked.Err() != nil && err == nil && answer.Option != "" {
			e.log().Info("a late answer to a permission was dropped", "card", c.ID)
		}
		replies <- reply{answer, err}
	})
	select {
	case r := <-replies:
		if asked.Err() != nil {
			return Answer{}, context.Cause(asked)
		}
		return r.answer, r.err
	case <-asked.Done():
		return Answer{}, context.Cause(asked)
	}
}

func (e *Engine) log() *slog.Logger {
	if e.Log == nil {
		return slog.Default()
	}
	return e.Log
}

// refuse chooses the agent's option for a refusal; where none may be chosen the
// outcome is "cancelled". A plan or a question is not answered for the user.
func refuse(c *Card, v Verdict) Outcome {
	out := Outcome{By: v.By, Name: v.Name, Why: v.Why}
	if unanswered := c.Request.Kind == Plan || c.Request.Kind == Question; unanswered && v.By != ByFence && v.By != ByUser {
		return out
	}
	if o, ok := refusing(c.Options); ok {
		out.Option = o.ID
	}
	return out
}

func cancelled() Outcome {
	return Outcome{By: ByCancel, Why: "the turn was cancelled"}
}
