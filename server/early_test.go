package server_test

import (
	"context"
	"slices"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// TestCardBeingDecided: a card that is being decided is sent before its call and
// its end, each once, and its user can answer it before and after the call.
func TestCardBeingDecided(t *testing.T) {
	const ask, call, end = "asked p", "called p", "settled p"
	for _, tt := range []struct {
		name   string
		click  string // when the user does: at once, once called, or never
		call   bool
		answer string
		want   []string
	}{
		{"the user is faster", "at once", false, "once", []string{ask, end}},
		{"the user is called", "once called", true, "once", []string{ask, call, end}},
		{"a decider settles it", "never", false, "", []string{ask, end}},
		{"an answer that was not offered", "at once", false, "zzz", []string{ask, end}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := plugin(t)
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				card := turn.Card("npm test")
				card.ID, card.Deciding = "p", true
				shown := turn.Display.(bridge.Early).Show(ctx, card)
				asked, withdraw := context.WithCancel(ctx)
				if tt.call {
					called := *card
					called.Deciding, called.Reason = false, "it is tainted"
					shown.Call(ctx, &called)
				}
				if tt.click == "never" {
					withdraw()
				}
				a, err := shown.Answer(asked)
				if (err == nil) != (tt.click != "never") {
					t.Errorf("got %v", err)
				}
				turn.Display.Settled(card, permit.Outcome{})
				withdraw()
				return bridge.TurnResult{StopReason: bridge.StopReason(a.Option)}, nil
			}
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Permission = func(p wire.PermissionParams) (string, error) {
					if !p.Deciding || p.Reason != "" {
						t.Errorf("the card is not marked: %+v", p)
					}
					return tt.answer, r.ed.Until(r.ctx, func(s *servertest.Seen) bool {
						switch tt.click {
						case "once called":
							return len(s.Called) == 1 && s.Called[0] == wire.CallParams{ID: "p", Session: "s1", Reason: "it is tainted"}
						case "never":
							return s.Cancels == 1
						default:
							return true
						}
					})
				}
			})
			r.start()
			got, err := r.prompt(r.session(), "x")
			if err != nil || got.Reason != tt.answer {
				t.Errorf("the answer: got %q, %v; want %q", got.Reason, err, tt.answer)
			}
			r.ed.Look(func(s *servertest.Seen) {
				if !slices.Equal(s.Cards, tt.want) {
					t.Errorf("got %q, want %q", s.Cards, tt.want)
				}
			})
		})
	}
}

// TestCardBeingDecidedIsAnAbility: who does not name the feature, or shows no
// cards, is asked once a person is needed, as before.
func TestCardBeingDecidedIsAnAbility(t *testing.T) {
	for name, features := range map[string][]wire.Feature{
		"plain": nil, "permission alone": {wire.FeaturePermission}, "deciding alone": {wire.FeatureDeciding},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.ed.Plugin = &wire.Plugin{Client: "fake", Features: features}
			r.start()
			r.sync()
			if shown := r.ss.Display.(bridge.Early).Show(r.ctx, &permit.Card{Deciding: true}); shown != nil {
				t.Error("a card is shown while it is being decided")
			}
		})
	}
}
