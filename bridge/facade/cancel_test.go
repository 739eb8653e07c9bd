package facade_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// Taking a request back passes with all that is said besides the id, in both
// directions: of a request that passes, of a permission, of a prompt.
func TestCancelRequest_PassesWithAllMembers(t *testing.T) {
	generated(t, 44, func(t *testing.T, g *generator) {
		takeBack := func(id string) string {
			g.fixed["requestId"] = id
			return strings.NewReplacer("\n", " ", "${", "$ {").Replace(g.of("CancelRequestNotification"))
		}
		ofPassed, ofPermission, byClient := takeBack(`"q-1"`), takeBack(`"q-2"`), takeBack(`"c9"`)
		step := func(line string) string { return `{"raw":` + quote(line+"\n") + `}` }
		ask := func(id, method, params string) string {
			return step(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
		}
		tell := func(params string) string {
			return step(`{"jsonrpc":"2.0","method":"$/cancel_request","params":` + params + `}`)
		}
		r := newRig(t, `{"on":{"_slow":{"answer":"never"}},"prompts":[{"steps":[`+strings.Join([]string{
			ask(`"q-1"`, "_passed", `{"sessionId":"fake-1"}`), tell(ofPassed),
			ask(`"q-2"`, "session/request_permission", `{"sessionId":"fake-1","toolCall":{"toolCallId":"t","title":"run","kind":"execute"},"options":[{"optionId":"a","name":"Yes","kind":"allow_once"}]}`),
			`{"request":{"method":"_until_asked","params":{"sessionId":"fake-1"}}}`, tell(ofPermission),
		}, ",")+`]}]}`)
		r.config.Timeouts.CancelGraceSeconds = 1
		r.open()

		turn := r.prompt("fake-1", "go")
		r.find("the permission", isMethod("session/request_permission"))
		r.answerTo("_until_asked", `"result":null`)
		for method, said := range map[string]string{"_passed": ofPassed, "session/request_permission": ofPermission} {
			want := withID(t, said, string(r.find(method, isMethod(method)).ID))
			r.find(method+" taken back by "+want, func(m rpc.Message) bool {
				return string(m.Method) == rpc.CancelRequest && string(m.Params) == want
			})
		}
		r.answerTo("_passed", `"error":{"code":-32800,"message":"cancelled"}`)
		r.result(turn)

		r.write1(`{"jsonrpc":"2.0","id":"c9","method":"_slow","params":{"sessionId":"fake-1"}}`)
		r.got("_slow")
		r.notify(rpc.CancelRequest, byClient)
		got := r.got(rpc.CancelRequest)
		id, _ := rpc.Member([]byte(got), "requestId")
		if want := withID(t, byClient, string(id)); got != want || string(id) == `"c9"` {
			t.Errorf("the agent got %s, want %s with its own id", got, want)
		}
		r.answer(`"c9"`)
	})
}

func isMethod(name string) func(rpc.Message) bool {
	return func(m rpc.Message) bool { return string(m.Method) == name }
}

// answerTo answers a request of the facade when it has come.
func (r *rig) answerTo(method, rest string) {
	r.t.Helper()
	r.write1(`{"jsonrpc":"2.0","id":` + string(r.find(method, isMethod(method)).ID) + `,` + rest + `}`)
}

// withID is a $/cancel_request as the other side has to get it.
func withID(t *testing.T, params, id string) string {
	t.Helper()
	changed, err := rpc.SetMember([]byte(params), "requestId", []byte(id))
	if err != nil {
		t.Fatal(err)
	}
	return string(changed)
}

// A prompt that is cancelled is cancelled in the client's words, by whichever
// notification; and so is a session in which nothing runs here.
func TestCancelOfAPrompt_InTheClientsWords(t *testing.T) {
	const meta = `{"why":[1.0,null]}`
	for _, test := range []struct{ name, method, params, want string }{
		{"session/cancel", "session/cancel", `{"x":1.50,"sessionId":"fake-1","_meta":` + meta + `}`, `{"x":1.50,"sessionId":"fake-1","_meta":` + meta + `}`},
		{"$/cancel_request", rpc.CancelRequest, `{"_meta":` + meta + `,"requestId":%s}`, `{"_meta":` + meta + `,"sessionId":"fake-1"}`},
		{"bare", rpc.CancelRequest, `{"requestId":%s}`, `{"sessionId":"fake-1"}`},
		{"odd _meta", rpc.CancelRequest, `{"requestId":%s,"_meta":null}`, `{"_meta":null,"sessionId":"fake-1"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{"prompts":[{"steps":[{"say":"begun"},{"waitCancel":true},{"answer":"cancelled"}]}]}`)
			r.open()
			id := r.prompt("fake-1", "go")
			r.find("begun", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "begun") })
			r.notify(test.method, strings.Replace(test.params, "%s", id, 1))
			if got := r.got("session/cancel"); got != test.want {
				t.Errorf("the agent got %s, want %s", got, test.want)
			}
			if got := member(t, r.result(id), "stopReason"); got != "cancelled" {
				t.Errorf("stop reason: got %s", got)
			}
		})
	}
	t.Run("nothing runs", func(t *testing.T) {
		r := newRig(t, `{}`)
		r.open()
		r.notify("session/cancel", `{"_meta":`+meta+`,"sessionId":"fake-1"}`)
		if got, want := r.got("session/cancel"), `{"_meta":`+meta+`,"sessionId":"fake-1"}`; got != want {
			t.Errorf("the agent got %s, want %s", got, want)
		}
	})
}

// Of what is said in too many words only that is passed which counts.
func TestCancelRequest_TooLong(t *testing.T) {
	r := newRig(t, `{"on":{"_slow":{"answer":"never"}}}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	r.open()
	id := r.ask("_slow", `{"sessionId":"fake-1"}`)
	r.got("_slow")
	r.notify(rpc.CancelRequest, fmt.Sprintf(`{"requestId":%s,"_meta":{"long":%s}}`, id, quote(strings.Repeat("x", 64<<10))))
	if got := r.got(rpc.CancelRequest); len(got) > 30 {
		t.Errorf("the agent got %.100s…", got)
	}
	r.answer(id)
}
