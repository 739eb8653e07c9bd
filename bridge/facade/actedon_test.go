package facade_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// The requests of a client that are acted on here pass whole, too, and so do the
// agent's answers: unknown members, `_meta`, the digits of numbers, any order.
func TestLossless_ActedOn(t *testing.T) { generated(t, 7, actedOn) }

func actedOn(t *testing.T, g *generator) {
	methods := []struct{ method, def string }{
		{"session/load", "LoadSessionRequest"}, {"session/set_mode", "SetSessionModeRequest"},
		{"session/set_config_option", "SetSessionConfigOptionRequest"}, {"session/list", "ListSessionsRequest"},
		{"session/fork", "ForkSessionRequest"}, {"session/resume", "ResumeSessionRequest"}, {"authenticate", "AuthenticateRequest"},
		{"session/close", "CloseSessionRequest"}, {"session/delete", "DeleteSessionRequest"},
	}
	results, on := map[string]string{}, []string{}
	for i, m := range methods {
		members := map[string]string{"n": g.number(), "v": g.anything(false), "_meta": g.anything(true)}
		if m.method == "session/fork" {
			members["sessionId"] = `"fork-1"`
		}
		results[m.method] = strings.ReplaceAll(g.object(members), "${", "")
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":${id},"result":%s}`, results[m.method])
		if i == 1 {
			answer = `{"jsonrpc":"2.0","id":${id},"error":{"code":-7,"message":"<no>","data":[1.0,null]}}`
		}
		on = append(on, fmt.Sprintf(`%q:{"answer":{"raw":%s}}`, m.method, quote(answer+"\n")))
	}
	r := newRig(t, `{"capabilities":{"loadSession":true,"sessionCapabilities":{"list":{},"close":{},"resume":{},"fork":{},"delete":{}}},"on":{`+strings.Join(on, ",")+`}}`)
	for name, value := range map[string]string{"cwd": quote(r.folder), "mcpServers": "[]", "additionalDirectories": "[]", "sessionId": `"fake-1"`} {
		g.fixed[name] = value
	}
	r.call("initialize", hello)
	asked := map[string]string{"session/new": g.of("NewSessionRequest")}
	r.call("session/new", asked["session/new"])
	for _, m := range methods {
		if g.defs[m.def] == nil {
			continue // of the unstable schema only
		}
		asked[m.method] = g.of(m.def)
		answer := r.answer(r.ask(m.method, asked[m.method]))
		switch {
		case m.method == "session/set_mode":
			if want := `{"code":-7,"message":"<no>","data":[1.0,null]}`; string(answer.Error) != want {
				t.Errorf("%s: got %s, %s, want %s", m.method, answer.Result, answer.Error, want)
			}
		case string(answer.Result) != results[m.method]:
			t.Errorf("%s was answered\n%s\nwant\n%s\n%s", m.method, answer.Result, results[m.method], answer.Error)
		}
	}
	for _, line := range r.received() {
		m, err := rpc.Scan([]byte(line))
		if err != nil || m.Kind != rpc.Request {
			continue
		}
		if want, ok := asked[string(m.Method)]; ok {
			if string(m.Params) != want {
				t.Errorf("%s: the agent got\n%s\nwant\n%s", m.Method, m.Params, want)
			}
			delete(asked, string(m.Method))
		}
	}
	for method := range asked {
		t.Errorf("%s did not come to the agent", method)
	}
}
