package facade_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// What is no message costs itself alone.
func TestGarbage_FromTheClient(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"say":"well"}]}]}`)
	r.write1("not json")
	r.write1(`{"jsonrpc":"2.0","id":7`)
	r.write1(`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`)
	r.write1("\x00\xff\xfe{}")
	r.write1(`{"jsonrpc":"2.0","id":8,"method":"session/new","params":{}}`) // before initialize
	if m := r.answer("8"); m.Error == nil {
		t.Error("session/new before initialize was answered with a result")
	}
	session := r.open()
	for _, bad := range []string{
		`{"cwd":"relative","mcpServers":[]}`, `{"mcpServers":[]}`, `[]`, `{"cwd":7}`, `{"cwd":"/x","additionalDirectories":{}}`,
	} {
		if m := r.answer(r.ask("session/new", bad)); m.Error == nil {
			t.Errorf("session/new with %s: got %s", bad, m.Result)
		}
	}
	for _, bad := range []string{`{}`, `{"sessionId":"nobody","prompt":[]}`, `{"sessionId":"fake-1","prompt":7}`, `{"sessionId":"fake-1"}`} {
		if m := r.answer(r.ask("session/prompt", bad)); m.Error == nil {
			t.Errorf("session/prompt with %s: got %s", bad, m.Result)
		}
	}
	r.notify("session/cancel", `{"sessionId":"nobody"}`)
	r.notify("$/cancel_request", `{"requestId":[]}`)
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

func TestGarbage_FromTheAgent(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"noise":"a log line"},{"raw":"{\"jsonrpc\":\"2.0\",\"id\":5\n"},{"raw":"[]\n"},
		{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"fake-1\",\"update\":7}}\n"},
		{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"child\",\"update\":{\"sessionUpdate\":\"plan\",\"entries\":[]}}}\n"},
		{"say":"well"}]}]}`)
	session := r.open()
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	said := strings.Join(r.frames("session/update"), "\n")
	for _, want := range []string{`"update":7`, `"sessionId":"child"`, "well"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s did not pass: %s", want, said)
		}
	}
}

// An agent does not speak in the name of another's session.
func TestAgent_InTheNameOfAnother(t *testing.T) {
	r := newRig(t, `{"prompts":[{"match":"spoof","steps":[
		{"raw":"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"fake-1\",\"update\":{\"sessionUpdate\":\"plan\",\"entries\":[],\"spoofed\":true}}}\n"},{"say":"done"}]}]}`)
	first := r.open()
	second := r.begin() // another process, whose session has the same name
	if first == second || second != "fake-1~2" {
		t.Fatalf("sessions %q and %q", first, second)
	}
	if got := r.turn(second, "spoof"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	// In its own words that is its own session: the client's name of it is put there.
	for _, f := range r.frames("session/update") {
		if strings.Contains(f, "spoofed") && !strings.Contains(f, `"sessionId":"fake-1~2"`) {
			t.Errorf("the first session got what the second's agent said: %s", f)
		}
	}
}

// Nor does one that has no session yet.
func TestAgentWithoutASession_InTheNameOfAnother(t *testing.T) {
	r := newRig(t, `{"on":{"session/new":{"before":[{"request":{"method":"elicitation/create","params":{"sessionId":"fake-1","mode":"form","message":"your key?"},"as":"out"}}]}},
		"prompts":[{"steps":[{"say":"it got ${out}${out.code}"}]}]}`)
	r.answers("elicitation/create", func(jsontext.Value) string { return `"result":{"action":"cancel"}` })
	r.open() // its agent speaks of a session that nobody has
	second := r.begin()
	if n := len(r.frames("elicitation/create")); n != 1 {
		t.Errorf("the client was asked %d times, want once", n)
	}
	r.turn(second, "go")
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "it got -32602") {
		t.Errorf("the second agent was answered %s", said)
	}
}

