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

	answered // no judge's word: a person was faster
)

// Verdict is a judge's word with its name and reason. The zero value passes
// the card on.
type Verdict struct {
	Say  Say
	By   Party
	ID   string // of the decider that is a program
	Name string
	Why  string
}

// final reports whether nobody else is heard behind a verdict.
func (v Verdict) final() bool { return v.Say != Pass && v.Say != Allow && v.Say != AskUser }

// and is what two judges come to, v being heard first: a refusal, else a question
// to the user, else the first leave.
func (v Verdict) and(next Verdict) Verdict {
	switch {
	case v.final():
		return v
	case v.Say == Pass, next.final(), next.Say == AskUser && v.Say == Allow:
		return next
	default:
		return v
	}
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
	Ask   func(context.Context, *Card) (Answer, error) // calls a person with the card; nil: nobody is there
	Limit time.Duration                                // how long a person is waited for; 0: for ever
	Log   *slog.Logger                                 // nil: slog.Default()

	asking sync.WaitGroup // questions and hearings that may still be open
}

// Hearing is who is heard between the fence and the mode.
type Hearing struct {
	// Judges answer at once: all are heard, in this order, until one refuses.
	Judges []Judge
	// Deciders is the judge that takes its time, heard where no other refused; nil
	// where nobody decides this card. A nil func: nobody ever does.
	Deciders func(c *Card) Judge
	// Gate is heard when no judge refused, and before their leave counts: the
	// taint gate. nil: none.
	Gate Judge
	// Uncovered says why the turn of a card cannot be taken back, "" when it can:
	// policy Record grants nothing then. nil: it can.
	Uncovered func(c *Card) string
	// Show puts a card on the screen while the deciders are heard, calls nobody and
	// returns at once. It keeps the card, which is a copy with Deciding set. nil, or
	// a nil result: the card is put to a person by Ask, once it needs one.
	Show func(ctx context.Context, c *Card) Shown
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
// one who asked it, and every hearing that nobody waits for. Its place is the
// session's end.
func (e *Engine) Wait() { e.asking.Wait() }

func (e *Engine) decide(ctx context.Context, c *Card) Outcome {
	q := &question{engine: e, card: c}
	defer q.close()
	v := e.hear(ctx, q)
	if ctx.Err() != nil {
		return cancelled()
	}
	switch v.Say {
	case Allow:
		return e.allow(ctx, q, v)
	case Refuse:
		return refuse(c, v)
	case AskUser:
		return e.person(ctx, q, v)
	case Pass:
		return e.policy(ctx, q)
	case answered:
		return e.answered(c, q.early.answer)
	default:
		return refuse(c, Verdict{By: v.By, ID: v.ID, Name: v.Name, Why: "it gave no answer that is known"})
	}
}

// hear asks all in their order until the card is settled: by one of them, or by a
// person while the deciders think.
func (e *Engine) hear(ctx context.Context, q *question) Verdict {
	c := q.card
	if v := e.fence(c); v.Say != Pass {
		return v
	}
	if c.Request.Kind == Plan || c.Request.Kind == Question {
		return Verdict{Say: AskUser, Why: "a plan or a question is for a person"}
	}
	var heard Verdict
	for _, judge := range e.Judges {
		if heard = heard.and(judge(ctx, c)); heard.final() {
			return heard
		}
	}
	if e.Deciders != nil {
		if judge := e.Deciders(c); judge != nil {
			heard = heard.and(q.during(ctx, judge))
		}
	}
	if e.Gate != nil && (heard.Say == Pass || heard.Say == Allow) {
		if v := e.Gate(ctx, c); v.Say != Pass {
			return v
		}
	}
	if heard.Say != Pass {
		return heard
	}
	return e.mode(c)
}

// showable reports whether a card may be on the screen while the deciders are
// heard: a person could be asked about it, and a mode that refuses it is not
// overruled by one who is quick.
func (e *Engine) showable(c *Card) bool {
	return e.Show != nil && e.Policy != Deny && len(c.Options) > 0 && e.mode(c).Say != Refuse
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
func (e *Engine) allow(ctx context.Context, q *question, v Verdict) Outcome {
	o, how := allowing(q.card.Options)
	switch how {
	case one:
		return Outcome{Allowed: true, Option: o.ID, By: v.By, ID: v.ID, Name: v.Name, Why: v.Why}
	case several:
		return e.person(ctx, q, Verdict{Why: "several options allow it once, and only a person can tell them apart"})
	default:
		return Outcome{By: v.By, ID: v.ID, Name: v.Name, Why: "the agent offers no way to allow this once"}
	}
}

// policy settles a card on which nobody had an opinion.
func (e *Engine) policy(ctx context.Context, q *question) Outcome {
	switch e.Policy {
	case "", Ask:
		return e.person(ctx, q, Verdict{})
	case Record:
		if e.Uncovered != nil {
			if why := e.Uncovered(q.card); why != "" {
				return e.person(ctx, q, Verdict{Why: "policy record grants nothing in a turn that cannot be taken back: " + why})
			}
		}
		return e.allow(ctx, q, Verdict{By: ByPolicy, Name: string(Record), Why: "granted once and recorded"})
	default:
		return refuse(q.card, Verdict{By: ByPolicy, Name: string(e.Policy), Why: "nobody is there to answer, and nothing else allows it"})
	}
}

// person asks the user; v says why it must be a person, if it must.
func (e *Engine) person(ctx context.Context, q *question, v Verdict) Outcome {
	c := q.card
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
	answer, err := q.ask(ctx)
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
	case ok && keeps(c, o.ID):
		return e.forGood(c, o, allows)
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

// forGood is the outcome of a lasting answer, which the agent is given for once: its
// own lasting grant is wider than what the person was shown. Where it offers no such
// answer nothing is allowed.
func (e *Engine) forGood(c *Card, o Option, allows bool) Outcome {
	own, ok := once(c.Options, allows)
	switch {
	case !allows:
		return Outcome{Option: own.ID, By: ByUser, Why: "the user refused it", Rule: o.Rule}
	case len(sharing(c.Options, o.ID)) > 1:
		return refuse(c, Verdict{By: ByUser, Why: "the agent gives two options one id"})
	case !ok:
		return refuse(c, Verdict{By: ByUser, Why: "the agent offers no way to allow this once"})
	default:
		return Outcome{Allowed: true, Option: own.ID, By: ByUser, Rule: o.Rule}
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
	out := Outcome{By: v.By, ID: v.ID, Name: v.Name, Why: v.Why}
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
