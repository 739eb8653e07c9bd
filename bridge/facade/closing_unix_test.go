//go:build unix

package facade_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sallyport/bridge/rpc"
)

// An agent that agreed to close, or delete, its session is gone when the client has
// the answer; one that refused goes on.
func TestClosing_EndsTheAgent(t *testing.T) {
	for _, method := range []string{"session/close", "session/delete"} {
		t.Run(method, func(t *testing.T) {
			r := newRig(t, `{"capabilities":{"sessionCapabilities":{"close":{},"delete":{}}},
				"on":{"`+method+`":[{"answer":{"error":{"code":-7,"message":"no"}}},{"answer":{"result":{"c":1.0}}}]},
				"prompts":[{"match":"pid","steps":[{"directWrite":{"path":"${cwd}/pid","text":"${pid}"}}]},{"match":"long","steps":[{"say":"begun"},{"sleep":600000}]},{"match":"go","steps":[]}]}`)
			session := r.open()
			r.turn(session, "pid")
			pid, err := strconv.Atoi(r.onDisk("pid"))
			if err != nil {
				t.Fatal(err)
			}
			params := `{"sessionId":` + quote(session) + `}`
			running := r.prompt(session, "long")
			r.find("the turn's begin", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "begun") })
			refused, behind := r.ask(method, params), r.prompt(session, "go")
			if m := r.answer(refused); m.Error == nil {
				t.Errorf("the refusal came as %s", m.Result)
			}
			if got := member(t, r.result(running), "stopReason"); got != "cancelled" {
				t.Errorf("the turn that ran ended with %s", got)
			}
			if got := member(t, r.result(behind), "stopReason"); got != "end_turn" {
				t.Errorf("in a session that was not closed the turn behind ended with %s", got)
			}
			closed := r.ask(method, params)
			late := r.prompt(session, "go")
			if got := r.result(closed); got != `{"c":1.0}` {
				t.Errorf("got %s", got)
			}
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("process %d is left", pid)
			}
			if m := r.answer(late); memberOf(m.Error, "message") != `no session "`+session+`"` {
				t.Errorf("a prompt behind it was answered %s%s", m.Result, m.Error)
			}
		})
	}
}
