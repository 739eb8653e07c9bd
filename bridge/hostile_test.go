package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/terminal"
	"sallyport/workspace"
)

// TestAnIdUsedTwiceHoldsNobody: neither question outlives its agent, and the
// first answer does not take the second question back.
func TestAnIdUsedTwiceHoldsNobody(t *testing.T) {
	const ask = `{"raw": "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"${session}\",\"toolCall\":{\"toolCallId\":\"%s\",\"kind\":\"execute\",\"title\":\"%[1]s\"},\"options\":[{\"optionId\":\"a\",\"name\":\"A\",\"kind\":\"allow_once\"}]}}\n"}`
	r := newRig(t, `{"prompts": [{"steps": [`+fmt.Sprintf(ask, "one")+`,`+fmt.Sprintf(ask, "two")+`, {"hang": true}]}]}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	var withdrawn atomic.Int32
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if c.Title == "one" {
			return allow(ctx, c)
		}
		<-ctx.Done()
		withdrawn.Add(1)
		return permit.Answer{}, ctx.Err()
	}
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	<-r.display.asked
	r.display.until(t, "the first answer", func(d *display) bool { return len(d.settled) == 1 })
	if withdrawn.Load() != 0 {
		t.Error("the answer to the first question took the second back")
	}
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if withdrawn.Load() != 1 {
		t.Error("the second question is still open")
	}
}

// TestHugeRequestsAreRefusedAtOnce: what an agent lists is bounded, and costs no
// more than reading it.
func TestHugeRequestsAreRefusedAtOnce(t *testing.T) {
	many := func(item string, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, item, i)
		}
		return b.String()
	}
	for name, steps := range map[string]string{
		"options": `{"ask": {"as": "p", "toolCall": {"toolCallId": "t", "kind": "execute", "title": "x"}, "options": [` +
			many(`{"optionId":"o%d","name":"n","kind":"allow_once"}`, 20_000) + `]}}, {"say": "${p.code}"}`,
		"files of a permission": `{"ask": {"as": "p", "toolCall": {"toolCallId": "t", "kind": "edit", "title": "x", "locations": [` +
			many(`{"path":"/p/%d"}`, 20_000) + `]}}}, {"say": "${p.code}"}`,
		"files of a call": `{"toolCall": {"toolCallId": "t", "kind": "edit", "title": "x", "locations": [` +
			many(`{"path":"${cwd}/%d"}`, 100_000) + `]}}, {"toolUpdate": {"toolCallId": "t", "status": "completed"}}, {"say": "-32602"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"prompts": [{"steps": [`+steps+`]}]}`)
			info := r.open()
			e := r.end(r.start(info.ID, "go")) // each took minutes
			if e.err != nil || r.said() != "-32602" {
				t.Errorf("ended with %+v after it was told %q, want -32602", e, r.said())
			}
			if len(r.display.asked) != 0 {
				t.Error("a person was asked")
			}
			for _, n := range r.display.notices {
				if len(n.Paths) > 50 || len(n.Text) > 4096 {
					t.Errorf("a notice names %d files in %d bytes", len(n.Paths), len(n.Text))
				}
			}
		})
	}
}

// TestQuestionsAreInFrontOfTheUserAFewAtATime: a flood of requests waits, or is
// refused; none is lost.
func TestQuestionsAreInFrontOfTheUserAFewAtATime(t *testing.T) {
	const n = 1100
	r := newRig(t, fmt.Sprintf(`{"prompts": [{"steps": [
	  {"repeat": {"times": %d, "steps": [{"raw": "{\"jsonrpc\":\"2.0\",\"id\":\"q${i}\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"${session}\",\"toolCall\":{\"toolCallId\":\"t${i}\",\"kind\":\"execute\",\"title\":\"x\"},\"options\":[{\"optionId\":\"a\",\"name\":\"A\",\"kind\":\"allow_once\"}]}}\n"}]}},
	  {"say": "sent"}, {"waitCancel": true}]}]}`, n))
	r.display.asked = make(chan *permit.Card, 2*n)
	var open, most atomic.Int32
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		now := open.Add(1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		<-release
		open.Add(-1)
		return allow(ctx, c)
	}
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "all requests", func(d *display) bool { return d.saidLocked() == "sent" })
	r.poll("questions", func() bool { return open.Load() == 16 })
	close(release)
	r.display.until(t, "all answers", func(d *display) bool { return len(d.settled) >= 1024 })
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if m := most.Load(); m > 16 {
		t.Errorf("%d questions were open at once, want 16 at the most", m)
	}
	wire := strings.Join(r.wire(), "\n")
	if got, refused := strings.Count(wire, `"optionId":"a"`), strings.Count(wire, "too many requests"); got != 1024 || refused != n-1024 {
		t.Errorf("%d were answered and %d refused, want 1024 and %d", got, refused, n-1024)
	}
}

// countingEditor counts how many texts are asked of it at once.
type countingEditor struct {
	*terminal.Buffers
	now, most atomic.Int32
	enough    chan struct{} // closed when there are eight
	once      sync.Once
}

func (e *countingEditor) Text(ctx context.Context, path string) (workspace.Document, bool, error) {
	n := e.now.Add(1)
	defer e.now.Add(-1)
	for m := e.most.Load(); n > m && !e.most.CompareAndSwap(m, n); m = e.most.Load() {
	}
	if n == 8 {
		e.once.Do(func() { close(e.enough) })
	}
	select {
	case <-e.enough:
	case <-ctx.Done():
	}
	return e.Buffers.Text(ctx, path)
}

// TestFilesAreHeldAFewAtATime: an agent that reads and writes hundreds of large
// files together takes the memory of a few; all are done.
func TestFilesAreHeldAFewAtATime(t *testing.T) {
	const n = 50
	for method, params := range map[string]string{"fs/read_text_file": "", "fs/write_text_file": `,\"content\":\"x\"`} {
		t.Run(method, func(t *testing.T) {
			r := newRig(t, fmt.Sprintf(`{"prompts": [{"steps": [
			  {"repeat": {"times": %d, "steps": [{"raw": "{\"jsonrpc\":\"2.0\",\"id\":\"q${i}\",\"method\":\"%s\",\"params\":{\"sessionId\":\"${session}\",\"path\":\"${cwd}/f${i}\"%s}}\n"}]}},
			  {"waitCancel": true}]}]}`, n, method, params))
			r.config.Mode = "acceptEdits"
			for i := range n {
				r.write(fmt.Sprintf("f%d", i), "")
			}
			editor := &countingEditor{Buffers: r.editor, enough: make(chan struct{})}
			r.Editor = editor
			info := r.open()
			ends := r.start(info.ID, "go")
			r.poll("all answers", func() bool { return strings.Count(strings.Join(r.wire(), "\n"), `"id":"q`) == n })
			if m := editor.most.Load(); m != 8 {
				t.Errorf("%d files were held at once, want 8", m)
			}
			r.Cancel(r.ctx(), info.ID)
			r.cancelled(ends)
		})
	}
}

