package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

func TestK1(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"update": {"sessionUpdate": "usage_update", "used": 1, "size": 2}},
	  {"update": {"sessionUpdate": "config_option_update", "configOptions": []}},
	  {"update": {"sessionUpdate": "session_info_update", "title": null}},
	  {"update": {"sessionUpdate": "x_future", "a": 1}},
	  {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "x_blob", "data": "?"}}},
	  {"toolCall": {"toolCallId": "t", "kind": "x_tool", "title": "t", "status": "completed"}},
	  {"answer": {"stopReason": "x_new"}}]}]}`)
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil || result.StopReason != "x_new" {
		t.Errorf("ended with %+v, %v; want the unknown stop reason as text", result, err)
	}
	if got, want := strings.Join(r.display.kinds(), " "), "usage_update config_option_update session_info_update x_future agent_message_chunk tool_call"; got != want {
		t.Errorf("shown: %s, want %s", got, want)
	}
}

func TestK2(t *testing.T) {
	r := newRig(t, `{"strict": true, "capabilities": {"loadSession": true}, "prompts": [{"steps": [
	  {"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"write": {"path": "${cwd}/a.txt", "text": "y\n"}}, `+asks+`]}]}`)
	r.write("a.txt", "x\n")
	info := r.turn("go")
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	wire := strings.Join(r.wire(), "\n")
	if strings.Contains(wire, "null") {
		t.Errorf("a null was sent:\n%s", wire)
	}
	if !strings.Contains(wire, `"result":{}`) {
		t.Errorf("the write was not answered {}:\n%s", wire)
	}
}

func TestK3(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"repeat": {"times": 1000, "steps": [{"toolUpdate": {"toolCallId": "nope", "status": "in_progress"}}]}},
	  {"toolCall": {"toolCallId": "nope", "kind": "edit", "title": "now known"}},
	  {"ask": {"toolCall": {"toolCallId": "nope"}, "then": {"allow": [{"toolUpdate": {"toolCallId": "nope", "status": "completed"}}]}}}]}]}`)
	r.turn("go")
	if c := <-r.display.asked; c.Title != "now known" || c.Request.Kind != permit.Edit {
		t.Errorf("the card is %+v, want what the call said once it was declared", c)
	}
	if n := len(r.display.updates); n != 1002 {
		t.Errorf("%d updates were shown, want 1002: none invented, none lost", n)
	}
}

func TestK4(t *testing.T) {
	r := newRig(t, `{"authRequired": true, "authMethods": [
	  {"id": "a", "name": "Key"}, {"id": "b", "name": "Browser"},
	  {"id": "c", "name": "Terminal", "type": "terminal", "args": ["--login", "a b"], "env": {"X": "1 2"}}]}`)
	_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	var auth *bridge.AuthError
	if !errors.As(err, &auth) || len(auth.Methods) != 3 {
		t.Fatalf("got %v, want the ways to sign in", err)
	}
	if line := auth.Methods[2].Command; !strings.HasSuffix(line, ` acp --agent fake --sallyport-sign-in --env 'X=1 2' -- --login 'a b'`) {
		t.Errorf("the terminal's line is %q, want it exact, and through us", line)
	}
	if err := r.Authenticate(r.ctx(), "fake", r.folder, "c"); !errors.As(err, &auth) {
		t.Errorf("a terminal's way was taken without a terminal: %v", err)
	}
	if err := r.Authenticate(r.ctx(), "fake", r.folder, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err != nil {
		t.Fatalf("after the sign-in: %v", err)
	}
	var methods []string
	for _, line := range r.wire() {
		value, _ := jsontext.Value(line), 0
		for _, m := range []string{"initialize", "session/new", "authenticate"} {
			if strings.Contains(string(value), `"method":"`+m+`"`) {
				methods = append(methods, m)
			}
		}
	}
	if got, want := strings.Join(methods, " "), "initialize session/new authenticate session/new"; got != want {
		t.Errorf("the wire saw %s, want %s in one process", got, want)
	}
}

func TestK5(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"answer": {"error": {"code": -32000, "message": "no more today", "data": {"reason": "usage limit"}}}}]}]}`)
	info := r.open()
	_, err := r.prompt(info.ID, "go")
	var said *bridge.AgentError
	if !errors.As(err, &said) || said.Code != -32000 || said.Message != "no more today" || !strings.Contains(said.Data, "usage limit") {
		t.Errorf("got %v (%+v), want the agent's own words", err, said)
	}
	if wire := strings.Join(r.wire(), "\n"); strings.Contains(wire, `"authenticate"`) {
		t.Error("a sign-in was tried in the middle of a turn")
	}
}

