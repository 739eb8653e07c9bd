package bridge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
)

// An agent that dies in a turn is told of once, and opened again by the next
// prompt in the way that works: qwen-code 0.15.10 announces session/resume and
// answers "method not found".
func TestAKilledAgentIsOpenedAgain(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         string   // in the notice
		asked        []string // of the new process
	}{
		{"resume", `"capabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}}}`,
			"the conversation resumed", []string{"initialize", "session/resume", "session/prompt"}},
		{"announced and missing", `"capabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}}},
		   "on": {"session/resume": {"answer": {"error": {"code": -32601, "message": "no such method"}}}}`,
			"the conversation loaded again", []string{"initialize", "session/resume", "session/load", "session/prompt"}},
		{"load", `"capabilities": {"loadSession": true}`,
			"the conversation loaded again", []string{"initialize", "session/load", "session/prompt"}},
		{"neither", `"capabilities": {}`,
			"does not remember", []string{"initialize", "session/new", "session/prompt"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{`+test.script+`, "prompts": [{"match": "die", "steps": [{"crash": true}]}, {"steps": [{"say": "here"}]}]}`)
			info := r.open()
			var gone *bridge.GoneError
			if _, err := r.prompt(info.ID, "die"); !errors.As(err, &gone) {
				t.Fatalf("the turn ended with %v, want the agent's end", err)
			}
			before := len(r.wire())
			if _, err := r.prompt(info.ID, "go on"); err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, line := range r.wire()[before:] {
				for _, m := range []string{"initialize", "session/new", "session/load", "session/resume", "session/prompt"} {
					if strings.Contains(line, `"method":"`+m+`"`) {
						asked = append(asked, m)
					}
				}
			}
			if !slices.Equal(asked, test.asked) {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
			var told []string
			for _, n := range r.display.noticed(bridge.NoticeNew) {
				told = append(told, n.Text)
			}
			if !strings.Contains(strings.Join(told, "\n"), test.want) {
				t.Errorf("notices are %q, want %q", told, test.want)
			}
			if n := r.display.noticed(bridge.NoticeGone); len(n) != 1 {
				t.Errorf("notices are %+v, want one that the agent is gone", n)
			}
		})
	}
}