// TestRefusalsAreToldAFewTimes: the rest is counted, towards the user and
// towards the agent.
func TestRefusalsAreToldAFewTimes(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"repeat": {"times": 200, "steps": [
	    {"write": {"path": "${cwd}/../out${i}", "text": "x"}},
	    {"ask": {"toolCall": {"toolCallId": "t${i}", "kind": "edit", "title": "x", "locations": [{"path": "${cwd}/../out${i}"}]}}}]}}]},
	  {"steps": []}]}`)
	info := r.turn("go")
	n := r.display.noticed(bridge.NoticeRefused)
	if len(n) != 21 || !strings.Contains(n[20].Text, "380 more") {
		t.Errorf("%d notices, the last: %+v; want 20 and one that counts the other 380", len(n), n[len(n)-1])
	}
	if _, err := r.prompt(info.ID, "next"); err != nil {
		t.Fatal(err)
	}
	last := r.wire()[len(r.wire())-1]
	if got := strings.Count(last, "Refused by"); got != 20 || !strings.Contains(last, "and 180 more refusals") || len(last) > 16<<10 {
		t.Errorf("%d refusals in a prompt of %d bytes, want 20 and the number of the others", got, len(last))
	}
	if _, err := r.prompt(info.ID, "and the next"); err != nil {
		t.Fatal(err)
	}
	if last := r.wire()[len(r.wire())-1]; strings.Contains(last, "Refused by") {
		t.Errorf("told twice: %s", last)
	}
}

// TestNoWordOfAnAgentActsOnAScreen: errors, notices and ends.
func TestNoWordOfAnAgentActsOnAScreen(t *testing.T) {
	const bad = `\u001b[2J\u202eevil\r\nline`
	r := newRig(t, `{"on": {"session/new": [{}, {"answer": {"error": {"code": 1, "message": "`+bad+`"}}}]},
	  "prompts": [
	    {"match": "path", "steps": [{"write": {"path": "${cwd}/../`+bad+`", "text": "x"}},
	      {"toolCall": {"toolCallId": "d", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/`+bad+`"}]}}]},
	    {"match": "error", "steps": [{"answer": {"error": {"code": -32603, "message": "`+bad+`", "data": {"x": "`+bad+`"}}}}]},
	    {"match": "exit", "steps": [{"raw": {"text": "`+bad+`\n", "to": "stderr"}}, {"exit": 3}]}]}`)
	info := r.open()
	var texts []string
	for _, p := range []string{"path", "error", "exit"} {
		if _, err := r.prompt(info.ID, p); err != nil {
			texts = append(texts, err.Error())
		}
	}
	for _, n := range r.display.notices {
		texts = append(texts, n.Text, strings.ReplaceAll(n.Hint, "\n", ""))
	}
	for _, s := range texts {
		if strings.ContainsAny(s, "\x1b\u202e\r\n") {
			t.Errorf("%q acts on a screen", s)
		}
	}
	if all := strings.Join(texts, " "); strings.Count(all, "evil") < 4 {
		t.Errorf("something was left out of %q", texts)
	}
}

func TestAnAnswerTwiceAndForeignSessions(t *testing.T) {
	r := newRig(t, `{"on": {"session/new": {"answer": {"result": {"sessionId": "fake-1"}, "twice": true}, "after": [
	    {"notify": {"method": "session/update", "params": {"sessionId": "other", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "foreign"}}}}}]}},
	  "prompts": [{"steps": [
	    {"request": {"method": "fs/read_text_file", "params": {"sessionId": "other", "path": "${cwd}/a.txt"}, "as": "r"}},
	    {"request": {"method": "session/request_permission", "params": {"sessionId": "other", "toolCall": {"toolCallId": "t"}, "options": []}, "as": "p"}},
	    {"say": "${r.code} ${p.code}"}]}]}`)
	info := r.open()
	if info.AgentID != "fake-1" {
		t.Fatalf("the session is %+v", info)
	}
	if _, err := r.prompt(info.ID, "go"); err != nil {
		t.Fatal(err)
	}
	if got := r.said(); got != "-32602 -32602" {
		t.Errorf("said %q, want both requests refused and no word for another session", got)
	}
}

func TestAnIdThatIsNoId(t *testing.T) {
	for name, id := range map[string]string{"empty": `""`, "number": `5`, "huge": `"` + strings.Repeat("x", 5000) + `"`, "null": "null"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"on": {"session/new": {"answer": {"result": {"sessionId": `+id+`}}}}}`)
			_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
			if start, ok := err.(*bridge.StartError); !ok || !strings.Contains(start.Reason, "names no session") || strings.Count(err.Error(), "starting") != 1 {
				t.Errorf("got %v", err)
			}
			r.wantAgents(0)
		})
	}
}

