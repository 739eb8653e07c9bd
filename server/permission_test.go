package server_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// G1: two permissions at once; answers belong to their request.
func TestG1_TwoPermissions(t *testing.T) {
	r := plugin(t)
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		answers := make([]chan permit.Answer, 2)
		for i, title := range []string{"seven", "eight"} {
			answers[i] = make(chan permit.Answer, 1)
			card := turn.Card(title)
			card.ID = title
			go func() {
				a, _ := turn.Display.Ask(ctx, card)
				answers[i] <- a
			}()
		}
		seven, eight := <-answers[0], <-answers[1]
		return bridge.TurnResult{StopReason: bridge.StopReason(seven.Option + " " + eight.Option)}, nil
	}
	both, eight := make(chan struct{}, 2), make(chan struct{})
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Permission = func(p wire.PermissionParams) (string, error) {
			both <- struct{}{}
			if p.ID == "eight" {
				for len(both) < 2 {
					if err := r.ctx.Err(); err != nil {
						return "", err
					}
				}
				defer close(eight)
				return "no", nil
			}
			<-eight
			return "once", nil
		}
	})
	r.start()
	got, err := r.prompt(r.session(), "x")
	if err != nil || got.Reason != "once no" {
		t.Errorf("answers %q, %v; want once for seven, no for eight", got.Reason, err)
	}
}

// G2: the turn is cancelled while the card is open; the late click does
// nothing.
func TestG2_CancelWhileAsking(t *testing.T) {
	for _, mode := range []string{"plugin", "plain"} {
		t.Run(mode, func(t *testing.T) {
			r := plain(t)
			if mode == "plugin" {
				r.ed.Plugin = servertest.Everything()
			}
			result := make(chan error, 1)
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				card := turn.Card("rm -rf x")
				a, err := turn.Display.Ask(ctx, card)
				if a.Option != "" {
					err = fmt.Errorf("answer %q", a.Option)
				}
				turn.Display.Settled(card, permit.Outcome{By: permit.ByCancel})
				result <- err
				return bridge.TurnResult{StopReason: "cancelled"}, nil
			}
			asked, click, clicked := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Permission = func(wire.PermissionParams) (string, error) {
					asked <- struct{}{}
					<-click
					defer close(clicked)
					return "once", nil
				}
				h.Choose = func(string, []string) (int, error) {
					asked <- struct{}{}
					<-click
					defer close(clicked)
					return 0, nil
				}
			})
			r.start()
			s := r.session()
			done := make(chan error, 1)
			r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func(_ []byte, err error) { done <- err })
			<-asked
			if err := r.ed.Notify("sallyport/session/cancel", wire.SessionParams{Session: s}); err != nil {
				t.Fatal(err)
			}
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("Ask gave %v, want the cancel", err)
			}
			r.until("the card is withdrawn", func(s *servertest.Seen) bool {
				return s.Cancels > 0 && (mode == "plain" || len(s.Settled) == 1)
			})
			close(click) // too late
			<-clicked
			if err := <-done; err != nil {
				t.Error(err)
			}
			r.sync()
		})
	}
}

// G4: what was not offered, nothing, and errors are never an allowance.
func TestG4_OddAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		option string
		err    error
	}{
		{"unknown id", "zzz", nil},
		{"empty", "", nil},
		{"error", "", rpc.Errorf(-32603, "broken")},
		{"not known", "", rpc.Errorf(-32601, "unknown")},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plugin(t)
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				a, err := turn.Ask(ctx, "x")
				if a.Option == "once" || a.Option == "no" {
					t.Errorf("an answer %q", a.Option)
				}
				if (err != nil) != (test.err != nil) {
					t.Errorf("error %v, want %v", err, test.err)
				}
				return bridge.TurnResult{}, nil
			}
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Permission = func(wire.PermissionParams) (string, error) { return test.option, test.err }
			})
			r.start()
			if _, err := r.prompt(r.session(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("plain: a title of nothing", func(t *testing.T) {
		r := plain(t)
		r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
			if a, err := turn.Ask(ctx, "x"); a.Option != "" || err != nil {
				t.Errorf("Ask gave %+v, %v; want no answer", a, err)
			}
			return bridge.TurnResult{}, nil
		}
		r.start() // chooses nothing
		if _, err := r.prompt(r.session(), "x"); err != nil {
			t.Error(err)
		}
	})
}

