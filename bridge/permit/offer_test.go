package permit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/permit"
)

// TestOffer: what a card says of its lasting options, and what picking one sends to
// the agent and keeps.
func TestOffer(t *testing.T) {
	option := func(id, kind string) permit.Option { return permit.Option{ID: id, Name: "own " + id, Kind: kind} }
	once, never := option("a", "allow_once"), option("r", "reject_once")
	for name, tt := range map[string]struct {
		kind    permit.Kind
		options []permit.Option
		rule    string
		pick    string
		shown   string // name of the option that is picked
		want    permit.Outcome
	}{
		"always":        {permit.Command, []permit.Option{once, option("w", "allow_always"), never}, "Bash(ls)", "w", "Always allow Fake Bash(ls) in this project", permit.Outcome{Allowed: true, Option: "a", Rule: "Bash(ls)"}},
		"never":         {permit.Command, []permit.Option{once, never, option("n", "reject_always")}, "Bash(ls)", "n", "Never allow Fake Bash(ls) in this project", permit.Outcome{Option: "r", Rule: "Bash(ls)"}},
		"never alone":   {permit.Command, []permit.Option{once, option("n", "reject_always")}, "Bash(ls)", "n", "Never allow Fake Bash(ls) in this project", permit.Outcome{Option: "n", Rule: "Bash(ls)"}},
		"no rule":       {permit.Command, []permit.Option{once, option("w", "allow_always"), never}, "", "w", "Allow once (no rule says exactly this)", permit.Outcome{Allowed: true, Option: "a"}},
		"never no rule": {permit.Command, []permit.Option{once, never, option("n", "reject_always")}, "", "n", "Refuse once (no rule says exactly this)", permit.Outcome{Option: "r"}},
		"no once":       {permit.Command, []permit.Option{option("w", "allow_always"), never}, "Bash(ls)", "w", "Refuse (the agent knows no way to allow this once)", permit.Outcome{Option: "r"}},
		"two once":      {permit.Command, []permit.Option{once, option("b", "allow_once"), option("w", "allow_always")}, "Bash(ls)", "w", "Refuse (the agent knows no way to allow this once)", permit.Outcome{}},
		"one id twice":  {permit.Command, []permit.Option{once, option("w", "allow_always"), option("w", "allow_once"), never}, "Bash(ls)", "w", "Refuse (the agent gives two options one id)", permit.Outcome{Option: "r"}},
		"a mode":        {permit.Edit, []permit.Option{once, option("acceptEdits", "allow_always")}, "Edit(./a)", "acceptEdits", "own acceptEdits", permit.Outcome{Allowed: true, Option: "acceptEdits"}},
		"a plan":        {permit.Plan, []permit.Option{once, option("w", "allow_always")}, "x", "w", "own w", permit.Outcome{Allowed: true, Option: "w"}},
		"a question":    {permit.Question, []permit.Option{once, option("w", "allow_always")}, "x", "w", "own w", permit.Outcome{Allowed: true, Option: "w"}},
		"once":          {permit.Command, []permit.Option{once, option("w", "allow_always")}, "Bash(ls)", "a", "own a", permit.Outcome{Allowed: true, Option: "a"}},
		"unknown kind":  {permit.Command, []permit.Option{once, option("p", "allow_persistent")}, "Bash(ls)", "p", "own p", permit.Outcome{Allowed: true, Option: "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := card(tt.kind)
			c.Options = append([]permit.Option(nil), tt.options...)
			c.Offer("Fake", func(bool) string { return tt.rule })
			for _, o := range c.Options {
				if o.ID == tt.pick && o.Name != tt.shown {
					t.Errorf("shown as %q, want %q", o.Name, tt.shown)
				}
			}
			e := &permit.Engine{Ask: pick(tt.pick), Place: project(), Log: quiet}
			o := e.Decide(t.Context(), c)
			if o.Allowed != tt.want.Allowed || o.Option != tt.want.Option || o.Rule != tt.want.Rule || o.By != permit.ByUser {
				t.Errorf("got %+v, want %+v", o, tt.want)
			}
		})
	}
}

// TestOfferKeepsTheParams: an ACP client is shown the agent's own request, with
// other names of the lasting options.
func TestOfferKeepsTheParams(t *testing.T) {
	const params = `{ "sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}},
 "options":[%s], "_meta":{"x":null}}`
	const before = `{"optionId":"a","name":"Yes","kind":"allow_once","_meta":null},{"optionId":"w","name":"Always, of all","kind":"allow_always","later":[1,{"a":"]"}]},7,{"optionId":"n","kind":"reject_always"}`
	const after = `{"optionId":"a","name":"Yes","kind":"allow_once","_meta":null},{"optionId":"w","name":"Always allow Fake Bash(ls) in this project","kind":"allow_always","later":[1,{"a":"]"}]},7,{"optionId":"n","kind":"reject_always","name":"Never allow Fake Bash(ls) in this project"}`
	r := &permit.Reader{Session: "s"}
	c, err := r.Read("t", []byte(fmt.Sprintf(params, before)))
	if err != nil {
		t.Fatal(err)
	}
	c.Offer("Fake", func(bool) string { return "Bash(ls)" })
	if got, want := string(c.Params), fmt.Sprintf(params, after); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const plain = `{ "sessionId":"s", "toolCall":{"toolCallId":"c"}, "options":[ {"optionId":"a","name":"Yes","kind":"allow_once"} ] }`
	if c, err = r.Read("t", []byte(plain)); err != nil {
		t.Fatal(err)
	}
	c.Offer("Fake", func(bool) string { return "Bash(ls)" })
	if got := string(c.Params); got != plain {
		t.Errorf("without a lasting option: got %s", got)
	}
}

// TestOfferAnsweredByAClient: an ACP client's own words go back to the agent only
// where they are not a lasting answer.
func TestOfferAnsweredByAClient(t *testing.T) {
	raw := []byte(`{"outcome":{"outcome":"selected","optionId":"aa"},"_meta":{"x":1}}`)
	c := card(permit.Command)
	c.Options = append([]permit.Option(nil), usual...)
	c.Offer("Fake", func(bool) string { return "Bash(ls)" })
	e := &permit.Engine{Log: quiet}
	e.Ask = func(context.Context, *permit.Card) (permit.Answer, error) {
		return permit.Answer{Option: "aa", Raw: raw}, nil
	}
	if got := string(e.Decide(t.Context(), c).Response()); !strings.Contains(got, `"optionId":"a"}`) {
		t.Errorf("the agent is answered %s", got)
	}
}
