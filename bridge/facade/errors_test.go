package facade_test

import (
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// An error that is ours says so, and names what the client named.
func TestErrorsOfOurs(t *testing.T) {
	r := newRig(t, `{}`)
	early := r.ask("session/new", `{"cwd":"/","mcpServers":[]}`)
	session := r.open()
	here := `"cwd":` + quote(r.folder) + `,"mcpServers":[]`
	wants := map[string][2]string{early: {"-32600", "say initialize first"}}
	for _, c := range []struct{ method, params, code, message string }{
		{"initialize", hello, "-32600", "initialize was said already"},
		{"session/new", `{}`, "-32602", "cwd is missing or no absolute path"},
		{"session/new", `{"cwd":"p"}`, "-32602", "cwd is missing or no absolute path"},
		{"session/new", `{` + here + `,"additionalDirectories":["p"]}`, "-32602", "additionalDirectories is no array of absolute paths"},
		{"session/new", `{` + here + `,"additionalDirectories":"/p"}`, "-32602", "additionalDirectories is no array of absolute paths"},
		{"session/load", `{` + here + `}`, "-32602", "sessionId is missing"},
		{"session/load", `{` + here + `,"sessionId":7}`, "-32602", "sessionId is missing"},
		{"session/load", `{` + here + `,"sessionId":"old"}`, "-32601", "Fake does not offer session/load"},
		{"session/close", `{}`, "-32602", "sessionId is missing"},
		{"session/prompt", `{"prompt":[]}`, "-32602", "sessionId is missing"},
		{"session/prompt", `{"sessionId":"nope","prompt":[]}`, "-32002", `no session "nope"`},
		{"session/prompt", `{"sessionId":` + quote(session) + `}`, "-32602", "prompt is no array of content blocks"},
		{"session/prompt", `{"sessionId":` + quote(session) + `,"prompt":"go"}`, "-32602", "prompt is no array of content blocks"},
	} {
		wants[r.ask(c.method, c.params)] = [2]string{c.code, c.message}
	}
	// Behind a load that fails.
	r.ask("session/load", r.at("lost"))
	wants[r.prompt("lost", "go")] = [2]string{"-32002", `no session "lost"`}
	for id, want := range wants {
		m := r.answer(id)
		code, _ := rpc.Member(m.Error, "code")
		data, _ := rpc.Member(m.Error, "data")
		if got := memberOf(m.Error, "message"); string(code) != want[0] || got != want[1] || memberOf(data, "by") != "sallyport" {
			t.Errorf("%s was answered with %s%s, want %s", id, m.Result, m.Error, strings.Join(want[:], " "))
		}
	}
}

// A load behind one of the same conversation that failed is no worse for it.
func TestLoad_BehindOneThatFailed(t *testing.T) {
	r := newRig(t, `{`+keeps+`}`)
	r.call("initialize", hello)
	bad := r.ask("session/load", `{"sessionId":"old","cwd":`+quote(r.folder+"/nowhere")+`,"mcpServers":[]}`)
	good := r.ask("session/load", r.at("old"))
	if m := r.answer(bad); m.Error == nil {
		t.Errorf("a load in a folder that is not there: %s", m.Result)
	}
	r.result(good)
	if got := r.turn("old", "go"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}
