package permit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/bridge/permit"
)

var usual = []permit.Option{
	{ID: "a", Name: "Allow", Kind: "allow_once"},
	{ID: "aa", Name: "Always", Kind: "allow_always"},
	{ID: "r", Name: "Reject", Kind: "reject_once"},
}

var errPrivate = errors.New("/q is a private project")

// project is a place with region /p and private project /q.
func project() permit.Place {
	under := func(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
	return permit.Place{
		Folder:   "/p",
		Home:     "/home/u",
		InRegion: func(path string) bool { return under(path, "/p") && !strings.Contains(path, "..") },
		CheckRead: func(path string) error {
			if under(path, "/q") {
				return errPrivate
			}
			return nil
		},
		CheckWrite: func(path string) error {
			if !under(path, "/p") || strings.Contains(path, "..") || strings.Contains(path, "/.git/") {
				return errors.New("fenced: " + path)
			}
			return nil
		},
	}
}

func card(kind permit.Kind, paths ...string) *permit.Card {
	return &permit.Card{
		ID:      "s/p1",
		Request: permit.Request{ID: "s/p1", Kind: kind, Tool: string(kind)},
		Options: usual,
		Paths:   paths,
	}
}

// pick answers every card with one option.
func pick(option string) func(context.Context, *permit.Card) (permit.Answer, error) {
	return func(context.Context, *permit.Card) (permit.Answer, error) { return permit.Answer{Option: option}, nil }
}

// unasked fails the test when a person is asked.
func unasked(t *testing.T) func(context.Context, *permit.Card) (permit.Answer, error) {
	return func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		t.Errorf("the user was asked about %s %q", c.Request.Kind, c.Paths)
		return permit.Answer{}, nil
	}
}

func mode(m permit.Mode) func() permit.Mode { return func() permit.Mode { return m } }

var quiet = slog.New(slog.DiscardHandler)

// TestG1_TwoAtOnce: cards 7 and 8 are open together; 8 is answered first with
// reject, then 7 with allow. Each gets its own answer.
func TestG1_TwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clicks := map[string]chan string{"7": make(chan string), "8": make(chan string)}
		e := &permit.Engine{Ask: func(_ context.Context, c *permit.Card) (permit.Answer, error) {
			return permit.Answer{Option: <-clicks[c.ID]}, nil
		}}
		got := map[string]permit.Outcome{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, id := range []string{"7", "8"} {
			wg.Go(func() {
				c := card(permit.Command)
				c.ID = id
				o := e.Decide(t.Context(), c)
				mu.Lock()
				defer mu.Unlock()
				got[id] = o
			})
		}
		synctest.Wait()
		clicks["8"] <- "r"
		synctest.Wait()
		if len(got) != 1 || got["8"].Option != "r" || got["8"].Allowed {
			t.Errorf("after the click on 8: got %+v, want only 8, rejected", got)
		}
		clicks["7"] <- "a"
		wg.Wait()
		if o := got["7"]; o.Option != "a" || !o.Allowed || o.By != permit.ByUser {
			t.Errorf("7: got %+v, want allowed by the user", o)
		}
	})
}

// TestG2_AnswerAfterCancel: the turn is cancelled while a card is open. The
// outcome is "cancelled" at once, and a click 300 ms later does nothing, also
// with a display that is slow to withdraw.
func TestG2_AnswerAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		e := &permit.Engine{
			Log: slog.New(slog.NewTextHandler(&logged, nil)),
			Ask: func(context.Context, *permit.Card) (permit.Answer, error) { // deaf to its context
				time.Sleep(time.Second)
				return permit.Answer{Option: "a"}, nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(700*time.Millisecond, cancel)
		o := e.Decide(ctx, card(permit.Command))
		if o.Allowed || o.Option != "" || o.By != permit.ByCancel {
			t.Errorf("got %+v, want the outcome cancelled", o)
		}
		if o.Delay != 700*time.Millisecond {
			t.Errorf("got a delay of %s, want 700ms: from the request to the cancel", o.Delay)
		}
		e.Wait()
		if !strings.Contains(logged.String(), "late answer") {
			t.Errorf("the late click was not logged: %q", logged.String())
		}
	})
}