func TestK6(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"answer": {"result": {}}}}}`)
	info, err := r.Load(r.ctx(), bridge.LoadSession{ID: "nope", Folder: r.folder, Replays: true})
	if err != nil {
		t.Fatal(err)
	}
	n := r.display.noticed(bridge.NoticeNew)
	if len(n) != 1 || !strings.Contains(n[0].Text, "nothing was restored") || info.AgentID != "nope" {
		t.Errorf("notices are %+v, want that nothing was restored", n)
	}
}

func TestK7(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"before": [
	  {"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "old"}}},
	  {"repeat": {"times": 3, "steps": [{"toolCall": {"toolCallId": "c${i}", "kind": "edit", "status": "completed", "content": [{"type": "diff", "path": "${cwd}/a.txt", "oldText": "a", "newText": "b"}]}}]}},
	  {"ask": {"toolCall": {"toolCallId": "c9", "kind": "edit"}, "then": {"allow": [{"say": "allowed"}]}}},
	  {"write": {"path": "${cwd}/a.txt", "text": "b"}}]}}}`)
	r.write("a.txt", "a")
	if _, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true}); err != nil {
		t.Fatal(err)
	}
	for i, u := range r.display.updates {
		if !u.replay {
			t.Errorf("update %d (%s) is not marked as history", i, u.kind)
		}
	}
	if len(r.display.updates) != 4 || len(r.display.asked) != 0 || len(r.display.settled) != 0 || r.disk("a.txt") != "a" {
		t.Errorf("%d updates, %d cards, %d settled, disk %q; want 4 of history and nothing done",
			len(r.display.updates), len(r.display.asked), len(r.display.settled), r.disk("a.txt"))
	}
}

func TestK10(t *testing.T) {
	for version, want := range map[string]string{
		"2": "update Sallyport", "99": "update Sallyport", `"1"`: "update the agent", "0": "update the agent",
	} {
		t.Run(version, func(t *testing.T) {
			r := newRig(t, `{"protocolVersion": `+version+`}`)
			_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
			var start *bridge.StartError
			if !errors.As(err, &start) || !strings.Contains(start.Reason, "ACP version "+version) || !strings.Contains(start.Reason, "version 1") || !strings.Contains(start.Hint, want) {
				t.Errorf("got %v (%+v), want both versions and %q", err, start, want)
			}
			if len(r.Live()) != 0 {
				t.Error("a session is left")
			}
		})
	}
}

// TestK11 is the part for ACP v1; version 2 is not spoken yet.
func TestK11(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"answer": {"result": {}}}]}]}`)
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err == nil || !strings.Contains(err.Error(), "stopReason") || result.StopReason != "" {
		t.Errorf("ended with %+v, %v; want an error, never end_turn", result, err)
	}
}

func TestListDeleteAndResume(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true, "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}}},
	  "prompts": [{"match": "hi", "steps": [{"say": "hi"}]}]}`)
	info := r.turn("hi")
	rows, _, err := r.Stored(r.ctx(), "fake", r.folder, "")
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	t.Logf("%d rows", len(rows))
	if err := r.DeleteStored(r.ctx(), "fake", r.folder, info.AgentID); err != nil {
		t.Logf("delete: %v", err) // another process may not know it; it is asked all the same
	}
	r.expectWire(`"method":"session/list"`, `"method":"session/delete"`)
	again, err := r.Load(r.ctx(), bridge.LoadSession{ID: info.AgentID, Folder: r.folder})
	if err != nil {
		t.Fatalf("resume: %v", err)
	}
	r.expectWire(`"method":"session/resume"`)
	if again.ID == info.ID {
		t.Error("two sessions have one id")
	}
}

func TestUnsupportedIsSaid(t *testing.T) {
	r := newRig(t, `{}`)
	var no *bridge.UnsupportedError
	if _, _, err := r.Stored(r.ctx(), "fake", r.folder, ""); !errors.As(err, &no) {
		t.Errorf("list gave %v", err)
	}
	if _, err := r.Load(r.ctx(), bridge.LoadSession{ID: "x", Folder: r.folder, Replays: true}); !errors.As(err, &no) {
		t.Errorf("load gave %v", err)
	}
}

func TestElicitationIsDeclinedWhereItCannotBeShown(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"request": {"method": "elicitation/create", "params": {"sessionId": "${session}", "mode": "form", "message": "?", "requestedSchema": {"type": "object"}}, "as": "e"}}, {"say": "${e}"}]}]}`)
	r.turn("go")
	if r.said() != `{"action":"decline"}` {
		t.Errorf("the agent got %q", r.said())
	}
	if wire := r.wire()[0]; strings.Contains(wire, "elicitation") || strings.Contains(wire, `"terminal":true`) {
		t.Errorf("offered what cannot be done: %s", wire)
	}
}

func TestTerminalIsNotOffered(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"request": {"method": "terminal/create", "params": {"sessionId": "${session}", "command": "ls"}, "as": "t"}}, {"say": "${t.code}"}]}]}`)
	r.turn("go")
	if r.said() != "-32601" {
		t.Errorf("terminal/create gave %q", r.said())
	}
}

func TestTheReasonGoesBeforeTheNextPrompt(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}, {"steps": []}]}`)
	r.config.Mode = "plan"
	info := r.open()
	for _, p := range []string{"one", "two"} {
		if _, err := r.prompt(info.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	r.expectWire(`- Refused by plan mode through Sallyport`)
	if r.said() != "rejected" {
		t.Errorf("said %q, want rejected", r.said())
	}
}

// expectWire wants texts among what the agent received.
func (r *rig) expectWire(want ...string) {
	r.t.Helper()
	wire := strings.Join(r.wire(), "\n")
	for _, w := range want {
		if !strings.Contains(wire, w) {
			r.t.Errorf("%s is not on the wire:\n%s", w, wire)
		}
	}
}
