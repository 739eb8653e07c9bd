package facade_test

import (
	"strings"
	"testing"

	"sallyport/bridge/facade"
)

// Without an agent that is named, the agents found are a config option of each
// session, and another can go on in it.
func TestAgentsAreAConfigOption(t *testing.T) {
	r := newRig(t, `{"configOptions":[{"id":"model","name":"Model","type":"select","currentValue":"m","options":[{"value":"m","name":"M"},{"value":"n","name":"N"}]}],
		"prompts":[{"match":"a","steps":[{"say":"first"}]},{"match":"b","steps":[{"say":"second"}]}]}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice {
			return []facade.Choice{{ID: "fake", Name: "Fake"}, {ID: "other", Name: "Other"}}
		}
	})
	r.call("initialize", hello)
	opened := r.call("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	if err := schema(t, "schema.json").check("NewSessionResponse", opened); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"id":"model"`, `"id":"sallyport.agent"`, `"currentValue":"fake"`, `{"value":"other","name":"Other"}`} {
		if !strings.Contains(opened, want) {
			t.Errorf("session/new has no %s: %s", want, opened)
		}
	}
	session := member(t, opened, "sessionId")
	r.turn(session, "a")
	answer := r.call("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"sallyport.agent","value":"other"}`)
	if err := schema(t, "schema.json").check("SetSessionConfigOptionResponse", answer); err != nil {
		t.Errorf("%v: %s", err, answer)
	}
	if !strings.Contains(answer, `"currentValue":"other"`) || !strings.Contains(answer, `"id":"model"`) {
		t.Errorf("set_config_option: %s", answer)
	}
	if got := r.turn(session, "b"); got != "end_turn" {
		t.Errorf("the turn of the other agent ended with %s", got)
	}
	said := strings.Join(r.frames("session/update"), "\n")
	for _, want := range []string{"second", "another agent goes on here"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	// The agent's own option passes, and ours stays in the list.
	answer = r.call("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"model","value":"m"}`)
	if !strings.Contains(answer, `"id":"sallyport.agent"`) {
		t.Errorf("our option is lost: %s", answer)
	}
	// What was picked since is told with ours.
	r.call("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"model","value":"n"}`)
	answer = r.call("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"sallyport.agent","value":"other"}`)
	if !strings.Contains(answer, `"currentValue":"n"`) {
		t.Errorf("the agent that is there already tells old values: %s", answer)
	}
	if m := r.answer(r.ask("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"sallyport.agent","value":7}`)); m.Error == nil {
		t.Errorf("a number as agent: %s", m.Result)
	}
	checkAuthored(t, r)
}

// An agent that tells its options anew tells all of them: ours stay among them.
func TestAgentOption_StaysInUpdates(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"update":{"configOptions":[{"id":"model","name":"Model","type":"select","currentValue":"m","options":[]}],"x":1.50,"sessionUpdate":"config_option_update"}},{"say":"well"}]}]}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice {
			return []facade.Choice{{ID: "fake", Name: "Fake"}, {ID: "other", Name: "Other"}}
		}
	})
	session := r.open()
	r.turn(session, "go")
	for _, u := range r.frames("session/update") {
		if !strings.Contains(u, "config_option_update") {
			continue
		}
		if !strings.Contains(u, `{"configOptions":[{"id":"model","name":"Model","type":"select","currentValue":"m","options":[]},{"id":"sallyport.agent",`) ||
			!strings.Contains(u, `"x":1.50,"sessionUpdate":"config_option_update"}`) || !strings.Contains(u, quote(session)) {
			t.Errorf("the client got %s", u)
		}
		return
	}
	t.Error("the client got no options")
}

