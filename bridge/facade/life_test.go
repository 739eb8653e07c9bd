package facade_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

func TestTurn_PassesByteForByte(t *testing.T) {
	update := `{ "sessionUpdate":"x_unknown","n":1.0,"big":12345678901234567890,"e":1e2,"list":[],"none":null,"_meta":{"b":1,"a":"é\u00e9<>&"},"z":{"y":[{"x":null}]}}`
	r := newRig(t, `{"prompts":[{"steps":[
		{"raw":`+quote(`{"jsonrpc":"2.0","method":"session/update","params":{"q":0.10,"sessionId":"fake-1","update":`+update+`,"_meta":null}}`+"\n")+`},{"say":"one"},{"answer":{"result":{"stopReason":"end_turn","extra":[1.0,null],"_meta":{"m":9007199254740993}}}}
	]}]}`)
	session := r.open()
	if session != "fake-1" {
		t.Errorf("session: got %q, want the agent's own id", session)
	}
	result := r.result(r.prompt(session, "go"))
	if want := `{"stopReason":"end_turn","extra":[1.0,null],"_meta":{"m":9007199254740993}}`; !same(result, want) {
		t.Errorf("result: got %s, want %s", result, want)
	}
	if said := strings.Join(r.frames("session/update"), "\n"); !strings.Contains(said, `"q":0.10,"sessionId":"fake-1","update":`+update+`,"_meta":null`) {
		t.Errorf("the update did not come as it was; got %s", strings.Join(r.updates(), "\n"))
	}
}

func TestInitialize(t *testing.T) {
	r := newRig(t, `{"agent":{"name":"x","version":"7"},"capabilities":{"loadSession":true,"x":[null]}}`)
	result := r.call("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"z":1},"terminal":true,"_meta":{"terminal-auth":true},"subagents":{"x":1},"new":[]},"clientInfo":{"name":"t","version":"1"},"_meta":{"q":1.0}}`)
	caps, _ := rpc.Member([]byte(result), "agentCapabilities")
	if got := string(caps); !strings.Contains(got, `"x":[null]`) {
		t.Errorf("agentCapabilities: got %s", got)
	}
	got := r.got("initialize")
	want := `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"z":1,"writeTextFile":true},"terminal":false,"_meta":{"terminal-auth":true},"subagents":null,"new":[]},"clientInfo":{"name":"t","version":"1"},"_meta":{"q":1.0}}`
	if !same(got, want) {
		t.Errorf("the agent got %s, want %s", got, want)
	}
}

// Whatever version a client asks for, it is answered with the one that is spoken; what
// is no version is refused with it, and the client can ask again.
func TestVersion_OfTheClient(t *testing.T) {
	for _, version := range []string{"0", "1", "2", "65535", "99999999999999999999"} {
		t.Run(version, func(t *testing.T) {
			r := newRig(t, `{}`)
			result := r.call("initialize", `{"protocolVersion":`+version+`,"capabilities":{},"info":{"name":"t","version":"1"}}`)
			if v, _ := rpc.Member([]byte(result), "protocolVersion"); string(v) != "1" {
				t.Errorf("got version %s in %s", v, result)
			}
			if v, _ := rpc.Member([]byte(r.got("initialize")), "protocolVersion"); string(v) != "1" {
				t.Errorf("the agent was asked for version %s", v)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		r := newRig(t, `{}`)
		for _, params := range []string{`{}`, `[]`, `{"protocolVersion":null}`, `{"protocolVersion":-1}`, `{"protocolVersion":1.0}`, `{"protocolVersion":1e0}`, `{"protocolVersion":"1"}`, `{"protocolVersion":{}}`} {
			e := r.answer(r.ask("initialize", params)).Error
			if code, _ := rpc.Member(e, "code"); string(code) != "-32602" || !strings.Contains(string(e), "version 1 of ACP") {
				t.Errorf("%s was answered with %s", params, e)
			}
		}
		if got := r.turn(r.open(), "go"); got != "end_turn" {
			t.Errorf("the turn ended with %s", got)
		}
	})
}

func TestPermission_WithTheAgentsOwnParams(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[
		{"toolCall":{"toolCallId":"call-1","title":"run","kind":"execute","status":"pending","rawInput":{"command":"ls"}}},
		{"request":{"method":"session/request_permission","as":"out","params":{"sessionId":"${session}","x":[null],"toolCall":{"toolCallId":"call-1","y":1.0},
			"options":[{"optionId":"a","name":"Yes","kind":"allow_once","q":{}},{"optionId":"r","name":"No","kind":"reject_once"}],"_meta":{"k":null}}}},
		{"say":"${out}"}]}]}`)
	r.answers("session/request_permission", func(jsontext.Value) string {
		return `"result":{"outcome":{"outcome":"selected","optionId":"a","w":[1.0]},"_meta":{"c":null}}`
	})
	session := r.open()
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("stop reason: got %s", got)
	}
	asked := r.frames("session/request_permission")
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	params, _ := rpc.Member([]byte(asked[0]), "params")
	want := `{"sessionId":"fake-1","x":[null],"toolCall":{"toolCallId":"call-1","y":1.0},"options":[{"optionId":"a","name":"Yes","kind":"allow_once","q":{}},{"optionId":"r","name":"No","kind":"reject_once"}],"_meta":{"k":null}}`
	if !sameSet(string(params), want) {
		t.Errorf("asked %s, want %s", params, want)
	}
	said := strings.Join(r.updates(), "\n")
	if !strings.Contains(said, `\"w\":[1.0]`) || !strings.Contains(said, `\"c\":null`) {
		t.Errorf("the client's answer did not come to the agent as it was: %s", said)
	}
}

