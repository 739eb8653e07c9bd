package bridge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
	"sallyport/plugins/decider/decidertest"
	"sallyport/workspace/config"
)

// judge is a decider in this process.
type judge struct {
	*decider.Decider

	mu        sync.Mutex
	questions []string // their params, as they came
	late      bool     // the machine was too busy for an answer in time
}

// judges opens one that answers "allow", "deny: message" or "ask" by its rule.
func judges(t *testing.T, rule func(q decider.Question) string) *judge {
	t.Helper()
	j := &judge{}
	program := &decidertest.Program{Decide: func(l *decidertest.Life, id int64, params jsontext.Value) {
		var q decider.Question
		if err := json.Unmarshal(params, &q); err != nil {
			t.Errorf("reading a question: %v", err)
		}
		j.mu.Lock()
		j.questions = append(j.questions, string(params))
		j.mu.Unlock()
		word, message, _ := strings.Cut(rule(q), ": ")
		l.Say(decidertest.Result(id, fmt.Sprintf(`{"decision":%q,"message":%q}`, word, message)))
	}}
	j.Decider = decider.Open(decider.Program{
		ID: "dev.test.team", Name: "Team rules",
		Start: func(context.Context) (decider.Process, error) { return program.Start() },
		Note: func(e decider.Entry) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.late = j.late || e.Why == "no answer in time"
		},
	})
	t.Cleanup(j.Close)
	if err := j.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *judge) asked() (questions []string, late bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.questions), j.late
}

// teamRules deny rm -rf and allow npm test.
func teamRules(q decider.Question) string {
	switch command := q.Request.Target(); {
	case strings.Contains(command, "rm -rf"):
		return "deny: no rm -rf here"
	case command == "npm test":
		return "allow"
	default:
		return "ask"
	}
}

// TestG3_Deciders: what a decider denies is refused with the option that refuses,
// what it allows is let through without a card, and the rest is as without it, in
// every mode.
func TestG3_Deciders(t *testing.T) {
	modes := []config.Mode{config.Ask, config.AcceptEdits, config.Plan, config.Bypass}
	for _, tt := range []struct {
		name, kind, input string
		change            func(*rig)
		want              [4]string // of the agent, by mode; "asked" where the user was
		questions         int       // to the decider
	}{
		{name: "denied", kind: "execute", input: `{"command": "rm -rf build"}`, want: [4]string{"rejected", "rejected", "rejected", "rejected"}, questions: 1},
		{name: "allowed", kind: "execute", input: `{"command": "npm test"}`, want: [4]string{"allowed", "allowed", "allowed", "allowed"}, questions: 1},
		{name: "left", kind: "execute", input: `{"command": "make"}`, want: [4]string{"asked", "asked", "rejected", "allowed"}, questions: 1},
		{name: "a plan", kind: "switch_mode", input: `{"command": "npm test"}`, want: [4]string{"asked", "asked", "asked", "asked"}},
		{name: "denied by a rule", kind: "execute", input: `{"command": "npm test"}`, change: func(r *rig) { r.config.Permissions.Deny = []string{"Bash(npm:*)"} },
			want: [4]string{"rejected", "rejected", "rejected", "rejected"}},
		{name: "asked by a rule", kind: "execute", input: `{"command": "npm test"}`, change: func(r *rig) { r.config.Permissions.Ask = []string{"Bash(npm:*)"} },
			want: [4]string{"asked", "asked", "asked", "asked"}, questions: 1},
		{name: "denied where a rule allows", kind: "execute", input: `{"command": "rm -rf x"}`, change: func(r *rig) { r.config.Permissions.Allow = []string{"Bash(rm:*)"} },
			want: [4]string{"rejected", "rejected", "rejected", "rejected"}, questions: 1},
	} {
		for i, mode := range modes {
			t.Run(tt.name+" in "+string(mode), func(t *testing.T) {
				for range 5 { // while the machine is too busy
					j := judges(t, teamRules)
					r := newRig(t, asking(tt.kind, tt.input))
					r.Home.Deciders = func(string, string) decider.Set { return decider.Set{j.Decider} }
					r.config.Mode, r.display.answer = mode, reject
					if tt.change != nil {
						tt.change(r)
					}
					r.turn("go")
					questions, late := j.asked()
					if late {
						continue
					}
					got := r.said()
					if len(r.display.asked) > 0 {
						got = "asked"
					}
					if got != tt.want[i] || len(questions) != tt.questions {
						t.Errorf("got %s and %d questions, want %s and %d", got, len(questions), tt.want[i], tt.questions)
					}
					checkTeamRules(t, r, tt.name)
					return
				}
				t.Skip("this machine is too busy for answers within 500 ms")
			})
		}
	}
}

