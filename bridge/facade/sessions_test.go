package facade_test

import (
	"testing"

	"sallyport/bridge/facade"
)

const keeps = `"capabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"fork":{}}},"on":{
	"session/load":{"before":[{"say":"history"}]},"session/fork":{"answer":{"result":{"sessionId":"fork-1"}}}},
	"prompts":[{"match":"go","steps":[{"say":"well"}]}]`

func (r *rig) at(session string) string {
	return `{"sessionId":` + quote(session) + `,"cwd":` + quote(r.folder) + `,"mcpServers":[]}`
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