func TestAgentDies_ClientIsTold(t *testing.T) {
	r := newRig(t, `{"prompts":[{"match":"die","steps":[{"say":"last"},{"noise":{"text":"why it died","to":"stderr"}},{"crash":true}]},{"match":"well","steps":[{"say":"again"}]}],
		"capabilities":{"loadSession":true},"on":{"session/load":{"answer":{"result":{}}}}}`)
	session := r.open()
	m := r.answer(r.prompt(session, "die"))
	if m.Error == nil || !strings.Contains(string(m.Error), "killed") {
		t.Errorf("got %s %s", m.Result, m.Error)
	}
	if got := r.turn(session, "well"); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
	rows := r.call("session/prompt", `{"sessionId":"fake-1","prompt":[{"type":"text","text":"/turns"}]}`)
	if !strings.Contains(rows, "end_turn") {
		t.Errorf("/turns: %s", rows)
	}
	if said := strings.Join(r.updates(), "\n"); strings.Count(said, "turn fake") < 2 {
		t.Errorf("the record has not both turns: %s", said)
	}
}

// More requests than can be open are refused; none is lost.
func TestFlood_OfRequests(t *testing.T) {
	r := newRig(t, `{"on":{"_never":{"answer":"never"}}}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	r.open()
	ids := make([]string, 1100)
	for i := range ids {
		ids[i] = r.ask("_never", `{"sessionId":"fake-1"}`)
	}
	refused := r.answer(ids[len(ids)-1])
	if !strings.Contains(string(refused.Error), "too many requests") {
		t.Errorf("the last one: %s %s", refused.Result, refused.Error)
	}
	for _, id := range ids {
		r.notify("$/cancel_request", `{"requestId":`+id+`}`)
	}
	for _, id := range ids {
		r.answer(id)
	}
}

// A client that does not read stops the agent; nothing is lost, and order holds.
func TestStalledClient_IsBackPressure(t *testing.T) {
	const n = 60_000
	r := newRig(t, fmt.Sprintf(`{"prompts":[{"steps":[{"flood":{"n":%d,"size":400}}]}]}`, n))
	in, out := r.hijack()
	lines := bufio.NewReaderSize(out, 1<<16)
	say := func(id int, method, params string) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	}
	next := func() rpc.Message {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		m, err := rpc.Scan(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	until := func(id string) {
		t.Helper()
		for m := next(); string(m.ID) != id; m = next() {
		}
	}
	say(1, "initialize", hello)
	until("1")
	say(2, "session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	until("2")
	say(3, "session/prompt", `{"sessionId":"fake-1","prompt":[{"type":"text","text":"go"}]}`)
	r.got("session/prompt")
	time.Sleep(500 * time.Millisecond) // so that what can pile up does
	at := 0
	for {
		m := next()
		if string(m.ID) == "3" {
			break
		}
		update, _ := m.Param("update")
		content, _ := rpc.Member(update, "content")
		text := memberOf(content, "text")
		if ours(m) || len(text) < 8 {
			continue
		}
		if want := fmt.Sprintf("%08d", at); text[:8] != want {
			t.Fatalf("chunk %d begins with %s", at, text[:8])
		}
		at++
	}
	if at != n {
		t.Errorf("%d chunks came of %d", at, n)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}

// A message of the largest size passes in both directions, and a larger one costs
// itself alone.
func TestLargeMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 300 MB")
	}
	const size = 63 << 20
	r := newRig(t, fmt.Sprintf(`{"prompts":[{"match":"large","steps":[{"hugeLine":{"bytes":%d}},{"say":"well"}]},
		{"match":"huge","steps":[{"hugeLine":{"bytes":%d}},{"say":"well"}]}],"on":{"_big":{"answer":{"result":{"n":1}}}}}`, size, 65<<20))
	session := r.open()
	if got := r.turn(session, "large"); got != "end_turn" {
		t.Errorf("large: %s", got)
	}
	longest := 0
	for _, f := range r.frames("session/update") {
		longest = max(longest, len(f))
	}
	if longest < size-1 {
		t.Errorf("the longest message has %d bytes", longest)
	}
	if got := r.call("_big", `{"sessionId":"fake-1","blob":"`+strings.Repeat("x", size)+`"}`); !same(got, `{"n":1}`) {
		t.Errorf("a large request: got %s", got)
	}
	if got := r.turn(session, "huge"); got != "end_turn" {
		t.Errorf("huge: %s", got)
	}
}

// A client that goes away in the middle of a turn, with a question open.
func TestClientCloses_InMidTurn(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"ask":{}},{"say":"not reached"}]}]}`)
	asked := make(chan struct{})
	r.answers("session/request_permission", func(jsontext.Value) string { close(asked); return "" })
	session := r.open()
	r.prompt(session, "go")
	<-asked // the rig's end closes the stream and waits for the facade
}
