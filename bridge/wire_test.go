package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

func TestJ1(t *testing.T) {
	r := newRig(t, `{"start": [{"raw": "Ready, using saved sign-in\n\n\u001b[2J\n"}],
	  "prompts": [{"steps": [{"noise": {"text": "junk", "times": 10000}}, {"say": "still here"}]}]}`)
	r.turn("go")
	if r.said() != "still here" {
		t.Errorf("said %q", r.said())
	}
}

func TestJ2(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"raw": {"text": "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"${session}\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"世🎉\"}}}}\n", "chunk": 1}},
	  {"raw": {"text": "stderr 世🎉\n", "chunk": 1, "to": "stderr"}},
	  {"say": "${prompt}"}, {"exit": 3}]}]}`)
	info := r.open()
	_, err := r.prompt(info.ID, "世🎉")
	if got, want := r.said(), "世🎉世🎉"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	gone, ok := err.(*bridge.GoneError)
	if !ok || !strings.Contains(gone.Stderr, "stderr 世🎉") || gone.Exit != "exit status 3" {
		t.Errorf("ended with %v (%+v), want exit 3 and the line from stderr", err, gone)
	}
}

func TestJ3(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 110 MB")
	}
	r := newRig(t, `{"prompts": [{"steps": [
	  {"hugeLine": {"bytes": 41943040}}, {"say": "one "}, {"hugeLine": {"bytes": 68157440}}, {"say": "two"}]}]}`)
	info := r.open()
	if _, err := r.prompt(info.ID, "go"); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, u := range r.display.updates {
		sizes = append(sizes, len(u.raw))
	}
	if len(sizes) != 3 || sizes[0] < 41_000_000 {
		t.Errorf("updates of %v bytes came, want 40 MiB, then two small ones: the 65 MiB line is skipped", sizes)
	}
}

func TestJ5(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"parallel": [
	  [{"read": {"path": "${cwd}/a", "id": "1", "as": "a"}}, {"say": "a"}],
	  [{"read": {"path": "${cwd}/b", "id": 1, "as": "b"}}, {"say": "b"}],
	  [{"read": {"path": "${cwd}/c", "id": "a-b", "as": "c"}}, {"say": "c"}],
	  [{"read": {"path": "${cwd}/d", "id": 9007199254740993, "as": "d"}}, {"say": "d"}]]},
	  {"say": " ${a}${b}${c}${d}"}]}]}`)
	for _, name := range []string{"a", "b", "c", "d"} {
		r.write(name, strings.ToUpper(name))
	}
	r.turn("go")
	if got := r.said(); !strings.HasSuffix(got, " ABCD") {
		t.Errorf("said %q, want each answer at its own request", got)
	}
	var ids string
	for _, line := range r.wire() {
		if strings.Contains(line, `"content":`) && strings.Contains(line, `"result"`) {
			ids += line[strings.Index(line, `"id"`):strings.Index(line, `,"result"`)] + "\n"
		}
	}
	for _, id := range []string{`"id":"1"`, `"id":1`, `"id":"a-b"`, `"id":9007199254740993`} {
		if !strings.Contains(ids, id+"\n") {
			t.Errorf("no answer with %s among\n%s", id, ids)
		}
	}
}

func TestJ6(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"raw": "{\n"}, {"raw": "{\"jsonrpc\":\"2.0\",\"id\":3}\n"},
	  {"request": {"id": 4, "method": "x/y", "params": {}, "as": "x"}},
	  {"request": {"id": 5, "method": "fs/read_text_file", "params": {"sessionId": "${session}"}, "as": "p"}},
	  {"request": {"id": 6, "method": "fs/read_text_file", "params": {"sessionId": "${session}", "path": "a.txt"}, "as": "q"}},
	  {"notify": {"method": "z/z", "params": {}}},
	  {"say": "${x.code} ${p.code} ${q.code}"}]}]}`)
	r.turn("go")
	if got, want := r.said(), "-32601 -32602 -32602"; got != want {
		t.Errorf("codes are %q, want %q", got, want)
	}
	wire := strings.Join(r.wire(), "\n")
	for _, want := range []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600`} {
		if !strings.Contains(wire, want) {
			t.Errorf("%s is not among the answers:\n%s", want, wire)
		}
	}
	if strings.Contains(wire, "z/z") {
		t.Error("an unknown notification was answered")
	}
}

func TestJ7(t *testing.T) {
	const n = 10000
	r := newRig(t, fmt.Sprintf(`{"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "a"}, {"id": "b", "name": "b"}]},
	  "prompts": [{"steps": [{"flood": {"n": %d, "size": 265}}, {"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"say": "${a}"}]}]}`, n),
		func(r *rig) { setModes(r, map[string]string{"plan": "b", "default": "a"}) })
	r.write("a.txt", "needed")
	info := r.open()
	ends := r.start(info.ID, "go")
	if _, err := r.SetMode(r.ctx(), info.ID, permit.PlanMode); err != nil {
		t.Errorf("setting the mode: %v", err)
	}
	if e := r.end(ends); e.err != nil {
		t.Fatal(e.err)
	}
	var texts, i int
	for _, u := range r.display.updates {
		if u.kind != "agent_message_chunk" {
			continue
		}
		if want := fmt.Sprintf("%08d ", i); i < n && !strings.Contains(u.raw, want) {
			t.Fatalf("update %d is %.200s: lost or out of order", i, u.raw)
		}
		texts++
		i++
	}
	if texts != n+1 {
		t.Errorf("%d chunks came, want %d", texts, n+1)
	}
	if wire := strings.Join(r.wire(), "\n"); !strings.Contains(wire, `"modeId":"b"`) {
		t.Error("the agent was not told the mode")
	}
}

func TestJ8(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"raw": "\r\n\n{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"${session}\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}}}\r\n\nend of a sentence\n"},
	  {"say": "y"}]}]}`)
	r.turn("go")
	if r.said() != "xy" {
		t.Errorf("said %q, want xy", r.said())
	}
}

func TestJ9(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"say": "bye"}, {"raw": "{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":{\"stopReason\":\"end_turn\"}}"}, {"exit": 0}]}]}`)
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil || result.StopReason != "end_turn" {
		t.Errorf("ended with %+v, %v; want end_turn by the answer without a newline", result, err)
	}
}

// TestBytesPassUnchanged: what the display gets of an update is what the agent
// sent, to the byte.
func TestBytesPassUnchanged(t *testing.T) {
	const update = `{ "b":1e2, "sessionUpdate":"x_future","n":9007199254740993,"nil":null,"e":[],"_meta":{"<":"\u003c"}, "a":1.0}`
	r := newRig(t, `{"prompts": [{"steps": [{"raw": "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":`+
		strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(update)+`,\"sessionId\":\"${session}\"}}\n"}]}]}`)
	r.turn("go")
	if len(r.display.updates) != 1 || r.display.updates[0].raw != update || r.display.updates[0].kind != "x_future" {
		t.Errorf("got %+v, want %s", r.display.updates, update)
	}
}

func TestBlocksPassUnchanged(t *testing.T) {
	const odd = `{"type":"x_blob","n":1.0,"z":null,"a":[]}`
	r := newRig(t, `{"prompts": [{"steps": []}]}`)
	info := r.open()
	if _, err := r.Prompt(r.ctx(), info.ID, []jsontext.Value{jsontext.Value(odd)}); err != nil {
		t.Fatal(err)
	}
	if wire := strings.Join(r.wire(), "\n"); !strings.Contains(wire, odd) {
		t.Errorf("the block did not pass as it was:\n%s", wire)
	}
}