// TestG2_CancelWinsOverAnAnswer: both are there at the same moment.
func TestG2_CancelWinsOverAnAnswer(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		e := &permit.Engine{Log: quiet, Ask: func(context.Context, *permit.Card) (permit.Answer, error) {
			cancel()
			return permit.Answer{Option: "a"}, nil
		}}
		if o := e.Decide(ctx, card(permit.Command)); o.Allowed || o.By != permit.ByCancel {
			t.Fatalf("got %+v, want the outcome cancelled", o)
		}
		e.Wait()
	}
}

// TestG2_CancelBefore: a request that comes after the cancel is not shown (I2).
func TestG2_CancelBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := &permit.Engine{Mode: mode(permit.Bypass), Ask: unasked(t)}
	if o := e.Decide(ctx, card(permit.Command)); o.Allowed || o.Option != "" || o.By != permit.ByCancel {
		t.Errorf("got %+v, want the outcome cancelled", o)
	}
}

// TestG3_DeniedByAJudge: a denial selects the reject option, for every kind but
// a plan and a question, which no judge even sees.
func TestG3_DeniedByAJudge(t *testing.T) {
	asked := false
	e := &permit.Engine{
		Hearing: permit.Hearing{Judges: []permit.Judge{func(_ context.Context, c *permit.Card) permit.Verdict {
			return permit.Verdict{Say: permit.Refuse, By: permit.ByDecider, Name: "Team rules", Why: "no rm -rf here"}
		}}},
		Mode: mode(permit.Bypass),
		Ask: func(context.Context, *permit.Card) (permit.Answer, error) {
			asked = true
			return permit.Answer{Option: "a"}, nil
		},
	}
	for _, kind := range []permit.Kind{permit.Command, permit.Edit, permit.Read, permit.Fetch, permit.MCP, permit.Tool} {
		o := e.Decide(t.Context(), card(kind))
		if o.Allowed || o.Option != "r" || o.By != permit.ByDecider || asked {
			t.Errorf("%s: got %+v (asked %v), want the reject option, by the decider", kind, o, asked)
		}
		if got, want := o.DenyNote(), "Refused by Team rules through Sallyport: no rm -rf here"; got != want {
			t.Errorf("note: got %q, want %q", got, want)
		}
	}
	for _, kind := range []permit.Kind{permit.Plan, permit.Question} {
		asked = false
		if o := e.Decide(t.Context(), card(kind)); !asked || !o.Allowed || o.By != permit.ByUser {
			t.Errorf("%s: got %+v (asked %v), want the user's answer", kind, o, asked)
		}
	}
}

// TestG3_NoOpinion: what nobody has an opinion on is asked, whatever its kind.
func TestG3_NoOpinion(t *testing.T) {
	for _, kind := range []permit.Kind{permit.Command, permit.Edit, permit.Read, permit.Fetch, permit.MCP, permit.Tool, permit.Plan, permit.Question, "x_future", ""} {
		asked := 0
		e := &permit.Engine{Ask: func(context.Context, *permit.Card) (permit.Answer, error) {
			asked++
			return permit.Answer{Option: "r"}, nil
		}}
		if o := e.Decide(t.Context(), card(kind)); asked != 1 || o.Option != "r" || o.By != permit.ByUser {
			t.Errorf("%q: asked %d times, got %+v", kind, asked, o)
		}
	}
}

// TestG4_NothingInventedIsSent: ids that were not offered, no id, no options and
// no editor are refusals, with the reject option where one is offered.
func TestG4_NothingInventedIsSent(t *testing.T) {
	noReject := []permit.Option{{ID: "a", Kind: "allow_once"}}
	gone := func(context.Context, *permit.Card) (permit.Answer, error) {
		return permit.Answer{}, errors.New("the editor is gone")
	}
	for name, tt := range map[string]struct {
		ask     func(context.Context, *permit.Card) (permit.Answer, error)
		options []permit.Option
		want    string
	}{
		"unknown id":                {pick("zzz"), usual, "r"},
		"empty id":                  {pick(""), usual, "r"},
		"id of another card":        {pick("proceed_once"), usual, "r"},
		"unknown id, no reject":     {pick("zzz"), noReject, ""},
		"no options":                {pick("a"), nil, ""},
		"editor gone":               {gone, usual, "r"},
		"nobody there":              {nil, usual, "r"},
		"empty id offered":          {pick(""), []permit.Option{{ID: "", Kind: "allow_once"}, {ID: "r", Kind: "reject_once"}}, "r"},
		"only reject_always":        {gone, []permit.Option{{ID: "a", Kind: "allow_once"}, {ID: "ra", Kind: "reject_always"}}, "ra"},
		"reject_once before always": {gone, []permit.Option{{ID: "ra", Kind: "reject_always"}, {ID: "r", Kind: "reject_once"}}, "r"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &permit.Engine{Ask: tt.ask, Log: quiet}
			c := card(permit.Command)
			c.Options = tt.options
			o := e.Decide(t.Context(), c)
			if o.Allowed || o.Option != tt.want || o.Why == "" {
				t.Errorf("got %+v, want a refusal by option %q with its reason", o, tt.want)
			}
		})
	}
}

