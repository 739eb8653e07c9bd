//go:build unix

package facade_test

import (
	"strconv"
	"syscall"
	"testing"
)

// An agent that agreed to close, or delete, its session is gone when the client has
// the answer; one that refused goes on.
func TestClosing_EndsTheAgent(t *testing.T) {
	for _, method := range []string{"session/close", "session/delete"} {
		t.Run(method, func(t *testing.T) {
			r := newRig(t, `{"capabilities":{"sessionCapabilities":{"close":{},"delete":{}}},
				"on":{"`+method+`":[{"answer":{"error":{"code":-7,"message":"no"}}},{"answer":{"result":{"c":1.0}}}]},
				"prompts":[{"match":"pid","steps":[{"directWrite":{"path":"${cwd}/pid","text":"${pid}"}}]},{"match":"go","steps":[]}]}`)
			session := r.open()
			r.turn(session, "pid")
			pid, err := strconv.Atoi(r.onDisk("pid"))
			if err != nil {
				t.Fatal(err)
			}
			params := `{"sessionId":` + quote(session) + `}`
			if m := r.answer(r.ask(method, params)); m.Error == nil {
				t.Errorf("the refusal came as %s", m.Result)
			}
			if got := r.turn(session, "go"); got != "end_turn" {
				t.Errorf("a session that was not closed ended its turn with %s", got)
			}
			if got := r.call(method, params); got != `{"c":1.0}` {
				t.Errorf("got %s", got)
			}
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("process %d is left", pid)
			}
			if m := r.answer(r.prompt(session, "go")); m.Error == nil {
				t.Errorf("a prompt of it: %s", m.Result)
			}
		})
	}
}
