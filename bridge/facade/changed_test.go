package facade_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// These hold rows of docs/PROTOCOL.md's table of what is changed.

// A conversation that had to be begun anew keeps the client's name in all that is said.
func TestBegunAnew_KeepsTheClientsName(t *testing.T) {
	r := newRig(t, `{"capabilities":{"loadSession":true},"on":{"session/load":{"before":[{"shell":"if [ -e dead ]; then kill -9 $PPID; fi"}]}},"modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]},"prompts":[{"match":"die","steps":[{"directWrite":{"path":"${cwd}/dead","text":""}},{"crash":true}]},{"match":"go","steps":[
		{"say":"in ${session}"},{"notify":{"method":"_x/told","params":{"sessionId":"${session}"}}},
		{"request":{"method":"_x/asked","params":{"n":1.0,"sessionId":"${session}"}}},{"ask":{}}]}]}`)
	r.answers("_x/asked", func(jsontext.Value) string { return `"result":{}` })
	r.answers("session/request_permission", func(jsontext.Value) string { return `"result":{"outcome":{"outcome":"cancelled"}}` })
	const session = "old"
	r.call("initialize", hello)
	r.call("session/load", r.at(session))
	if m := r.answer(r.prompt(session, "die")); m.Error == nil {
		t.Fatalf("the turn of an agent that died ended with %s", m.Result)
	}
	r.turn(session, "go")
	r.call("session/set_mode", `{"sessionId":`+quote(session)+`,"modeId":"a"}`)
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "in fake-1") {
		t.Fatalf("the conversation is the one before: %s", said)
	}
	for _, method := range []string{"session/update", "_x/told", "_x/asked", "session/request_permission"} {
		frames := r.frames(method)
		if len(frames) == 0 {
			t.Errorf("the client got no %s", method)
		}
		for _, f := range frames {
			params, _ := rpc.Member([]byte(f), "params")
			if memberOf(params, "sessionId") != session {
				t.Errorf("the client knows no session of this: %s", f)
			}
		}
	}
	if got := r.got("session/set_mode"); memberOf([]byte(got), "sessionId") == session {
		t.Errorf("the agent knows no session of this: %s", got)
	}
}

// What an agent says before its answer names the session is told behind it.
func TestOpening_TellsNothingBeforeItsAnswer(t *testing.T) {
	r := newRig(t, `{"on":{"session/new":{"before":[{"say":"early"},{"notify":{"method":"_x/early","params":{"sessionId":"${session}"}}}]}}}`)
	r.call("initialize", hello)
	id := r.ask("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	r.result(id)
	r.find("what was early", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "early") })
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.lines, func(l string) bool { return strings.Contains(l, `"id":`+id) })
	if early := slices.IndexFunc(r.lines, func(l string) bool { return strings.Contains(l, `"early"`) }); early < at {
		t.Errorf("line %d was before the answer, %d", early, at)
	}
}

// A second prompt waits for the first, and one behind an undo tells the agent of it.
func TestPrompts_OneAfterTheOther(t *testing.T) {
	r := newRig(t, `{"prompts":[{"match":"first","steps":[{"directWrite":{"path":"${cwd}/new.txt","text":"made\n"}},{"request":{"method":"_x/wait","params":{"sessionId":"${session}"}}},{"say":"one"}]},{"match":"second","steps":[{"say":"two"}]}]}`)
	r.answers("session/request_permission", func(jsontext.Value) string {
		return `"result":{"outcome":{"outcome":"selected","optionId":"take_back"}}`
	})
	session := r.open()
	var behind, command string
	r.answers("_x/wait", func(jsontext.Value) string {
		command, behind = r.prompt(session, "/undo"), r.prompt(session, "second")
		return `"result":{}`
	})
	first := r.prompt(session, "first")
	r.result(first)
	r.result(behind)
	var order []string
	r.mu.Lock()
	for _, l := range r.lines {
		for name, part := range map[string]string{"one": `"one"`, "two": `"two"`, "first": `"id":` + first, "undo": `"id":` + command, "second": `"id":` + behind} {
			if strings.Contains(l, part+",") || strings.Contains(l, part+"}") {
				order = append(order, name)
			}
		}
	}
	r.mu.Unlock()
	if got, want := strings.Join(order, " "), "one first undo two second"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var prompts []string
	for _, l := range r.received() {
		if m, err := rpc.Scan([]byte(l)); err == nil && string(m.Method) == "session/prompt" {
			list, _ := rpc.Member(m.Params, "prompt")
			prompts = append(prompts, string(list))
		}
	}
	if len(prompts) != 2 || !strings.Contains(prompts[1], "took back turn") || !strings.HasSuffix(prompts[1], `,{"type":"text","text":"second"}]`) {
		t.Errorf("the agent got %q, want a word of the undo before the second", prompts)
	}
}

