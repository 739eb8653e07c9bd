package bridge_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
	"sallyport/plugins/decider/decidertest"
)

// race is a permission that deciders and a person run for, on a screen that shows
// it while it is being decided.
type race struct {
	moves   []decidertest.Move
	click   time.Duration // when the person picks an option
	option  string        // which: "a" allows, "r" rejects
	cancel  time.Duration // when the turn is cancelled
	mode    permit.Mode
	tainted bool
}

// endless is later than anything in a race.
const endless = time.Hour

// finish is how a race ends.
type finish struct {
	by     permit.Party
	id     string // of the decider
	option string
	at     time.Duration
	screen string // "shown", "called", "withdrawn" in their order
}

// expected is how it has to end: by who comes first of the person, the cancel and
// the deciders. What these leave, or may not allow, is the mode's or the person's.
func (r race) expected() finish {
	decided := decidertest.Settles(r.moves, decider.AnswerLimit)
	person := finish{by: permit.ByUser, option: r.option, at: r.click, screen: "shown"}
	cancelled := finish{by: permit.ByCancel, at: r.cancel, screen: "shown withdrawn"}
	switch {
	case r.cancel < min(r.click, decided.At):
		return cancelled
	case r.click < decided.At:
		return person
	}
	by := finish{at: decided.At, screen: "shown withdrawn"}
	switch {
	case decided.What == "deny":
		by.by, by.id, by.option = permit.ByDecider, fmt.Sprint("dev.test.d", decided.By), "r"
		return by
	case r.tainted: // nothing but a person's word counts
	case decided.What == "allow":
		by.by, by.id, by.option = permit.ByDecider, fmt.Sprint("dev.test.d", decided.By), "a"
		return by
	case r.mode == permit.Bypass:
		by.by, by.option = permit.ByMode, "a"
		return by
	}
	person.screen, cancelled.screen = "shown called", "shown called withdrawn"
	if r.cancel < r.click {
		return cancelled
	}
	return person
}

// raceScreen is the screen of a race.
type raceScreen struct {
	race
	began time.Time
	mu    sync.Mutex
	did   []string
}

func (s *raceScreen) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, what)
}

func (s *raceScreen) show(context.Context, *permit.Card) permit.Shown {
	s.note("shown")
	return s
}

func (s *raceScreen) Call(context.Context, *permit.Card) { s.note("called") }

func (s *raceScreen) Answer(ctx context.Context) (permit.Answer, error) {
	select {
	case <-time.After(s.click - time.Since(s.began)):
		return permit.Answer{Option: s.option}, nil
	case <-ctx.Done():
		s.note("withdrawn")
		return permit.Answer{}, ctx.Err()
	}
}

// run runs the race, in its own time.
func (r race) run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set decider.Set
		for i, m := range r.moves {
			p := m.Program()
			d := decider.Open(decider.Program{ID: fmt.Sprint("dev.test.d", i), Start: func(context.Context) (decider.Process, error) { return p.Start() }})
			defer d.Close()
			set = append(set, d)
		}
		synctest.Wait() // all are ready
		s := &raceScreen{race: r, began: time.Now()}
		e := &permit.Engine{
			Log: slog.New(slog.DiscardHandler), Mode: func() permit.Mode { return r.mode },
			Ask: func(context.Context, *permit.Card) (permit.Answer, error) {
				t.Error("a second card")
				return permit.Answer{}, nil
			},
			Hearing: permit.Hearing{Show: s.show, Deciders: func(*permit.Card) permit.Judge { return bridge.JudgeOf(set) }},
		}
		if r.tainted {
			e.Gate = func(context.Context, *permit.Card) permit.Verdict {
				return permit.Verdict{Say: permit.AskUser, By: permit.ByTaint, Why: "untrusted content came in"}
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), r.cancel)
		defer stop()
		o := e.Decide(ctx, &permit.Card{
			ID:      "p1",
			Request: permit.Request{Kind: permit.Command, Tool: "Bash", Input: jsontext.Value(`{"command":"rm -rf build"}`)},
			Options: []permit.Option{{ID: "a", Kind: "allow_once"}, {ID: "r", Kind: "reject_once"}},
		})
		at := time.Since(s.began)
		e.Wait()
		got := finish{o.By, o.ID, o.Option, at, strings.Join(s.did, " ")}
		if want := r.expected(); got != want || o.Delay != at || o.Allowed != (o.Option == "a") {
			t.Errorf("%+v: got %+v (allowed %t), want %+v", r, got, o.Allowed, want)
		}
	})
}

