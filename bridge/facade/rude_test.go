package facade_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// line is a step that writes a message of the agent's as it stands.
func line(s string) string { return `{"raw":` + quote(s+"\n") + `}` }

// bytesOf is a step that writes bytes that are no text.
func bytesOf(s string) string {
	return `{"raw":{"base64":` + quote(base64.StdEncoding.EncodeToString([]byte(s))) + `}}`
}

// What an agent says that is wrong costs itself alone: the turn goes on, the client
// gets nothing of it, and the turn is on the record.
func TestRudeAgent(t *testing.T) {
	const lost = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"fake-1","update":{"sessionUpdate":"lost","x":"`
	for name, steps := range map[string]string{
		"no UTF-8":               bytesOf(lost + "\xff\xfe\"}}}\n"),
		"a surrogate as UTF-8":   bytesOf(lost + "\xed\xa0\x80\"}}}\n"),
		"a control character":    bytesOf(lost + "\x00\"}}}\n"),
		"half a line":            bytesOf(lost + "\n"),
		"binary":                 bytesOf(strings.Repeat("\x00\x01\xfe\xff\n", 1000)),
		"a batch":                line(`[` + lost + `"}}}]`),
		"an answer to nothing":   line(`{"jsonrpc":"2.0","id":999999,"result":{"lost":1}}`) + "," + line(`{"jsonrpc":"2.0","id":"c1","result":{"lost":1}}`) + "," + line(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"lost"}}`) + "," + line(`{"jsonrpc":"2.0","id":-1,"result":null}`),
		"an answer of both":      line(`{"jsonrpc":"2.0","id":999999,"result":{"lost":1},"error":{"code":1,"message":"lost"}}`),
		"a request with no name": line(`{"jsonrpc":"2.0","id":5,"method":7,"params":{"lost":1}}`),
		"an id that is none":     line(`{"jsonrpc":"2.0","id":{},"method":"_lost","params":{}}`),
		"another JSON-RPC":       line(`{"jsonrpc":"1.0","method":"_lost","params":{}}`) + "," + line(`{"method":"_lost"}`),
		"params that are none":   line(`{"jsonrpc":"2.0","method":"_lost","params":"lost"}`),
		"a member twice":         line(`{"jsonrpc":"2.0","method":"_lost","params":{},"method":"_lost"}`),
		"nested too deeply":      line(`{"jsonrpc":"2.0","method":"_lost","params":{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"prompts":[{"match":"rude","steps":[`+steps+`,{"say":"well"}]},{"match":"next","steps":[{"say":"and on"}]}]}`)
			session := r.open()
			for _, prompt := range []string{"rude", "next"} {
				if got := r.turn(session, prompt); got != "end_turn" {
					t.Errorf("turn %s ended with %s", prompt, got)
				}
			}
			r.mu.Lock()
			said := strings.Join(r.lines, "\n")
			r.mu.Unlock()
			if strings.Contains(said, "lost") || !strings.Contains(said, "well") || !strings.Contains(said, "and on") {
				t.Errorf("the client got %s", said)
			}
			if got := r.ends(); got != "end_turn end_turn" {
				t.Errorf("the turns on the record ended with %s", got)
			}
		})
	}
}

// An agent that answers twice: the first answer counts.
func TestRudeAgent_AnswersTwice(t *testing.T) {
	r := newRig(t, `{"on":{"_x":[{"answer":{"result":{"n":1},"twice":true}},{"answer":{"result":{"n":2}}}]},
		"prompts":[{"match":"twice","steps":[{"answer":{"stopReason":"end_turn","twice":true}}]},{"match":"next","steps":[{"say":"on"},{"answer":"refusal"}]}]}`)
	session := r.open()
	for i := 1; i <= 2; i++ {
		if got, want := r.call("_x", `{"sessionId":"fake-1"}`), fmt.Sprintf(`{"n":%d}`, i); got != want {
			t.Errorf("request %d was answered with %s", i, got)
		}
	}
	r.turn(session, "twice")
	if got := r.turn(session, "next"); got != "refusal" {
		t.Errorf("the turn behind the second answer ended with %s", got)
	}
	for id, n := range r.answered() {
		if n != 1 {
			t.Errorf("the client got %d answers to %s", n, id)
		}
	}
	if got := r.ends(); got != "end_turn refusal" {
		t.Errorf("the turns on the record ended with %s", got)
	}
}

// answered counts the answers to each request of the client.
func (r *rig) answered() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]int{}
	for _, l := range r.lines {
		if m, err := rpc.Scan([]byte(l)); err == nil && m.Kind == rpc.Response {
			all[string(m.ID)]++
		}
	}
	return all
}

// Requests that have one id at once are all answered, those that pass and those that
// are acted on here.
func TestRudeAgent_OneIDForAll(t *testing.T) {
	const n = 20
	var steps []string
	for i := range n {
		steps = append(steps, line(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"_ask","params":{"n":%d}}`, i)),
			line(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"fake-1","path":"${cwd}/f%d"}}`, i)),
			line(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"fake-1","toolCall":{"toolCallId":"t%d","kind":"execute"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`, i)))
	}
	r := newRig(t, `{"prompts":[{"steps":[`+strings.Join(steps, ",")+`,{"request":{"method":"_settled","params":{}}}]}]}`)
	r.answers("_ask", func(p jsontext.Value) string { return `"result":{"asked":` + string(p) + `}` })
	r.answers("session/request_permission", func(jsontext.Value) string {
		return `"result":{"outcome":{"outcome":"selected","optionId":"a"}}`
	})
	for i := range n {
		r.disk(fmt.Sprintf("f%d", i), fmt.Sprintf("text %d", i))
	}
	r.answers("_settled", func(jsontext.Value) string { return "" })
	turn := r.prompt(r.open(), "go")
	settled := r.find("_settled", func(m rpc.Message) bool { return string(m.Method) == "_settled" })
	for i := range n {
		for _, want := range []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"asked":{"n":%d}}}`, i), fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"content":"text %d"}}`, i)} {
			r.heard(want, 1)
		}
	}
	r.heard(`{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`, n)
	r.write1(`{"jsonrpc":"2.0","id":` + string(settled.ID) + `,"result":{}}`)
	if got := member(t, r.result(turn), "stopReason"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

// heard waits until the agent has got a line so often, and no more.
func (r *rig) heard(want string, times int) {
	r.t.Helper()
	r.until(fmt.Sprintf("%s %d times", want, times), func() bool {
		n := 0
		for _, l := range r.received() {
			if l == want {
				n++
			}
		}
		if n > times {
			r.t.Fatalf("the agent got %s %d times", want, n)
		}
		return n == times
	})
}

// An agent that goes in the middle of a turn, or of a line: the client is told, and the
// next prompt goes on.
func TestRudeAgent_Goes(t *testing.T) {
	for name, steps := range map[string]string{
		"with status 0":           `{"exit":0}`,
		"in the middle of a line": `{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"session/upd"},{"exit":0}`,
		"with a question open":    line(`{"jsonrpc":"2.0","id":"q","method":"_ask","params":{}}`) + `,{"exit":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"capabilities":{"loadSession":true},"prompts":[{"match":"go","steps":[{"say":"last words"},`+steps+`]},{"match":"next","steps":[{"say":"on"}]}]}`)
			session := r.open()
			m := r.answer(r.prompt(session, "go"))
			if !strings.Contains(string(m.Error), "the next prompt starts it again") {
				t.Errorf("the prompt was answered with %s %s", m.Result, m.Error)
			}
			if !strings.Contains(strings.Join(r.updates(), "\n"), "last words") {
				t.Error("what it said last is lost")
			}
			if got := r.turn(session, "next"); got != "end_turn" {
				t.Errorf("the next turn ended with %s", got)
			}
			if got := r.ends(); !strings.HasSuffix(got, " end_turn") || strings.Count(got, " ") != 1 {
				t.Errorf("the turns on the record ended with %q", got)
			}
		})
	}
}

