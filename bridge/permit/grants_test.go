package permit_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/permit"
)

// TestGrants: only an allowed edit covers a write, to the files that it named,
// for the length of its turn.
func TestGrants(t *testing.T) {
	allowed, refused := permit.Outcome{Allowed: true, Option: "a"}, permit.Outcome{Option: "r"}
	for _, tt := range []struct {
		name string
		card *permit.Card
		out  permit.Outcome
		path string
		want permit.Cover
	}{
		{"by its location (codex)", card(permit.Edit, "/p/a"), allowed, "/p/a", permit.Granted},
		{"by its diff", diffCard(permit.Edit, "/p/a"), allowed, "/p/a", permit.Granted},
		{"by a bare name (qwen)", card(permit.Edit, "a"), allowed, "/p/a", permit.Granted},
		{"spelt with dots in both", card(permit.Edit, "/p/../o"), allowed, "/p/../o", permit.Granted},
		{"spelt otherwise", card(permit.Edit, "/p/./b/../a"), allowed, "/p/a", permit.Granted},
		{"another file", card(permit.Edit, "/p/a"), allowed, "/p/ab", permit.Unasked},
		{"a file below", card(permit.Edit, "/p/a"), allowed, "/p/a/b", permit.Unasked},
		{"a command", card(permit.Command, "/p/a"), allowed, "/p/a", permit.Unasked},
		{"a read", card(permit.Read, "/p/a"), allowed, "/p/a", permit.Unasked},
		{"a tool", card(permit.Tool, "/p/a"), allowed, "/p/a", permit.Unasked},
		{"refused", card(permit.Edit, "/p/a"), refused, "/p/a", permit.Refused},
		{"a refused command", card(permit.Command, "/p/a"), refused, "/p/a", permit.Unasked},
		{"a refused tool with a diff", diffCard(permit.Tool, "/p/a"), refused, "/p/a", permit.Refused},
		{"no file", card(permit.Edit, "git://h/a"), allowed, "git://h/a", permit.Unasked},
	} {
		g := &permit.Grants{Place: project()}
		g.Record(tt.card, tt.out)
		if got := g.Covers(tt.path, "x", nothing); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		g.Clear()
		if got := g.Covers(tt.path, "x", nothing); got != permit.Unasked {
			t.Errorf("%s: got %v in the next turn, want Unasked", tt.name, got)
		}
	}
	g := &permit.Grants{Place: project()}
	g.Record(card(permit.Edit, "/p/a"), refused)
	g.Record(card(permit.Edit, "/p/a"), allowed)
	if got := g.Covers("/p/a", "x", nothing); got != permit.Granted {
		t.Errorf("refused, then allowed: got %v, want Granted: the last word counts", got)
	}
}

// nothing is the text of a file that holds none.
func nothing() string { return "" }

// TestGrantsAreForWhatWasShown: a person who allows a diff allows that change,
// in the files whose diffs were shown.
func TestGrantsAreForWhatWasShown(t *testing.T) {
	type write struct {
		path, content, before string
		want                  permit.Cover
	}
	old := "b"
	whole := permit.Diff{Path: "/p/a", New: "x\ny\n"}
	part := permit.Diff{Path: "/p/a", Old: &old, New: "B"}
	c := "c"
	for _, tt := range []struct {
		name   string
		option string
		diffs  []permit.Diff
		paths  []string
		writes []write
	}{
		{"the text that was shown, again and again", "a", []permit.Diff{whole}, []string{"/p/a"}, []write{
			{"/p/a", "x\ny\n", "", permit.Granted}, {"/p/a", "x\ny\n", "", permit.Granted}}},
		{"another text", "a", []permit.Diff{whole}, []string{"/p/a"}, []write{{"/p/a", "x\nevil\n", "", permit.Unasked}}},
		{"other line endings", "a", []permit.Diff{whole}, []string{"/p/a"}, []write{{"/p/a", "x\r\ny\r\n", "", permit.Granted}}},
		{"a file that is only listed beside a diff", "a", []permit.Diff{whole}, []string{"/p/a", "/p/b"}, []write{{"/p/b", "x\ny\n", "", permit.Unasked}}},
		{"a part of the file (claude)", "a", []permit.Diff{part}, []string{"/p/a"}, []write{{"/p/a", "aBc", "abc", permit.Granted}}},
		{"a part, and more", "a", []permit.Diff{part}, []string{"/p/a"}, []write{{"/p/a", "aBcd", "abc", permit.Unasked}}},
		{"two parts", "a", []permit.Diff{part, {Path: "/p/a", Old: &c, New: "C"}}, []string{"/p/a"}, []write{{"/p/a", "aBC", "abc", permit.Granted}}},
		{"a part that is not there any more", "a", []permit.Diff{part}, []string{"/p/a"}, []write{{"/p/a", "aBc", "ac", permit.Unasked}}},
		{"unseen, for one write", "a", nil, []string{"/p/a"}, []write{{"/p/a", "x", "", permit.Granted}, {"/p/a", "y", "", permit.Unasked}}},
		{"unseen, one write for each file", "a", nil, []string{"/p/a", "/p/b"}, []write{{"/p/a", "x", "", permit.Granted}, {"/p/b", "x", "", permit.Granted}}},
		{"refused, whatever is written", "r", []permit.Diff{whole}, []string{"/p/a", "/p/b"}, []write{
			{"/p/a", "z", "", permit.Refused}, {"/p/b", "z", "", permit.Refused}, {"/p/a", "z", "", permit.Refused}}},
	} {
		card := card(permit.Edit, tt.paths...)
		card.Diffs = tt.diffs
		g := &permit.Grants{Place: project()}
		g.Record(card, permit.Outcome{Allowed: tt.option != "r", Option: tt.option})
		for i, w := range tt.writes {
			if got := g.Covers(w.path, w.content, func() string { return w.before }); got != w.want {
				t.Errorf("%s: write %d of %q to %s: got %v, want %v", tt.name, i, w.content, w.path, got, w.want)
			}
		}
	}
}

