package decider

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Set are deciders that are asked together, in the order in which they are named
// where several say the same.
type Set []*Decider

// Decision is what a set comes to. The zero value is ask.
type Decision struct {
	Say     Say
	By      *Decider // who settled it; nil for ask
	Message string   // its message, may be empty
}

// Decide asks all at once. A deny settles at once; an allow when all have
// answered or their time is over. A ctx that ends is an error, whatever was
// answered before. Answers that come when it is settled are in the journals, as
// late.
func (s Set) Decide(ctx context.Context, q *Question) (Decision, error) {
	if len(s) == 0 {
		return Decision{}, ctx.Err()
	}
	params, err := json.Marshal(q)
	if err != nil {
		return Decision{}, fmt.Errorf("writing a question for the deciders: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	type word struct {
		from int
		Answer
	}
	words := make(chan word, 2*len(s)) // each tells once or twice, and never waits
	for i, d := range s {
		p := d.ask(q, params, func(a Answer) { words <- word{i, a} })
		defer d.overtake(p)
	}
	said := make([]Answer, len(s))
	heard := make([]bool, len(s))
	for open := len(s); open > 0 || len(words) > 0; {
		select {
		case <-ctx.Done():
			return Decision{}, ctx.Err()
		case w := <-words:
			if ctx.Err() != nil {
				return Decision{}, ctx.Err()
			}
			if w.Say == Deny {
				return Decision{Deny, s[w.from], w.Message}, nil
			}
			said[w.from] = w.Answer
			if !heard[w.from] {
				heard[w.from] = true
				open--
			}
		}
	}
	for i, a := range said {
		if a.Say == Allow {
			return Decision{Allow, s[i], a.Message}, nil
		}
	}
	return Decision{}, nil
}