// A cancelled turn is that, whatever the agent makes of it; the rest of its answer stays.
func TestCancelled_WhateverTheAgentSays(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"say":"begun"},{"waitCancel":true},{"answer":{"result":{"_meta":{"k":1.0},"stopReason":"end_turn","x":[null]}}}]}]}`)
	session := r.open()
	id := r.prompt(session, "go")
	r.find("the turn's begin", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "begun") })
	r.notify("session/cancel", `{"sessionId":`+quote(session)+`}`)
	if got, want := r.result(id), `{"_meta":{"k":1.0},"stopReason":"cancelled","x":[null]}`; !same(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Where an agent has a command of one of our names, that is the agent's.
func TestCommands_BesideTheAgents(t *testing.T) {
	const list = `{"name":"undo","description":"mine","input":null,"x":1.0},{"name":"plan","description":"p"}`
	r := newRig(t, `{"prompts":[{"match":"list","steps":[{"update":{"sessionUpdate":"available_commands_update","availableCommands":[`+list+`]}}]},{"steps":[{"say":"the agent's own"}]}]}`)
	session := r.open()
	r.turn(session, "list")
	var last string
	for _, u := range r.updates() {
		if strings.Contains(u, `"available_commands_update"`) {
			last = u
		}
	}
	commands, _ := rpc.Member([]byte(last), "availableCommands")
	var names []string
	var theirs [][]byte
	rpcElements(t, commands, func(c []byte) {
		names = append(names, memberOf(c, "name"))
		theirs = append(theirs, c)
	})
	if got, want := strings.Join(names, " "), "undo plan sallyport-undo redo turns posture receipt"; got != want {
		t.Errorf("commands are %s, want %s", got, want)
	}
	if got := string(theirs[0]) + "," + string(theirs[1]); !sameSet("["+got+"]", "["+list+"]") {
		t.Errorf("the agent's are %s, want %s", got, list)
	}
	r.turn(session, "/undo")
	r.turn(session, "/sallyport-undo")
	said := strings.Join(r.updates(), "\n")
	if strings.Count(said, "the agent's own") != 1 || !strings.Contains(said, "there is no turn to take back") {
		t.Errorf("said %s", said)
	}
}

func rpcElements(t *testing.T, list []byte, fn func([]byte)) {
	t.Helper()
	var all []jsontext.Value
	if err := rpc.Unmarshal(list, &all); err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	for _, v := range all {
		fn(v)
	}
}

// The client is asked for a whole file, whatever the agent wants of it.
func TestRead_AsksForTheWholeFile(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"request":{"method":"fs/read_text_file","as":"out","params":{"sessionId":"${session}","path":"${cwd}/a.txt","line":2,"limit":1,"_meta":null}}},{"say":"${out}"}]}]}`)
	r.setBuffer("a.txt", "one\ntwo\nthree\n")
	session := r.open()
	r.turn(session, "go")
	for _, f := range r.frames("fs/read_text_file") {
		params, _ := rpc.Member([]byte(f), "params")
		if want := `{"sessionId":` + quote(session) + `,"path":` + quote(r.folder+"/a.txt") + `}`; !same(string(params), want) {
			t.Errorf("the client was asked %s, want %s", params, want)
		}
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, `{\"content\":\"two\\n\"}`) {
		t.Errorf("the agent got %s", said)
	}
}