// G5, G8: a plain editor sees the whole title, made visible, and every option.
func TestG8_PlainQuestion(t *testing.T) {
	long := strings.Repeat("y", 5000)
	r := plain(t)
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		card := turn.Card("git status\nrm -rf ~ \x1b[2J" + long)
		card.Options = []permit.Option{
			{ID: "1", Name: "Allow", Kind: "allow_once"}, {ID: "2", Name: "Allow", Kind: "allow_once"},
			{ID: "3", Name: "For ever", Kind: "allow_persistent"}, {ID: "r", Name: "Re\nject", Kind: "reject_once"},
		}
		card.Diffs = []permit.Diff{{Path: "/p/a.go", New: "x"}}
		card.Paths = []string{"/p/a.go", "/p/b.go"}
		a, err := turn.Display.Ask(ctx, card)
		return bridge.TurnResult{StopReason: bridge.StopReason(a.Option)}, err
	}
	var message string
	var titles []string
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Choose = func(m string, list []string) (int, error) {
			message, titles = m, list
			return 1, nil
		}
	})
	r.start()
	got, err := r.prompt(r.session(), "x")
	if err != nil || got.Reason != "2" {
		t.Errorf("picked %q, %v; want the second of the two that are named alike", got.Reason, err)
	}
	if want := []string{"Allow", "Allow (2)", "For ever", "Re␊ject"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
	for _, want := range []string{"git status␊rm -rf ~ ␛[2J" + long, "changes /p/a.go", "\n/p/b.go"} {
		if !strings.Contains(message, want) {
			t.Errorf("the question does not show %q", want[:min(len(want), 60)])
		}
	}
	if strings.ContainsAny(message, "\x1b") || strings.Count(message, "/p/a.go") != 1 {
		t.Errorf("the question is %.100q", message)
	}
}

// An editor that knows no showMessageRequest answers by command, and by code
// action.
func TestAnswerByCommand(t *testing.T) {
	for _, way := range []string{"command", "typed", "code action"} {
		t.Run(way, func(t *testing.T) {
			r := plain(t)
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				a, err := turn.Ask(ctx, "rm x")
				return bridge.TurnResult{StopReason: bridge.StopReason(a.Option)}, err
			}
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Choose = func(string, []string) (int, error) { return 0, rpc.Errorf(-32601, "unknown") }
			})
			r.start()
			s := r.session()
			var got turnResult
			done := make(chan error, 1)
			r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func(raw []byte, err error) {
				if err == nil {
					err = rpc.Unmarshal(raw, &got)
				}
				done <- err
			})
			r.until("the user is told how to answer", func(s *servertest.Seen) bool {
				return slices.ContainsFunc(s.Messages, func(m string) bool { return strings.Contains(m, "sallyport.answer") })
			})
			if err := r.ed.Command(r.ctx, "sallyport.answer", map[string]any{"option": 3}); codeOf(err) != wire.CodeFailed {
				t.Errorf("an option that does not exist: %v", err)
			}
			r.answer(way)
			if err := <-done; err != nil || got.Reason != "no" {
				t.Errorf("picked %q, %v; want the second option", got.Reason, err)
			}
			if err := r.ed.Command(r.ctx, "sallyport.answer", 1); codeOf(err) != wire.CodeFailed {
				t.Errorf("answering when nothing waits: %v", err)
			}
		})
	}
}

// answer answers the waiting card with its second option.
func (r *rig) answer(way string) {
	r.Helper()
	var err error
	switch way {
	case "command":
		err = r.ed.Command(r.ctx, "sallyport.answer", map[string]any{"option": 2})
	case "typed":
		err = r.ed.Command(r.ctx, "sallyport.answer", "2")
	default:
		var list []struct {
			Title   string
			Command struct {
				Command   string           `json:"command"`
				Arguments []jsontext.Value `json:"arguments"`
			} `json:"command"`
		}
		p := map[string]any{"textDocument": map[string]any{"uri": "file:///x"}, "range": wire.Range{}, "context": map[string]any{"diagnostics": []any{}}}
		if err := r.ed.Call(r.ctx, "textDocument/codeAction", p, &list); err != nil {
			r.Fatal(err)
		}
		if len(list) != 2 {
			r.Fatalf("code actions %+v, want the two answers", list)
		}
		err = r.ed.Command(r.ctx, list[1].Command.Command, list[1].Command.Arguments[0])
	}
	if err != nil {
		r.Fatal(err)
	}
}

func TestSettledCarriesTheOutcome(t *testing.T) {
	r := plugin(t)
	r.ss.Turn = func(_ context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		turn.Display.Settled(turn.Card("rm x"), permit.Outcome{By: permit.ByFence, Name: "region", Why: "outside"})
		return bridge.TurnResult{}, nil
	}
	r.start()
	if _, err := r.prompt(r.session(), "x"); err != nil {
		t.Fatal(err)
	}
	r.ed.Look(func(s *servertest.Seen) {
		want := wire.Outcome{By: permit.ByFence, Name: "region", Why: "outside"}
		if len(s.Settled) != 1 || !reflect.DeepEqual(s.Settled[0].Outcome, want) || s.Settled[0].Title != "rm x" {
			t.Errorf("settled %+v, want %+v", s.Settled, want)
		}
	})
}
