package permit_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/bridge/permit"
)

const ms = time.Millisecond

// screen is a display that shows cards while they are being decided. Its person
// answers after a time, when it is not zero.
type screen struct {
	at     time.Duration
	option string
	err    error
	deaf   bool // it does not see that a card is withdrawn for an hour

	mu  sync.Mutex
	did []string // "shown", "called: reason", "asked: reason", "withdrawn"
}

func (s *screen) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, what)
}

func (s *screen) done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.did, ", ")
}

func (s *screen) show(_ context.Context, c *permit.Card) permit.Shown {
	if !c.Deciding {
		s.note("not marked")
	}
	s.note("shown")
	return s
}

func (s *screen) ask(ctx context.Context, c *permit.Card) (permit.Answer, error) {
	s.note(strings.TrimSuffix("asked: "+c.Reason, ": "))
	return s.Answer(ctx)
}

func (s *screen) Call(_ context.Context, c *permit.Card) {
	if c.Deciding {
		s.note("still marked")
	}
	s.note(strings.TrimSuffix("called: "+c.Reason, ": "))
}

func (s *screen) Answer(ctx context.Context) (permit.Answer, error) {
	var click <-chan time.Time
	if s.at > 0 {
		click = time.After(s.at)
	}
	end := ctx.Done()
	if s.deaf {
		end = nil
		click = time.After(time.Hour)
	}
	select {
	case <-click:
		return permit.Answer{Option: s.option}, s.err
	case <-end:
		s.note("withdrawn")
		return permit.Answer{}, ctx.Err()
	}
}

// thinks is a hearing whose deciders say one thing after a time.
func thinks(after time.Duration, v permit.Verdict) func(*permit.Card) permit.Judge {
	return func(*permit.Card) permit.Judge {
		return func(ctx context.Context, _ *permit.Card) permit.Verdict {
			select {
			case <-time.After(after):
				return v
			case <-ctx.Done():
				return permit.Verdict{}
			}
		}
	}
}