// TestG5_SeveralWaysToAllowOnce: nobody but a person can tell two allow_once
// apart; the unknown kind is shown and never chosen.
func TestG5_SeveralWaysToAllowOnce(t *testing.T) {
	options := []permit.Option{{ID: "1", Name: "one", Kind: "allow_once"}, {ID: "2", Name: "two", Kind: "allow_once"}, {ID: "3", Name: "three", Kind: "allow_persistent"}, {ID: "r", Name: "no", Kind: "reject_once"}}
	var shown []string
	e := &permit.Engine{Mode: mode(permit.Bypass), Ask: func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		for _, o := range c.Options {
			shown = append(shown, o.Name)
		}
		return permit.Answer{Option: "3"}, nil
	}}
	c := card(permit.Command)
	c.Options = options
	o := e.Decide(t.Context(), c)
	if strings.Join(shown, " ") != "one two three no" {
		t.Errorf("shown: got %q, want all four labels in order", shown)
	}
	if !o.Allowed || o.Option != "3" || o.By != permit.ByUser {
		t.Errorf("got %+v, want the person's own choice", o)
	}
	e.Ask = nil
	if o := e.Decide(t.Context(), c); o.Allowed || o.Option != "r" {
		t.Errorf("nobody there: got %+v, want a refusal", o)
	}
}

// TestG9_TimeLimit: nobody answers within the limit of an unattended run.
func TestG9_TimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := false
		e := &permit.Engine{Limit: 30 * time.Second, Log: quiet, Ask: func(ctx context.Context, _ *permit.Card) (permit.Answer, error) {
			<-ctx.Done()
			withdrawn = true
			return permit.Answer{}, ctx.Err()
		}}
		o := e.Decide(t.Context(), card(permit.Command))
		if o.Allowed || o.Option != "r" || o.By != permit.ByPolicy || o.Why != "nobody answered within 30s" || o.Delay != 30*time.Second {
			t.Errorf("got %+v, want the reject option after 30s, by policy, with the reason", o)
		}
		if e.Wait(); !withdrawn {
			t.Error("the card was not withdrawn")
		}
		// A plan is not answered for the user, also not by the limit.
		if o := e.Decide(t.Context(), card(permit.Plan)); o.Option != "" || o.By != permit.ByPolicy {
			t.Errorf("plan: got %+v, want no option chosen", o)
		}
		e.Wait()
	})
}

// TestPolicies: what happens to a card that nobody has an opinion on.
func TestPolicies(t *testing.T) {
	for _, tt := range []struct {
		policy  permit.Policy
		kind    permit.Kind
		present bool
		option  string
		by      permit.Party
	}{
		{permit.Ask, permit.Command, true, "a", permit.ByUser},
		{permit.Ask, permit.Command, false, "r", permit.ByPolicy},
		{permit.Record, permit.Command, true, "a", permit.ByPolicy},
		{permit.Record, permit.Command, false, "a", permit.ByPolicy},
		{permit.Record, permit.Plan, true, "a", permit.ByUser},
		{permit.Record, permit.Plan, false, "", permit.ByPolicy},
		{permit.Deny, permit.Command, true, "r", permit.ByPolicy},
		{permit.Deny, permit.Command, false, "r", permit.ByPolicy},
		{permit.Deny, permit.Plan, true, "", permit.ByPolicy},
		{permit.Deny, permit.Question, false, "", permit.ByPolicy},
		{"x_future", permit.Command, true, "r", permit.ByPolicy},
	} {
		e := &permit.Engine{Policy: tt.policy}
		if tt.present {
			e.Ask = pick("a")
		}
		if o := e.Decide(t.Context(), card(tt.kind)); o.Option != tt.option || o.By != tt.by || o.Allowed != (tt.option == "a") {
			t.Errorf("policy %s, %s, user there %v: got %+v, want option %q by %s", tt.policy, tt.kind, tt.present, o, tt.option, tt.by)
		}
	}
}

