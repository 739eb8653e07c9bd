package decidertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Move is what one program does with a question, for tests of races.
type Move struct {
	At   time.Duration // when
	What string        // one of Words
}

// Words are what a move can be. Only the first two ever settle anything.
var Words = []string{"allow", "deny", "ask", "crash", "silent", "wrong", "error", "huge", "twice", "flood"}

// Program is a program that makes the move at each question.
func (m Move) Program() *Program {
	return &Program{Decide: func(l *Life, id int64, _ jsontext.Value) {
		if m.What == "silent" {
			return
		}
		time.Sleep(m.At)
		switch m.What {
		case "crash":
			l.Crash()
		case "wrong":
			l.Say(Decision(id, "maybe"))
		case "error":
			l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}`+"\n", id))
		case "huge":
			l.Say(Result(id, fmt.Sprintf(`{"decision":"allow","pad":%q}`, strings.Repeat("x", 65<<10))))
		case "twice": // it cannot mean it
			l.Say(Decision(id, "allow") + Decision(id, "allow"))
		case "flood":
			l.Say(strings.Repeat("{}\n", 300))
		default:
			l.Say(Decision(id, m.What))
		}
	}}
}

// Random are one to four moves and one more moment, at times that are all
// different and below 700 ms, none of them a whole millisecond. Half of the moves
// settle something.
func Random(rng *rand.Rand) (moves []Move, other time.Duration) {
	times := rng.Perm(700)
	moment := func(i int) time.Duration { return time.Duration(times[i])*time.Millisecond + time.Microsecond }
	for i := range 1 + rng.IntN(4) {
		what := Words[rng.IntN(len(Words))]
		if rng.IntN(3) == 0 {
			what = "allow"
		}
		moves = append(moves, Move{moment(i), what})
	}
	return moves, moment(len(moves))
}

// Outcome is what the moves of several programs come to.
type Outcome struct {
	What string        // "allow", "deny" or "ask"
	By   int           // which of the moves; -1 for "ask"
	At   time.Duration // when it is settled
}

// Settles is the table of races, written down slowly: a deny settles at its time,
// an allow when all are through, and each is through at limit. Of those that allow
// the first in the list is named.
func Settles(moves []Move, limit time.Duration) Outcome {
	o := Outcome{"ask", -1, 0}
	var end time.Duration
	for i, m := range moves {
		inTime := m.What != "silent" && m.At <= limit
		if inTime {
			end = max(end, m.At)
		} else {
			end = max(end, limit)
		}
		switch {
		case !inTime:
		case m.What == "deny" && (o.What != "deny" || m.At < o.At):
			o = Outcome{"deny", i, m.At}
		case m.What == "allow" && o.What == "ask":
			o = Outcome{"allow", i, 0}
		}
	}
	if o.What != "deny" {
		o.At = end
	}
	return o
}
