package decider

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/plugins/decider/decidertest"
)

func TestCases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b")
	if err := os.MkdirAll(filepath.Join(dir, CasesFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := Cases(dir)
	if err != nil || len(all) < 10 {
		t.Fatalf("built-in: got %d, %v", len(all), err)
	}
	kinds := map[string]bool{}
	for _, c := range all {
		kinds[c.Request.Kind] = true
	}
	if len(kinds) != 6 {
		t.Errorf("built-in: got the kinds %v, want all six", kinds)
	}
	for name, text := range map[string]string{
		"b.json": `{"request":{"tool":"Bash","input":{"command":
			"ls"}},"want":{"decision":"ask"}}`,
		"a.json": `[{"name":"first","request":{"id":"x","kind":"tool","tool":"Bash"},"project":{"id":"p","name":"P","private":true},"ticket":{"id":"t","key":"T-1","title":"x"},"agent":{"id":"a","name":"A"}}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, CasesFolder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err = Cases(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %v, %v", all, err)
	}
	a, b := all[0], all[1]
	if a.Name != "first" || a.Request.ID != "x" || a.Request.Kind != "tool" || !a.Project.Private || a.Ticket.Key != "T-1" || a.Agent.Name != "A" {
		t.Errorf("got %+v", a)
	}
	if b.Name != "Bash ls" || b.Request.Kind != "command" || b.Request.ID == "" || string(b.Request.Input) != `{"command":"ls"}` || b.Want.Decision != "ask" {
		t.Errorf("got %+v", b)
	}
	for text, want := range map[string]string{
		`{"request":{}}`: "tool is missing",
		`{"request":{"tool":"Bash"},"want":{"decision":"maybe"}}`: "allow, deny or ask",
		`{"request":{"tool":"Bash","input":[]}}`:                  "no object",
		`{"requests":{}}`:                                         "requests",
		``:                                                        "",
	} {
		if _, err := ParseCases([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "played", &decidertest.Program{Decide: func(l *decidertest.Life, id int64, params jsontext.Value) {
			var q Question
			if err := json.Unmarshal(params, &q); err != nil {
				t.Error(err)
			}
			if q.Request.Target() == "slow" {
				time.Sleep(600 * time.Millisecond)
			}
			l.Say(decidertest.Result(id, `{"decision":"deny","message":"no"}`))
		}})
		defer r.Close()
		if err := r.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		cases, err := ParseCases([]byte(`[
			{"request":{"tool":"Bash"}},
			{"request":{"tool":"Bash"},"want":{"decision":"deny","message":"no"}},
			{"request":{"tool":"Bash"},"want":{"decision":"deny","message":"never"}},
			{"request":{"tool":"Bash"},"want":{"decision":"allow"}},
			{"request":{"tool":"Bash","input":{"command":"slow"}}}]`))
		if err != nil {
			t.Fatal(err)
		}
		all, err := PlayTogether(context.Background(), r.Decider, cases)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"", "", `its message is "no", and "never" is wanted`, "it says deny, and allow is wanted", "no answer in time"} {
			if all[i].Wrong != want {
				t.Errorf("%d: got %q, want %q", i, all[i].Wrong, want)
			}
		}
	})
}

func TestReadyFailsWithTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "missing", &decidertest.Program{Refuse: 1})
		defer r.Close()
		if err := r.Ready(context.Background()); err == nil || err.Error() != "it could not be started: no such program" {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Second)
		if err := r.Ready(context.Background()); err != nil {
			t.Errorf("later: got %v", err)
		}
	})
}