// TestJudgesInOrder: a refusal settles, whatever another judge allows; then the
// user's answer where a judge or the gate wants it; a mode and a policy come
// after all of them.
func TestJudgesInOrder(t *testing.T) {
	say := func(s permit.Say, name string) permit.Judge {
		return func(context.Context, *permit.Card) permit.Verdict {
			return permit.Verdict{Say: s, By: permit.ByDecider, Name: name, Why: name}
		}
	}
	for _, tt := range []struct {
		judges []permit.Judge
		gate   permit.Judge
		want   string // option, by, name
	}{
		{[]permit.Judge{say(permit.Pass, "1"), say(permit.Refuse, "2"), say(permit.Allow, "3")}, nil, "r decider 2"},
		{[]permit.Judge{say(permit.Allow, "1"), say(permit.Refuse, "2")}, nil, "r decider 2"},
		{[]permit.Judge{say(permit.AskUser, "1"), say(permit.Refuse, "2")}, nil, "r decider 2"},
		{[]permit.Judge{say(permit.Allow, "1"), say(permit.Allow, "2")}, nil, "a decider 1"},
		{[]permit.Judge{say(permit.Allow, "1"), say(permit.AskUser, "2")}, nil, "a user "},
		{[]permit.Judge{say(permit.AskUser, "1"), say(permit.Allow, "2")}, nil, "a user "},
		{[]permit.Judge{say(permit.Pass, "1")}, nil, "a mode bypassPermissions"},
		{[]permit.Judge{say(99, "1")}, nil, "r decider 1"},
		{[]permit.Judge{say(permit.Allow, "1")}, say(permit.AskUser, "gate"), "a user "},
		{[]permit.Judge{say(permit.Allow, "1")}, say(permit.Pass, "gate"), "a decider 1"},
		{nil, say(permit.AskUser, "gate"), "a user "},
		{[]permit.Judge{say(permit.Refuse, "1")}, say(permit.AskUser, "gate"), "r decider 1"},
	} {
		e := &permit.Engine{Hearing: permit.Hearing{Judges: tt.judges, Gate: tt.gate}, Mode: mode(permit.Bypass), Policy: permit.Record, Ask: pick("aa")}
		o := e.Decide(t.Context(), card(permit.Command))
		if got := o.Option + " " + string(o.By) + " " + o.Name; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestNoFittingOption: what is allowed, but cannot be allowed once, is answered
// "cancelled", never by the first option (K14).
func TestNoFittingOption(t *testing.T) {
	for name, options := range map[string][]permit.Option{
		"always only":      {{ID: "aa", Kind: "allow_always"}, {ID: "r", Kind: "reject_once"}},
		"unknown kinds":    {{ID: "x", Kind: "fetch"}, {ID: "y", Kind: ""}},
		"a mode":           {{ID: "default", Kind: "allow_once"}, {ID: "r", Kind: "reject_once"}},
		"lasting":          {{ID: "proceed_always", Kind: "allow_once"}},
		"for the session":  {{ID: "allow_for_session", Kind: "allow_once"}},
		"one id two kinds": {{ID: "a", Kind: "allow_once"}, {ID: "a", Kind: "reject_once"}},
		"no id":            {{ID: "", Kind: "allow_once"}},
	} {
		e := &permit.Engine{Mode: mode(permit.Bypass), Ask: unasked(t)}
		c := card(permit.Command)
		c.Options = options
		if o := e.Decide(t.Context(), c); o.Allowed || o.Option != "" || o.By != permit.ByMode {
			t.Errorf("%s: got %+v, want the outcome cancelled", name, o)
		}
	}
}