func TestDirtyBuffer_IsReadAndMerged(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[
		{"read":{"path":"${cwd}/a.txt","as":"old"}},
		{"ask":{"toolCall":{"toolCallId":"call-1","kind":"edit","title":"edit","content":[{"type":"diff","path":"${cwd}/a.txt","oldText":"one\n","newText":"ONE\n"}]}}},
		{"notify":{"method":"_ready","params":{}}},
		{"request":{"method":"_wait","params":{"sessionId":"${session}"}}},
		{"write":{"path":"${cwd}/a.txt","replace":{"in":"old","old":"one","new":"ONE"}}},
		{"say":"${old}"}]}]}`)
	r.disk("a.txt", "one\ntwo\nthree\n")
	r.setBuffer("a.txt", "one\ntwo unsaved\nthree\n")
	r.answers("session/request_permission", func(p jsontext.Value) string {
		return `"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`
	})
	r.answers("_wait", func(jsontext.Value) string {
		r.setBuffer("a.txt", "one\ntwo unsaved\nthree typed\n")
		return `"result":{}`
	})
	session := r.open()
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("stop reason: got %s", got)
	}
	if got, want := r.buffer("a.txt"), "ONE\ntwo unsaved\nthree typed\n"; got != want {
		t.Errorf("buffer: got %q, want %q", got, want)
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "two unsaved") {
		t.Errorf("the agent did not read the buffer: %s", said)
	}
}

func TestCancel_EndsTheTurnAndItsPermission(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"say":"begun"},{"ask":{"as":"x"}},{"waitCancel":true},{"answer":"cancelled"}]}]}`)
	asked := make(chan struct{})
	r.answers("session/request_permission", func(jsontext.Value) string { close(asked); return "" })
	session := r.open()
	id := r.prompt(session, "go")
	<-asked
	r.notify("session/cancel", `{"sessionId":"fake-1"}`)
	if got := r.result(id); !strings.Contains(got, `"cancelled"`) {
		t.Errorf("got %s", got)
	}
	r.find("withdrawal of the question", func(m rpc.Message) bool { return string(m.Method) == "$/cancel_request" })
}

func TestUnknownMethods_BothWays(t *testing.T) {
	r := newRig(t, `{
		"on":{"_x/ask":{"answer":{"result":{"n":1.0,"z":null}}},"_x/bad":{"answer":{"error":{"code":-31999,"message":"no & <no>","data":{"why":[null,1.5]}}}}},
		"prompts":[{"steps":[{"notify":{"method":"_x/told","params":{"sessionId":"${session}","v":2.0}}},
			{"request":{"method":"_x/client","params":{"sessionId":"${session}","v":[null]},"id":"str-1","as":"out"}},{"say":"${out}"},
			{"request":{"method":"_x/fails","params":{"sessionId":"${session}"},"as":"bad"}},{"say":"${bad.code} ${bad.error}"}]}]}`)
	r.answers("_x/client", func(jsontext.Value) string { return `"result":{"deep":[1.0,{"k":null}]}` })
	r.answers("_x/fails", func(jsontext.Value) string {
		return `"error":{"code":-12345,"message":"client says no","data":[1.0]}`
	})
	session := r.open()
	if got, want := r.call("_x/ask", `{"sessionId":"fake-1","p":3.0}`), `{"n":1.0,"z":null}`; !same(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	m := r.answer(r.ask("_x/bad", `{"sessionId":"fake-1"}`))
	if want := `{"code":-31999,"message":"no & <no>","data":{"why":[null,1.5]}}`; !sameSet(string(m.Error), want) {
		t.Errorf("error: got %s, want %s", m.Error, want)
	}
	r.notify("_x/notice", `{"sessionId":"fake-1","w":5.0}`)
	if got, want := r.got("_x/notice"), `{"sessionId":"fake-1","w":5.0}`; !same(got, want) {
		t.Errorf("notification: got %s, want %s", got, want)
	}
	r.turn(session, "go")
	told := r.frames("_x/told")
	if len(told) != 1 || !strings.Contains(told[0], `"v":2.0`) {
		t.Errorf("told: got %q", told)
	}
	said := strings.Join(r.updates(), "\n")
	for _, want := range []string{`{\"deep\":[1.0,{\"k\":null}]}`, `-12345 client says no`} {
		if !strings.Contains(said, want) {
			t.Errorf("the agent did not get %s: %s", want, said)
		}
	}
}

func TestClientCancelsARequest(t *testing.T) {
	r := newRig(t, `{"on":{"_slow":{"answer":"never"}},"capabilities":{}}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	r.open()
	id := r.ask("_slow", `{"sessionId":"fake-1"}`)
	r.got("_slow")
	r.notify("$/cancel_request", `{"requestId":`+id+`}`)
	r.got("$/cancel_request")
	if m := r.answer(id); !strings.Contains(string(m.Error), "-32800") {
		t.Errorf("got %s %s", m.Result, m.Error)
	}
}

// sameSet is same where the order of members does not count, for what passed the
// scripted agent, which encodes its steps anew.
func sameSet(a, b string) bool {
	x, y := jsontext.Value(a), jsontext.Value(b)
	return sorted(x) == sorted(y)
}

func sorted(v jsontext.Value) string {
	v = append(jsontext.Value(nil), v...)
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return "not JSON: " + string(v)
	}
	return string(v)
}