// What a client says that is wrong costs itself alone, in the middle of a turn, too.
func TestRudeClient(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		code  string // of the one error that answers it; "": there is none
	}{
		"no UTF-8":              {[]string{"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"_lost\",\"params\":{\"x\":\"\xff\"}}"}, "-32700"},
		"half a message":        {[]string{`{"jsonrpc":"2.0","id":77,"method":"_lost","params":{`}, "-32700"},
		"a batch":               {[]string{`[{"jsonrpc":"2.0","id":77,"method":"_lost"}]`}, "-32600"},
		"answers to nothing":    {[]string{`{"jsonrpc":"2.0","id":999999,"result":{}}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":null,"result":1}`}, ""},
		"no name":               {[]string{`{"jsonrpc":"2.0","id":77,"method":{},"params":{}}`}, "-32600"},
		"an id that is none":    {[]string{`{"jsonrpc":"2.0","id":[],"method":"_lost","params":{}}`}, "-32600"},
		"another JSON-RPC":      {[]string{`{"jsonrpc":"1.0","id":77,"method":"_lost","params":{}}`}, "-32600"},
		"params that are none":  {[]string{`{"jsonrpc":"2.0","id":77,"method":"_lost","params":"lost"}`}, "-32600"},
		"nested too deeply":     {[]string{`{"jsonrpc":"2.0","id":77,"method":"_lost","params":{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`}, "-32600"},
		"a prompt that is none": {[]string{`{"jsonrpc":"2.0","id":77,"method":"session/prompt","params":["fake-1"]}`}, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"prompts":[{"match":"go","steps":[{"say":"begun"},{"request":{"method":"_wait","params":{}}},{"say":"well"}]}]}`)
			r.answers("_wait", func(jsontext.Value) string {
				for _, l := range c.lines {
					r.write1(l)
				}
				return `"result":{}`
			})
			session := r.open()
			if got := r.turn(session, "go"); got != "end_turn" {
				t.Errorf("the turn ended with %s", got)
			}
			if c.code != "" {
				r.find("an error "+c.code, func(m rpc.Message) bool {
					code, _ := rpc.Member(m.Error, "code")
					return string(code) == c.code && (m.ID == "77" || m.ID == "")
				})
			}
			for id, n := range r.answered() {
				if n != 1 {
					t.Errorf("%d answers to %s", n, id)
				}
			}
			if heard := strings.Join(r.received(), "\n"); strings.Contains(heard, "lost") {
				t.Errorf("the agent got %s", heard)
			}
			if got := r.ends(); got != "end_turn" {
				t.Errorf("the turns on the record ended with %s", got)
			}
		})
	}
}

// A client that gives all its requests one id gets as many answers; one that answers
// twice is heard once.
func TestRudeClient_OneIDForAll(t *testing.T) {
	const n = 20
	r := newRig(t, `{"on":{"_x":{"answer":{"result":{"x":1}}}},"prompts":[{"steps":[
		{"request":{"method":"_ask","params":{},"as":"out"}},{"ask":{"toolCall":{"kind":"execute"},"then":{"allow":[{"say":"${out} allowed"}]}}}]}]}`)
	session := r.open()
	for range n {
		r.write1(`{"jsonrpc":"2.0","id":"same","method":"_x","params":{"sessionId":"fake-1"}}`)
	}
	r.until("all answers", func() bool { return r.answered()[`"same"`] == n })
	for _, method := range []string{"_ask", "session/request_permission"} {
		r.answers(method, func(jsontext.Value) string { return "" })
	}
	turn := r.prompt(session, "go")
	for _, q := range []struct{ method, first, second string }{
		{"_ask", `{"n":1}`, `{"n":2}`},
		{"session/request_permission", `{"outcome":{"outcome":"selected","optionId":"allow"}}`, `{"outcome":{"outcome":"selected","optionId":"reject"}}`},
	} {
		m := r.find(q.method, func(m rpc.Message) bool { return string(m.Method) == q.method })
		for _, result := range []string{q.first, q.second} {
			r.write1(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
		}
	}
	if got := member(t, r.result(turn), "stopReason"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, `{\"n\":1} allowed`) {
		t.Errorf("the agent was told otherwise: %s", said)
	}
}