// checkTeamRules looks at what the screen and the agent are told of a decision.
func checkTeamRules(t *testing.T, r *rig, name string) {
	t.Helper()
	o := r.display.settled[0].outcome
	switch name {
	case "denied":
		if o.By != permit.ByDecider || o.DenyNote() != "Refused by Team rules through Sallyport: no rm -rf here" {
			t.Errorf("got %v, %q", o.By, o.DenyNote())
		}
		if !slices.ContainsFunc(r.wire(), func(line string) bool {
			return strings.Contains(line, `"_meta":{"sallyport":{"by":"decider","name":"Team rules","why":"no rm -rf here"}}`)
		}) {
			t.Error("the answer to the agent does not say who refused and why")
		}
	case "allowed":
		if o.By != permit.ByDecider || o.Name != "Team rules" || !o.Allowed {
			t.Errorf("got %+v", o)
		}
	}
}

// TestDecidersSeeNoConversation: a question holds the request, the project and the
// agent, and nothing of what was said.
func TestDecidersSeeNoConversation(t *testing.T) {
	j := judges(t, teamRules)
	r := newRig(t, `{"prompts": [{"steps": [{"say": "a secret answer"}, {"ask": {"toolCall": {"toolCallId": "t", "kind": "execute", "title": "a secret title", "rawInput": {"command": "make"}}}}]}]}`)
	var at [2]string
	r.Home.Deciders = func(folder, private string) decider.Set {
		at = [2]string{folder, private}
		return decider.Set{j.Decider}
	}
	r.config.Fences.Private = []string{r.folder}
	info := r.turn("a secret prompt")
	questions, _ := j.asked()
	if len(questions) != 1 || strings.Contains(questions[0], "secret") {
		t.Fatalf("got %q", questions)
	}
	var q decider.Question
	if err := json.Unmarshal([]byte(questions[0]), &q); err != nil {
		t.Fatal(err)
	}
	if q.Request.Kind != "command" || q.Request.Tool != "Bash" || q.Request.ID == "" || q.Project.Name != "p" || !q.Project.Private || q.Project.ID == "" ||
		q.Agent != (decider.Agent{ID: info.ID, Name: "Fake"}) || strings.Contains(questions[0], `"ticket"`) {
		t.Errorf("got %s", questions[0])
	}
	if at[0] != info.Folder || at[1] == "" {
		t.Errorf("the deciders of %q were asked for, of the private project %q", at[0], at[1])
	}
}

// TestDeciderOnWrites: a write through fs/* is decided as well, and its refusal
// carries the reason.
func TestDeciderOnWrites(t *testing.T) {
	j := judges(t, func(q decider.Question) string {
		if strings.HasSuffix(q.Request.Target(), "go.mod") {
			return "deny: go.mod is changed by hand"
		}
		return "allow"
	})
	r := newRig(t, `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/go.mod", "text": "x", "as": "w"}}, {"say": "[${w.error}]"}, {"write": {"path": "${cwd}/b.go", "text": "y"}}]}]}`)
	r.Home.Deciders = func(string, string) decider.Set { return decider.Set{j.Decider} }
	r.display.answer = reject
	r.turn("go")
	if _, late := j.asked(); late {
		t.Skip("this machine is too busy for answers within 500 ms")
	}
	if got, want := r.said(), "[Refused by Team rules through Sallyport: go.mod is changed by hand]"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if got := r.disk("go.mod") + r.disk("b.go"); got != "y" || len(r.display.asked) > 0 {
		t.Errorf("got the files %q and %d cards, want only b.go and none", got, len(r.display.asked))
	}
}

// TestDecidersSeeItWhole: an allowance of a command that was cut does not count,
// and what cannot be put into their words passes by them in no mode.
func TestDecidersSeeItWhole(t *testing.T) {
	for _, tt := range []struct{ name, input string }{
		{"cut", `{"command": "npm test ` + strings.Repeat("x", permit.MaxText) + `; x"}`},
		{"no command", `{"cmd": 7}`},
	} {
		j := judges(t, func(decider.Question) string { return "allow" })
		r := newRig(t, asking("execute", tt.input))
		r.Home.Deciders = func(string, string) decider.Set { return decider.Set{j.Decider} }
		r.display.answer = reject
		r.turn("go")
		if len(r.display.asked) != 1 {
			t.Errorf("%s: the user was asked %d times, want once", tt.name, len(r.display.asked))
		}
	}
}

// TestDecidersAreOutOfReach: who could write in a decider's folder could allow
// itself everything.
func TestDecidersAreOutOfReach(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/tools/team/rules.json", "text": "x", "as": "w"}}, {"say": "[${w.error}]"}]}]}`)
	r.write("tools/team/rules.json", "{}")
	r.config.Permissions.Deciders = []config.Decider{{Folder: r.path("tools/team")}}
	r.config.Mode = config.Bypass
	r.turn("go")
	if got := r.disk("tools/team/rules.json"); got != "{}" || r.said() == "[]" {
		t.Errorf("got %q in the file, and the agent %q", got, r.said())
	}
}