// TestARequestCanBeTakenBack by the very id that it has.
func TestARequestCanBeTakenBack(t *testing.T) {
	for _, id := range []string{`7`, `"7"`, `"a-b"`, `9007199254740993`} {
		t.Run(id, func(t *testing.T) {
			quoted := strings.ReplaceAll(id, `"`, `\"`)
			r := newRig(t, `{"prompts": [{"steps": [
			  {"raw": "{\"jsonrpc\":\"2.0\",\"id\":`+quoted+`,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"${session}\",\"toolCall\":{\"toolCallId\":\"t\",\"kind\":\"execute\",\"title\":\"x\"},\"options\":[{\"optionId\":\"a\",\"name\":\"A\",\"kind\":\"allow_once\"}]}}\n"},
			  {"notify": {"method": "$/cancel_request", "params": {"requestId": "8"}}},
			  {"notify": {"method": "$/cancel_request", "params": {"requestId": `+id+`}}}, {"waitCancel": true}]}]}`)
			r.display.answer = func(ctx ctx, _ *permit.Card) (permit.Answer, error) { <-ctx.Done(); return permit.Answer{}, ctx.Err() }
			info := r.open()
			ends := r.start(info.ID, "go")
			r.display.until(t, "the card's end", func(d *display) bool { return len(d.settled) == 1 })
			if by := r.display.settled[0].outcome.By; by != permit.ByCancel {
				t.Errorf("settled by %s", by)
			}
			r.Cancel(r.ctx(), info.ID)
			r.cancelled(ends)
			r.expectWire(`"id":` + id + `,"result":{"outcome":{"outcome":"cancelled"}`)
		})
	}
}

// TestOddMetaIsNoReasonNotToStart: _meta holds whatever an agent likes.
func TestOddMetaIsNoReasonNotToStart(t *testing.T) {
	r := newRig(t, `{"authRequired": true, "authMethods": [
	  {"id": "a", "name": "A", "_meta": {"type": 5, "args": {"x": 1}, "terminal-auth": "yes"}},
	  {"id": "b", "name": "B", "_meta": {"terminal-auth": {"command": "/opt/my agent/bin", "args": ["log in"]}}}]}`)
	_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	auth, ok := err.(*bridge.AuthError)
	if !ok || len(auth.Methods) == 0 {
		t.Fatalf("got %v, want the ways to sign in", err)
	}
	if got, want := auth.Methods[len(auth.Methods)-1].Command, ` acp --agent fake --sallyport-sign-in --program '/opt/my agent/bin' -- 'log in'`; !strings.HasSuffix(got, want) {
		t.Errorf("the line is %s, want it to end with %s", got, want)
	}
}
