package decider

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/plugins/decider/decidertest"
)

// outcome is what a schedule has to come to.
type outcome struct {
	say       Say
	by        int // of the moves; -1: nobody
	at        time.Duration
	cancelled bool
}

// expected is the table of races: the end of the context first, then what the
// moves come to.
func expected(moves []decidertest.Move, cancel time.Duration) outcome {
	o := decidertest.Settles(moves, AnswerLimit)
	if cancel < o.At {
		return outcome{by: -1, at: cancel, cancelled: true}
	}
	return outcome{say: map[string]Say{"ask": Ask, "allow": Allow, "deny": Deny}[o.What], by: o.By, at: o.At}
}

func play(t *testing.T, moves []decidertest.Move, cancel time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var set Set
		for i, m := range moves {
			r := open(t, fmt.Sprint("d", i), m.Program())
			defer r.Close()
			set = append(set, r.Decider)
		}
		settle()
		ctx, stop := context.WithTimeout(context.Background(), cancel)
		defer stop()
		began := time.Now()
		got, err := set.Decide(ctx, rm)
		o := outcome{say: got.Say, by: -1, at: time.Since(began), cancelled: err != nil}
		for i, d := range set {
			if got.By == d {
				o.by = i
			}
		}
		if want := expected(moves, cancel); o != want {
			t.Errorf("%v, cancelled at %v: got %+v, want %+v", moves, cancel, o, want)
		}
		time.Sleep(2 * time.Second) // what is late comes in
		for i, d := range set {
			d.mu.Lock()
			if left := len(d.asked.open); left != 0 {
				t.Errorf("%v: %d questions are left open at %d", moves, left, i)
			}
			d.mu.Unlock()
		}
	})
}

func TestRandomSchedules(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		moves, cancel := decidertest.Random(rng)
		if rng.IntN(3) > 0 {
			cancel = time.Hour
		}
		if play(t, moves, cancel); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestRaces(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name   string
		moves  []decidertest.Move
		cancel time.Duration
		want   outcome
	}{
		{"the user first", []decidertest.Move{{At: 100 * ms, What: "deny"}}, 50 * ms, outcome{by: -1, at: 50 * ms, cancelled: true}},
		{"deny late", []decidertest.Move{{At: 600 * ms, What: "deny"}, {At: 10 * ms, What: "allow"}}, time.Hour, outcome{say: Allow, by: 1, at: AnswerLimit}},
		{"allow then deny", []decidertest.Move{{At: 10 * ms, What: "allow"}, {At: 400 * ms, What: "deny"}}, time.Hour, outcome{say: Deny, by: 1, at: 400 * ms}},
		{"deny then allow", []decidertest.Move{{At: 10 * ms, What: "deny"}, {At: 400 * ms, What: "allow"}}, time.Hour, outcome{say: Deny, by: 0, at: 10 * ms}},
		{"cancel in the middle", []decidertest.Move{{At: 10 * ms, What: "allow"}, {At: 400 * ms, What: "allow"}}, 200 * ms, outcome{by: -1, at: 200 * ms, cancelled: true}},
		{"crash in the middle", []decidertest.Move{{At: 10 * ms, What: "allow"}, {At: 200 * ms, What: "crash"}}, time.Hour, outcome{say: Allow, by: 0, at: 200 * ms}},
		{"the first that is named allows", []decidertest.Move{{At: 20 * ms, What: "allow"}, {At: 10 * ms, What: "allow"}}, time.Hour, outcome{say: Allow, by: 0, at: 20 * ms}},
		{"nobody", []decidertest.Move{{At: 20 * ms, What: "ask"}, {At: 10 * ms, What: "wrong"}}, time.Hour, outcome{by: -1, at: 20 * ms}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := expected(test.moves, test.cancel); got != test.want {
				t.Errorf("the table: got %+v, want %+v", got, test.want)
			}
			play(t, test.moves, test.cancel)
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	got, err := Set(nil).Decide(context.Background(), rm)
	if got != (Decision{}) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