// TestWriteCard: a write that nobody was asked about becomes a card of our own.
func TestWriteCard(t *testing.T) {
	r := &permit.Reader{Session: "s"}
	old := "alpha\n"
	c := r.Write("t", "/p/a\x1b", &old, "beta\n")
	if c.Request.Kind != permit.Edit || c.Request.Tool != "Edit" || c.Title != "Edit /p/a␛" || len(c.Diffs) != 1 || *c.Diffs[0].Old != old {
		t.Errorf("got %+v", c)
	}
	if got := string(c.Request.Input); got != `{"file_path":"/p/a\u001b","content":"beta\n"}` {
		t.Errorf("got the input %s", got)
	}
	if c := r.Write("t", "/p/a", nil, ""); c.Request.Tool != "Write" || c.Diffs[0].Old != nil {
		t.Errorf("new file: got %+v", c)
	}
	e := &permit.Engine{Place: project(), Ask: pick(permit.WriteReject)}
	o := e.Decide(t.Context(), r.Write("t", "/p/a", nil, "x"))
	if o.Allowed || o.By != permit.ByUser {
		t.Errorf("got %+v, want the user's refusal", o)
	}
	e.Mode = mode(permit.AcceptEdits)
	if o := e.Decide(t.Context(), r.Write("t", "/p/a", nil, "x")); !o.Allowed || o.By != permit.ByMode {
		t.Errorf("acceptEdits: got %+v, want allowed by the mode", o)
	}
}

// TestResponse is the wire form (ACP v1, RequestPermissionResponse).
func TestResponse(t *testing.T) {
	for _, tt := range []struct {
		out  permit.Outcome
		want string
	}{
		{permit.Outcome{Allowed: true, Option: "a\"", By: permit.ByUser}, `{"outcome":{"outcome":"selected","optionId":"a\""},"_meta":{"sallyport":{"by":"user"}}}`},
		{permit.Outcome{Option: "r", By: permit.ByDecider, Name: "Team rules", Why: "no rm"}, `{"outcome":{"outcome":"selected","optionId":"r"},"_meta":{"sallyport":{"by":"decider","name":"Team rules","why":"no rm"}}}`},
		{permit.Outcome{By: permit.ByCancel, Why: "x"}, `{"outcome":{"outcome":"cancelled"},"_meta":{"sallyport":{"by":"cancel","why":"x"}}}`},
	} {
		got := tt.out.Response()
		if string(got) != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if err := json.Unmarshal(got, new(any)); err != nil {
			t.Error(err)
		}
	}
}

// TestDenyNote: who refused, in one sentence (K15).
func TestDenyNote(t *testing.T) {
	c := card(permit.Command)
	c.Request = permit.Request{Kind: permit.Command, Tool: "Bash", Input: []byte(`{"command":"rm -rf x\u001b"}`)}
	for _, tt := range []struct {
		out        permit.Outcome
		note, line string
	}{
		{permit.Outcome{By: permit.ByDecider, Name: "Team rules", Why: "no rm -rf here"}, "Refused by Team rules through Sallyport: no rm -rf here", " (Bash rm -rf x␛)"},
		{permit.Outcome{By: permit.ByFence, Name: "private fence", Why: "/q is private"}, "Refused by private fence through Sallyport: /q is private", " (Bash rm -rf x␛)"},
		{permit.Outcome{By: permit.ByMode, Name: "plan", Why: "read only"}, "Refused by plan mode through Sallyport: read only", " (Bash rm -rf x␛)"},
		{permit.Outcome{By: permit.ByPolicy, Name: "deny", Why: "nobody is there"}, "Refused by policy deny through Sallyport: nobody is there", " (Bash rm -rf x␛)"},
		{permit.Outcome{By: permit.ByUser, Option: "r", Why: "the user refused it"}, "Refused by the user through Sallyport", " (Bash rm -rf x␛)"},
		{permit.Outcome{By: permit.ByCancel, Why: "x"}, "", ""},
		{permit.Outcome{By: permit.ByUser, Allowed: true}, "", ""},
	} {
		if got := tt.out.DenyNote(); got != tt.note {
			t.Errorf("got %q, want %q", got, tt.note)
		}
		if got := permit.PromptNote(c, tt.out); got != tt.note+tt.line {
			t.Errorf("got %q, want %q", got, tt.note+tt.line)
		}
	}
}

