package facade_test

import (
	"strings"
	"testing"

	"sallyport/bridge/facade"
	"sallyport/bridge/rpc"
)

const keeps = `"capabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"fork":{}}},"on":{
	"session/load":{"before":[{"say":"history"}]},"session/fork":{"answer":{"result":{"sessionId":"fork-1"}}}},
	"prompts":[{"match":"go","steps":[{"say":"well"}]}]`

func (r *rig) at(session string) string {
	return `{"sessionId":` + quote(session) + `,"cwd":` + quote(r.folder) + `,"mcpServers":[]}`
}

// An agent that cannot load leaves an open session as it is.
func TestLoad_NotOffered(t *testing.T) {
	r := newRig(t, `{"prompts":[{"match":"go","steps":[{"say":"well"}]}]}`)
	session := r.open()
	for _, method := range []string{"session/load", "session/resume"} {
		for _, id := range []string{session, "other"} {
			m := r.answer(r.ask(method, r.at(id)))
			if code, _ := rpc.Member(m.Error, "code"); string(code) != "-32601" {
				t.Errorf("%s of %s: got %s%s, want an error -32601", method, id, m.Result, m.Error)
			}
		}
	}
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

// A session that is open is opened once more with its own agent and by the name
// that the agent knows, and so is a copy of it.
func TestLoad_OfAnOpenSession(t *testing.T) {
	r := newRig(t, `{`+keeps+`}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice { return []facade.Choice{{ID: "fake", Name: "Fake"}} }
	})
	first := r.open()
	session := r.begin()
	if want := first + "~2"; session != want {
		t.Fatalf("the second session is %s, want %s", session, want)
	}
	r.call("session/set_config_option", `{"sessionId":`+quote(session)+`,"configId":"sallyport.agent","value":"other"}`)
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		answer := r.call(method, r.at(session))
		if !strings.Contains(answer, `"currentValue":"other"`) {
			t.Errorf("%s went to another agent: %s", method, answer)
		}
		if got := r.got(method); memberOf([]byte(got), "sessionId") != first {
			t.Errorf("the agent got %s of %s, want of %s", method, got, first)
		}
		for _, id := range []string{session, first} {
			if got := r.turn(id, "go"); got != "end_turn" {
				t.Errorf("after %s a turn of %s ended with %s", method, id, got)
			}
		}
	}
}

// What begins anew in the place of a conversation that was loaded is no part of it.
func TestLoad_ThenAnotherAgent(t *testing.T) {
	r := newRig(t, `{`+keeps+`}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice { return []facade.Choice{{ID: "fake", Name: "Fake"}} }
	})
	r.call("initialize", hello)
	r.call("session/load", `{"_meta":{"k":1.0},"sessionId":"old","cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	r.call("session/set_config_option", `{"sessionId":"old","configId":"sallyport.agent","value":"other"}`)
	want := `{"_meta":{"k":1.0},"cwd":` + quote(r.folder) + `,"mcpServers":[]}`
	if got := r.got("session/new"); !same(got, want) {
		t.Errorf("the other agent got %s, want %s", got, want)
	}
}

// Resuming tells no history, also where an agent that announces it can only load.
func TestResume_TellsNoHistory(t *testing.T) {
	r := newRig(t, strings.Replace(`{`+keeps+`}`, `"on":{`, `"on":{"session/resume":{"answer":{"error":{"code":-32601,"message":"no such method"}}},`, 1))
	r.call("initialize", hello)
	r.call("session/resume", r.at("old"))
	if got := r.turn("old", "go"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	if said := strings.Join(r.updates(), "\n"); strings.Contains(said, "history") || !strings.Contains(said, "well") {
		t.Errorf("the client was told %s", said)
	}
}
