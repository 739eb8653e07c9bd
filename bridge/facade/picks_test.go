package facade_test

import (
	"strings"
	"testing"

	"sallyport/bridge/facade"
)

const old = `"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"plan","name":"Plan","description":"reads only"}]}`

// Our config option hides no modes from a client that then heeds config options only:
// those of an agent that has none are one, too.
func TestModes_BesideOurOption(t *testing.T) {
	r := newRig(t, `{`+old+`,"prompts":[{"match":"switch","steps":[{"update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}]},
		{"match":"tell","steps":[{"update":{"sessionUpdate":"config_option_update","configOptions":[{"id":"x","name":"X","type":"select","currentValue":"a","options":[{"value":"a","name":"A"}]}]}},
			{"update":{"sessionUpdate":"current_mode_update","currentModeId":"plan"}}]}]}`, func(r *rig) {
		r.front.Choices = func() []facade.Choice { return []facade.Choice{{ID: "fake", Name: "Fake"}} }
	})
	r.call("initialize", hello)
	opened := r.call("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	option := func(current string) string {
		return `{"id":"sallyport.mode","name":"Mode","category":"mode","type":"select","currentValue":"` + current +
			`","options":[{"value":"ask","name":"Ask"},{"value":"plan","name":"Plan","description":"reads only"}],"_meta":{"sallyport":{}}},{"id":"sallyport.agent"`
	}
	if !strings.Contains(opened, option("ask")) || !strings.Contains(opened, old) {
		t.Errorf("session/new: %s", opened)
	}
	if err := schema(t, "schema.json").check("NewSessionResponse", opened); err != nil {
		t.Error(err)
	}
	session := member(t, opened, "sessionId")
	pick := func(id, value string) string {
		return `{"sessionId":` + quote(session) + `,"configId":"` + id + `","value":` + value + `}`
	}
	answer := r.call("session/set_config_option", pick("sallyport.mode", `"plan"`))
	if !strings.Contains(answer, option("plan")) {
		t.Errorf("set_config_option: %s", answer)
	}
	if got, want := r.got("session/set_mode"), `{"sessionId":`+quote(session)+`,"modeId":"plan"}`; !same(got, want) {
		t.Errorf("the agent got %s, want %s", got, want)
	}
	if answer = r.call("session/set_config_option", pick("sallyport.agent", `"fake"`)); !strings.Contains(answer, option("plan")) {
		t.Errorf("the options of now: %s", answer)
	}
	r.turn(session, "switch")
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, `"sessionUpdate":"config_option_update","configOptions":[`+option("ask")) {
		t.Errorf("the agent's own switch was told as %s", said)
	}
	for _, value := range []string{`"nope"`, `7`} {
		if m := r.answer(r.ask("session/set_config_option", pick("sallyport.mode", value))); m.Error == nil {
			t.Errorf("mode %s: %s", value, m.Result)
		}
	}
	if answer = r.call("session/set_config_option", pick("sallyport.agent", `"fake"`)); !strings.Contains(answer, option("ask")) {
		t.Errorf("what was refused is picked: %s", answer)
	}
	// Once it tells options of its own these are all.
	before := len(r.updates())
	r.turn(session, "tell")
	if said := strings.Join(r.updates()[before:], "\n"); strings.Contains(said, "sallyport.mode") || !strings.Contains(said, `"id":"x"`) {
		t.Errorf("the agent's options were told as %s", said)
	}
	if answer = r.call("session/set_config_option", pick("sallyport.agent", `"fake"`)); strings.Contains(answer, "sallyport.mode") || !strings.Contains(answer, `"id":"x"`) {
		t.Errorf("the options of now: %s", answer)
	}
	checkAuthored(t, r)
}

// Nothing is added where there is no option of ours.
func TestModes_PassWithoutOurOption(t *testing.T) {
	r := newRig(t, `{`+old+`}`)
	r.call("initialize", hello)
	opened := r.call("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	if strings.Contains(opened, "configOptions") {
		t.Errorf("session/new: %s", opened)
	}
}