// TestEarly is the race of a person with the deciders: whoever settles it first
// does, a person is called when no decider did, and only then.
func TestEarly(t *testing.T) {
	allow := permit.Verdict{Say: permit.Allow, By: permit.ByDecider, ID: "dev.team", Name: "Team rules"}
	deny := permit.Verdict{Say: permit.Refuse, By: permit.ByDecider, ID: "dev.team", Name: "Team rules", Why: "no"}
	rule := func(say permit.Say) []permit.Judge {
		return []permit.Judge{func(context.Context, *permit.Card) permit.Verdict {
			return permit.Verdict{Say: say, By: permit.ByDecider, Name: "rule", Why: "a rule says so"}
		}}
	}
	tainted := func(context.Context, *permit.Card) permit.Verdict {
		return permit.Verdict{Say: permit.AskUser, By: permit.ByTaint, Why: "tainted"}
	}
	type change = func(*permit.Engine, *screen, *permit.Card)
	for _, tt := range []struct {
		name   string
		says   permit.Verdict // of the deciders, after 300 ms
		click  time.Duration
		option string
		change change
		want   string // option, by, name
		delay  time.Duration
		did    string
	}{
		{"the user first, allowing", allow, 100 * ms, "a", nil, "a user ", 100 * ms, "shown"},
		{"the user first, refusing", allow, 100 * ms, "r", nil, "r user ", 100 * ms, "shown"},
		{"the user first, and a denial too late", deny, 100 * ms, "aa", nil, "a user ", 100 * ms, "shown"},
		{"the user first, past the gate", allow, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Gate = tainted }, "a user ", 100 * ms, "shown"},
		{"a denial first", deny, 400 * ms, "a", nil, "r decider Team rules", 300 * ms, "shown, withdrawn"},
		{"an allowance first", allow, 400 * ms, "r", nil, "a decider Team rules", 300 * ms, "shown, withdrawn"},
		{"left to the user", permit.Verdict{}, 400 * ms, "a", nil, "a user ", 400 * ms, "shown, called"},
		{"the gate wants the user", allow, 400 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Gate = tainted }, "a user ", 400 * ms, "shown, called: tainted"},
		{"a rule wants the user", allow, 400 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Judges = rule(permit.AskUser) }, "a user ", 400 * ms, "shown, called: a rule says so"},
		{"a rule allows", permit.Verdict{}, 400 * ms, "r", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Judges = rule(permit.Allow) }, "a decider rule", 300 * ms, "shown, withdrawn"},
		{"the mode allows", permit.Verdict{}, 400 * ms, "r", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Mode = mode(permit.Bypass) }, "a mode bypassPermissions", 300 * ms, "shown, withdrawn"},
		{"closed without an answer, then an allowance", allow, 100 * ms, "", nil, "a decider Team rules", 300 * ms, "shown"},
		{"closed without an answer, then nothing", permit.Verdict{}, 100 * ms, "", nil, "r user ", 300 * ms, "shown"},
		{"an option that was not offered, then a denial", deny, 100 * ms, "zzz", nil, "r decider Team rules", 300 * ms, "shown"},
		{"an error, then an allowance", allow, 100 * ms, "", func(_ *permit.Engine, s *screen, _ *permit.Card) { s.err = errors.New("gone") }, "a decider Team rules", 300 * ms, "shown"},
		{"an error, then nothing", permit.Verdict{}, 100 * ms, "a", func(_ *permit.Engine, s *screen, _ *permit.Card) { s.err = errors.New("gone") }, "r policy ask", 300 * ms, "shown"},
		{"nobody answers in time, once called", permit.Verdict{}, 0, "", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Limit = time.Second }, "r policy time limit", 1300 * ms, "shown, called, withdrawn"},
		{"a rule refuses", allow, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Judges = rule(permit.Refuse) }, "r decider rule", 0, ""},
		{"a fence refuses", allow, 100 * ms, "a", func(e *permit.Engine, _ *screen, c *permit.Card) {
			c.Request.Kind, c.Paths = permit.Edit, []string{"/etc/x"}
		}, "r fence fence", 0, ""},
		{"plan mode refuses", permit.Verdict{}, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Mode = mode(permit.PlanMode) }, "r mode plan", 300 * ms, ""},
		{"a plan", allow, 100 * ms, "a", func(_ *permit.Engine, _ *screen, c *permit.Card) { c.Request.Kind = permit.Plan }, "a user ", 100 * ms, "asked"},
		{"no options", allow, 100 * ms, "a", func(_ *permit.Engine, _ *screen, c *permit.Card) { c.Options = nil }, " decider Team rules", 300 * ms, ""},
		{"an unattended run", permit.Verdict{}, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Policy = permit.Deny }, "r policy deny", 300 * ms, ""},
		{"nobody decides", permit.Verdict{}, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) {
			e.Deciders = func(*permit.Card) permit.Judge { return nil }
		}, "a user ", 100 * ms, "asked"},
		{"a display that cannot", permit.Verdict{}, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) { e.Show = nil }, "a user ", 400 * ms, "asked"},
		{"a display that cannot now", permit.Verdict{}, 100 * ms, "a", func(e *permit.Engine, _ *screen, _ *permit.Card) {
			e.Show = func(context.Context, *permit.Card) permit.Shown { return nil }
		}, "a user ", 400 * ms, "asked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &screen{at: tt.click, option: tt.option}
				e := &permit.Engine{Log: quiet, Ask: s.ask, Place: project(), Hearing: permit.Hearing{Deciders: thinks(300*ms, tt.says), Show: s.show}}
				c := card(permit.Command)
				if tt.change != nil {
					tt.change(e, s, c)
				}
				o := e.Decide(t.Context(), c)
				e.Wait()
				if got := o.Option + " " + string(o.By) + " " + o.Name; got != tt.want || o.Delay != tt.delay {
					t.Errorf("got %q after %v, want %q after %v", got, o.Delay, tt.want, tt.delay)
				}
				if got := s.done(); got != tt.did {
					t.Errorf("the screen: got %q, want %q", got, tt.did)
				}
				if wantID := o.Name == "Team rules"; (o.ID == "dev.team") != wantID {
					t.Errorf("got the id %q of %q", o.ID, o.Name)
				}
			})
		})
	}
}

// TestCancelWhileDeciding: a cancel settles at once, also with deciders and a
// display that do not see it.
func TestCancelWhileDeciding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{option: "a", deaf: true}
		e := &permit.Engine{Log: quiet, Ask: s.ask, Hearing: permit.Hearing{Show: s.show, Deciders: func(*permit.Card) permit.Judge {
			return func(context.Context, *permit.Card) permit.Verdict {
				time.Sleep(time.Minute)
				return permit.Verdict{Say: permit.Allow, By: permit.ByDecider}
			}
		}}}
		ctx, cancel := context.WithTimeout(t.Context(), 200*ms)
		defer cancel()
		if o := e.Decide(ctx, card(permit.Command)); o.By != permit.ByCancel || o.Option != "" || o.Delay != 200*ms {
			t.Errorf("got %+v, want the outcome cancelled after 200 ms", o)
		}
		e.Wait()
	})
}