// What a rule decides says so to the agent, and to the user where it refuses.
func TestPermission_DecidedWithoutTheClient(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"request":{"method":"session/request_permission","as":"out","params":{"sessionId":"${session}","toolCall":{"toolCallId":"call-1","kind":"execute","rawInput":{"command":"rm -rf x"}},
		"options":[{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]}}},{"say":"it got ${out}"}]}]}`)
	r.config.Permissions.Deny = []string{"Bash(rm:*)"}
	r.turn(r.open(), "go")
	if n := len(r.frames("session/request_permission")); n > 0 {
		t.Errorf("the client was asked %d times", n)
	}
	said := strings.Join(r.updates(), "\n")
	for _, want := range []string{`\"optionId\":\"r\"},\"_meta\":{\"sallyport\":{\"by\":\"decider\"`, "Refused by rule Bash(rm:*)"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %s: %s", want, said)
		}
	}
}

// A notification about no session goes to all agents, a request to one.
func TestAboutNoSession(t *testing.T) {
	r := newRig(t, `{"on":{"_x/one":{"answer":{"result":{"n":1.0}}}}}`)
	r.open()
	r.begin()
	r.notify("_x/all", `{"n":1.0}`)
	if got := r.call("_x/one", `{}`); !same(got, `{"n":1.0}`) {
		t.Errorf("got %s", got)
	}
	count := func(method string) (n int) {
		for _, l := range r.received() {
			if m, err := rpc.Scan([]byte(l)); err == nil && string(m.Method) == method {
				n++
			}
		}
		return n
	}
	if n := count("_x/one"); n != 1 {
		t.Errorf("%d agents got the request", n)
	}
	for end := time.Now().Add(patience); count("_x/all") < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of 2 agents got the notification", count("_x/all"))
		}
	}
}

// Ids that differ in their kind only are two, on both sides.
func TestIDs_OfOneText(t *testing.T) {
	r := newRig(t, `{"on":{"_x/a":{"answer":{"result":"a"}},"_x/b":{"answer":{"result":"b"}}},
		"prompts":[{"steps":[{"parallel":[[{"request":{"method":"_x/one","params":{"sessionId":"${session}"},"id":1,"as":"x"}}],[{"request":{"method":"_x/two","params":{"sessionId":"${session}"},"id":"1","as":"y"}}]]},{"say":"${x} ${y}"}]}]}`)
	session := r.open()
	both := make(chan struct{})
	r.answers("_x/one", func(jsontext.Value) string {
		go func() { // its answer comes behind the other's
			<-both
			m := r.find("the request", func(m rpc.Message) bool { return string(m.Method) == "_x/one" })
			r.write1(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":"first"}`)
		}()
		return ""
	})
	r.answers("_x/two", func(jsontext.Value) string {
		defer close(both)
		return `"result":"second"`
	})
	r.turn(session, "go")
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, `\"first\" \"second\"`) {
		t.Errorf("the agent got %s", said)
	}
	r.write1(`{"jsonrpc":"2.0","id":7,"method":"_x/a","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":"7","method":"_x/b","params":{}}`)
	for id, want := range map[string]string{`7`: `"a"`, `"7"`: `"b"`} {
		if got := r.result(id); got != want {
			t.Errorf("%s was answered %s, want %s", id, got, want)
		}
	}
}

// A form about a request of the client's names it by the client's id.
func TestElicitation_AboutARequest(t *testing.T) {
	r := newRig(t, `{"on":{"_x/a":{"before":[{"raw":"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"elicitation/create\",\"params\":{\"requestId\":${id},\"mode\":\"form\",\"_meta\":null}}\n"}],"answer":{"result":{}}}}}`)
	r.answers("elicitation/create", func(jsontext.Value) string { return `"result":{"action":"cancel"}` })
	r.open()
	id := r.ask("_x/a", `{"sessionId":"fake-1"}`)
	r.result(id)
	asked := r.frames("elicitation/create")
	if want := `"params":{"requestId":` + id + `,"mode":"form","_meta":null}`; len(asked) != 1 || !strings.Contains(asked[0], want) {
		t.Errorf("the client was asked %q, want %s", asked, want)
	}
}