// TestNothingIsEverInvented tries combinations at random: whatever the mode, the
// policy, the options and the answer are, no id is sent that was not offered,
// nothing but a person's click selects more than allow_once, and nothing is
// allowed that the fence refuses.
func TestNothingIsEverInvented(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	any1 := func(all ...string) string { return all[rnd.IntN(len(all))] }
	for range 20000 {
		c := card(permit.Kind(any1("command", "edit", "read", "fetch", "mcp", "tool", "plan", "question", "x", "")))
		c.Paths = []string{any1("/p/a", "/out/a", "/q/s", "a", "../a", "~/x", "git://x")}
		c.Options = nil
		for range rnd.IntN(5) {
			c.Options = append(c.Options, permit.Option{
				ID:   any1("a", "b", "aa", "r", "", "default", "proceed_always", "plan"),
				Kind: any1("allow_once", "allow_once", "allow_always", "reject_once", "reject_always", "x", ""),
			})
		}
		click := any1("a", "b", "aa", "r", "", "zzz", "default", "proceed_always")
		asked := false
		e := &permit.Engine{
			Mode:   mode(permit.Mode(any1("", "default", "acceptEdits", "plan", "bypassPermissions", "x"))),
			Policy: permit.Policy(any1("", "ask", "record", "deny", "x")),
			Place:  project(),
			Log:    quiet,
		}
		if say := permit.Say(rnd.IntN(4)); rnd.IntN(2) == 0 {
			e.Hearing.Judges = []permit.Judge{func(context.Context, *permit.Card) permit.Verdict {
				return permit.Verdict{Say: say, By: permit.ByDecider}
			}}
		}
		if rnd.IntN(3) > 0 {
			e.Ask = func(context.Context, *permit.Card) (permit.Answer, error) {
				asked = true
				return permit.Answer{Option: click}, nil
			}
		}
		c.Offer("Fake", func(bool) string { return any1("", "Bash(ls)") })
		o := e.Decide(t.Context(), c)
		at := slices.IndexFunc(c.Options, func(x permit.Option) bool { return x.ID == o.Option })
		clicked := asked && o.By == permit.ByUser && (o.Option == click || strings.HasSuffix(kindOf(c.Options, click), "_always"))
		switch {
		case o.Option != "" && at < 0:
			t.Fatalf("%+v: %+v: the option was not offered", c, o)
		case o.Allowed && o.Option == "":
			t.Fatalf("%+v: %+v: allowed without an option", c, o)
		case o.Allowed && !clicked && c.Options[at].Kind != "allow_once":
			t.Fatalf("%+v: %+v: chosen for the user", c, o)
		case o.Option != "" && !o.Allowed && !clicked && !strings.HasPrefix(c.Options[at].Kind, "reject"):
			t.Fatalf("%+v: %+v: a refusal by an option that does not refuse", c, o)
		case o.Allowed && c.Options[at].Kind == "allow_always" && o.Option != "default" && o.Option != "plan" && c.Request.Kind != permit.Plan && c.Request.Kind != permit.Question:
			t.Fatalf("%+v: %+v: the agent's own lasting grant", c, o)
		case o.Allowed && o.Option != click && slices.Contains([]string{"default", "proceed_always", "plan"}, o.Option):
			t.Fatalf("%+v: %+v: switched a mode", c, o)
		case o.Allowed && !clicked && (c.Request.Kind == permit.Plan || c.Request.Kind == permit.Question):
			t.Fatalf("%+v: %+v: answered a plan", c, o)
		case o.Allowed && c.Paths[0] == "/q/s",
			o.Allowed && c.Request.Kind == permit.Edit && c.Paths[0] != "/p/a" && c.Paths[0] != "a":
			t.Fatalf("%+v: %+v: past the fence", c, o)
		}
	}
}

func kindOf(options []permit.Option, id string) string {
	for _, o := range options {
		if o.ID == id {
			return o.Kind
		}
	}
	return ""
}