// TestRaces are the races by name.
func TestRaces(t *testing.T) {
	const ms = time.Millisecond
	moves := func(m ...decidertest.Move) []decidertest.Move { return m }
	for _, tt := range []struct {
		name string
		race race
		want finish
	}{
		{"the user first", race{moves: moves(decidertest.Move{At: 300 * ms, What: "deny"}), click: 100 * ms, cancel: endless},
			finish{by: permit.ByUser, at: 100 * ms, screen: "shown"}},
		{"the user first, tainted", race{moves: moves(decidertest.Move{At: 300 * ms, What: "allow"}), click: 100 * ms, cancel: endless, tainted: true},
			finish{by: permit.ByUser, at: 100 * ms, screen: "shown"}},
		{"deny late", race{moves: moves(decidertest.Move{At: 600 * ms, What: "deny"}, decidertest.Move{At: 10 * ms, What: "allow"}), click: 700 * ms, cancel: endless},
			finish{by: permit.ByDecider, id: "dev.test.d1", at: 500 * ms, screen: "shown withdrawn"}},
		{"deny late, and nobody else", race{moves: moves(decidertest.Move{At: 600 * ms, What: "deny"}), click: 700 * ms, cancel: endless},
			finish{by: permit.ByUser, at: 700 * ms, screen: "shown called"}},
		{"allow then deny", race{moves: moves(decidertest.Move{At: 10 * ms, What: "allow"}, decidertest.Move{At: 400 * ms, What: "deny"}), click: 450 * ms, cancel: endless},
			finish{by: permit.ByDecider, id: "dev.test.d1", at: 400 * ms, screen: "shown withdrawn"}},
		{"allow, the user, then deny", race{moves: moves(decidertest.Move{At: 10 * ms, What: "allow"}, decidertest.Move{At: 400 * ms, What: "deny"}), click: 300 * ms, cancel: endless},
			finish{by: permit.ByUser, at: 300 * ms, screen: "shown"}},
		{"cancel in the middle", race{moves: moves(decidertest.Move{At: 10 * ms, What: "allow"}, decidertest.Move{At: 400 * ms, What: "allow"}), click: endless, cancel: 200 * ms},
			finish{by: permit.ByCancel, at: 200 * ms, screen: "shown withdrawn"}},
		{"cancel once called", race{moves: moves(decidertest.Move{At: 10 * ms, What: "ask"}), click: endless, cancel: 200 * ms},
			finish{by: permit.ByCancel, at: 200 * ms, screen: "shown called withdrawn"}},
		{"crash in the middle", race{moves: moves(decidertest.Move{At: 10 * ms, What: "allow"}, decidertest.Move{At: 200 * ms, What: "crash"}), click: endless, cancel: endless},
			finish{by: permit.ByDecider, id: "dev.test.d0", at: 200 * ms, screen: "shown withdrawn"}},
		{"crash of the only one", race{moves: moves(decidertest.Move{At: 200 * ms, What: "crash"}), click: 900 * ms, cancel: endless},
			finish{by: permit.ByUser, at: 900 * ms, screen: "shown called"}},
		{"crash of the only one, bypassing", race{moves: moves(decidertest.Move{At: 200 * ms, What: "crash"}), click: 900 * ms, cancel: endless, mode: permit.Bypass},
			finish{by: permit.ByMode, at: 200 * ms, screen: "shown withdrawn"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.race.expected()
			if got.option = ""; got != tt.want {
				t.Errorf("the table: got %+v, want %+v", got, tt.want)
			}
			for _, tt.race.option = range []string{"a", "r"} {
				tt.race.run(t)
			}
		})
	}
}

// TestRandomRaces are 1,000 of them.
func TestRandomRaces(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	ends := map[permit.Party]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 21))
		moves, moment := decidertest.Random(rng)
		r := race{moves: moves, click: 10 * time.Second, option: []string{"a", "r"}[rng.IntN(2)], cancel: endless, mode: permit.Default, tainted: rng.IntN(4) == 0}
		switch rng.IntN(3) {
		case 0:
			r.click = moment
		case 1:
			r.cancel = moment
		}
		if rng.IntN(2) == 0 {
			r.mode = permit.Bypass
		}
		ends[r.expected().by]++
		if r.run(t); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, by := range []permit.Party{permit.ByUser, permit.ByDecider, permit.ByMode, permit.ByCancel} {
		if ends[by] < rounds/20 {
			t.Errorf("%d of %d races are won by %q: they show too little", ends[by], rounds, by)
		}
	}
	t.Logf("won: %v", ends)
}
