package decider

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// move is what one decider does with the question.
type move struct {
	at   time.Duration // when, all different
	what string        // allow, deny, ask, crash, silent, wrong, error, huge, twice, flood
}

func (m move) script() *script {
	return &script{decide: func(f *fake, id int64, _ Question) {
		if m.what == "silent" {
			return
		}
		time.Sleep(m.at)
		switch m.what {
		case "crash":
			f.crash()
		case "wrong":
			f.say(decision(id, "maybe"))
		case "error":
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}`+"\n", id))
		case "huge":
			f.say(result(id, fmt.Sprintf(`{"decision":"allow","pad":%q}`, make([]byte, MaxLine))))
		case "twice":
			f.say(decision(id, "allow") + decision(id, "allow"))
		case "flood":
			for range maxStrays + 1 {
				f.say("{}\n")
			}
		default:
			f.say(decision(id, m.what))
		}
	}}
}

// outcome is what a schedule has to come to.
type outcome struct {
	say       Say
	by        int // of the moves; -1: nobody
	at        time.Duration
	cancelled bool
}

// expected is the table of races, written down slowly: the end of the context
// first, a deny at its time, an allow when all are through.
func expected(moves []move, cancel time.Duration) outcome {
	end := time.Duration(0)
	o := outcome{by: -1}
	deny := time.Hour
	for i, m := range moves {
		through := m.at
		if m.what == "silent" || m.at > AnswerLimit {
			through = AnswerLimit
		}
		end = max(end, through)
		if m.at > AnswerLimit {
			continue
		}
		switch {
		case m.what == "deny" && m.at < deny:
			deny, o.by, o.say = m.at, i, Deny
		case m.what == "allow" && o.say == Ask:
			o.by, o.say = i, Allow
		}
	}
	if o.at = end; o.say == Deny {
		o.at = deny
	}
	if cancel < o.at {
		return outcome{by: -1, at: cancel, cancelled: true}
	}
	return o
}

func play(t *testing.T, moves []move, cancel time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var set Set
		for i, m := range moves {
			r := open(t, fmt.Sprint("d", i), m.script())
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
	words := []string{"allow", "allow", "allow", "deny", "ask", "crash", "silent", "wrong", "error", "huge", "twice", "flood"}
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		times := rng.Perm(700) // all different, and none of them a limit
		var moves []move
		for i := range 1 + rng.IntN(4) {
			moves = append(moves, move{time.Duration(times[i])*time.Millisecond + time.Microsecond, words[rng.IntN(len(words))]})
		}
		cancel := time.Hour
		if rng.IntN(3) == 0 {
			cancel = time.Duration(times[9])*time.Millisecond + time.Microsecond
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
		moves  []move
		cancel time.Duration
		want   outcome
	}{
		{"the user first", []move{{100 * ms, "deny"}}, 50 * ms, outcome{by: -1, at: 50 * ms, cancelled: true}},
		{"deny late", []move{{600 * ms, "deny"}, {10 * ms, "allow"}}, time.Hour, outcome{say: Allow, by: 1, at: AnswerLimit}},
		{"allow then deny", []move{{10 * ms, "allow"}, {400 * ms, "deny"}}, time.Hour, outcome{say: Deny, by: 1, at: 400 * ms}},
		{"deny then allow", []move{{10 * ms, "deny"}, {400 * ms, "allow"}}, time.Hour, outcome{say: Deny, by: 0, at: 10 * ms}},
		{"cancel in the middle", []move{{10 * ms, "allow"}, {400 * ms, "allow"}}, 200 * ms, outcome{by: -1, at: 200 * ms, cancelled: true}},
		{"crash in the middle", []move{{10 * ms, "allow"}, {200 * ms, "crash"}}, time.Hour, outcome{say: Allow, by: 0, at: 200 * ms}},
		{"the first that is named allows", []move{{20 * ms, "allow"}, {10 * ms, "allow"}}, time.Hour, outcome{say: Allow, by: 0, at: 20 * ms}},
		{"nobody", []move{{20 * ms, "ask"}, {10 * ms, "wrong"}}, time.Hour, outcome{by: -1, at: 20 * ms}},
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