// A prompt that comes right behind the choice of an agent waits for it, and goes to
// that agent.
func TestAgentIsPicked_BeforeThePromptBehindIt(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"say":"well"}]}]}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice {
			return []facade.Choice{{ID: "fake", Name: "Fake"}, {ID: "other", Name: "Other"}}
		}
	})
	session := r.open()
	picked := r.ask("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"sallyport.agent","value":"other"}`)
	turn := r.prompt(session, "go")
	if answer := r.result(picked); !strings.Contains(answer, `"currentValue":"other"`) {
		t.Errorf("set_config_option: %s", answer)
	}
	if got := member(t, r.result(turn), "stopReason"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

// What a client says for a session before its load is answered comes after it.
func TestLoad_IsReplayAndInOrder(t *testing.T) {
	r := newRig(t, `{"capabilities":{"loadSession":true,"sessionCapabilities":{"list":{},"close":{},"resume":{},"fork":{},"delete":{}}},
		"prompts":[{"match":"go","steps":[{"say":"now"}]}],
		"on":{"session/load":{"before":[{"say":"history"}],"answer":{"result":{"x":[1.0],"_meta":null}}},
			"session/list":{"answer":{"result":{"sessions":[{"sessionId":"old","cwd":"/x","y":null}]}}},
			"session/delete":{"answer":{"result":{"d":1}}},"session/close":{"answer":{"result":{"c":1}}},
			"session/resume":{"answer":{"result":{"r":1}}},
			"session/fork":{"answer":{"result":{"sessionId":"fork-1","f":null}}}}}`)
	r.call("initialize", hello)
	if got := r.call("session/list", `{"z":1.0}`); !same(got, `{"sessions":[{"sessionId":"old","cwd":"/x","y":null}]}`) {
		t.Errorf("list: %s", got)
	}
	load := r.ask("session/load", `{"sessionId":"old","cwd":`+quote(r.folder)+`,"mcpServers":[],"_meta":{"k":1.0}}`)
	turn := r.prompt("old", "go")
	if got := r.result(load); !same(got, `{"x":[1],"_meta":null}`) && !same(got, `{"x":[1.0],"_meta":null}`) {
		t.Errorf("load: %s", got)
	}
	if got := r.result(turn); !strings.Contains(got, "end_turn") {
		t.Errorf("the turn: %s", got)
	}
	if got := r.got("session/load"); !strings.Contains(got, `"_meta":{"k":1.0}`) {
		t.Errorf("the agent got %s", got)
	}
	var order []string
	r.mu.Lock()
	for _, l := range r.lines {
		switch {
		case strings.Contains(l, "history"):
			order = append(order, "history")
		case strings.Contains(l, `"id":`+load):
			order = append(order, "answer")
		case strings.Contains(l, `"now"`):
			order = append(order, "now")
		}
	}
	r.mu.Unlock()
	if got := strings.Join(order, " "); got != "history answer now" {
		t.Errorf("order: %s", got)
	}
	rows := strings.Join(r.updates(), "\n")
	if strings.Contains(rows, "this turn changed") {
		t.Errorf("replay was action: %s", rows)
	}
	if got := r.call("session/fork", `{"sessionId":"old","cwd":`+quote(r.folder)+`,"mcpServers":[]}`); !strings.Contains(got, `"fork-1"`) {
		t.Errorf("fork: %s", got)
	}
	if got := r.call("session/delete", `{"sessionId":"gone"}`); !same(got, `{"d":1}`) {
		t.Errorf("delete: %s", got)
	}
	if got := r.call("session/close", `{"sessionId":"old"}`); !same(got, `{"c":1}`) {
		t.Errorf("close: %s", got)
	}
	if m := r.answer(r.prompt("old", "go")); m.Error == nil {
		t.Errorf("a prompt of a closed session: %s", m.Result)
	}
	if got := r.call("session/resume", `{"sessionId":"old","cwd":`+quote(r.folder)+`,"mcpServers":[]}`); !same(got, `{"r":1}`) {
		t.Errorf("resume: %s", got)
	}
	if got := r.turn("old", "go"); got != "end_turn" {
		t.Errorf("after resume: %s", got)
	}
}
