package facade_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport/bridge/rpc"
)

// deaf is an agent that stops reading between its turns or in the middle of one, or
// that only stops writing, and that never answers a close.
const deaf = `{"prompts":[{"match":"sleep","steps":[{"say":"${pid}"},{"answer":"end_turn"},{"hang":"deaf"}]},
	{"match":"deaf","steps":[{"say":"${pid}"},{"hang":"deaf"}]},{"match":"stalled","steps":[{"say":"${pid}"},{"hang":true}]},
	{"match":"idle","steps":[{"say":"${pid}"}]},{"match":"well","steps":[{"say":"well"}]}],
	"capabilities":{"loadSession":true,"sessionCapabilities":{"close":{}}},"on":{"_x":{"answer":{"result":{}}},"session/close":{"answer":"never"}}}`

// newDeaf has a session whose agent stops reading, and one with another agent.
func newDeaf(t *testing.T) (r *rig, asleep, well string) {
	t.Helper()
	r = newRig(t, deaf, func(r *rig) {
		r.front.Stall = time.Second
		r.config.Timeouts.CancelGraceSeconds = 1
	})
	return r, r.open(), r.begin()
}

// pid is the process that an agent says it is, in a turn of a session.
func (r *rig) pid(session string) int {
	r.t.Helper()
	m := r.find("process id", func(m rpc.Message) bool {
		update, _ := rpc.Member(m.Params, "update")
		content, _ := rpc.Member(update, "content")
		_, err := strconv.Atoi(memberOf(content, "text"))
		return memberOf(m.Params, "sessionId") == session && err == nil
	})
	update, _ := rpc.Member(m.Params, "update")
	content, _ := rpc.Member(update, "content")
	pid, _ := strconv.Atoi(memberOf(content, "text"))
	return pid
}

// gone waits until a process is.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return
		}
		if time.Now().After(end) {
			t.Errorf("process %d is left", pid)
			return
		}
	}
}

// flood says more for a session than is ever kept for an agent that does not read,
// and returns the requests among that.
func (r *rig) flood(session string) (ids []string) {
	blob := strings.Repeat("x", 64<<10)
	for i := range 250 {
		params := fmt.Sprintf(`{"sessionId":%s,"n":%d,"blob":%q}`, quote(session), i, blob)
		if i%3 == 0 {
			r.notify("_told", params)
		} else {
			ids = append(ids, r.ask("_x", params))
		}
	}
	return ids
}

// An agent that stops reading between its turns costs its own session: the client is
// told, its other sessions go on, and the session can be closed.
func TestDeafAgent(t *testing.T) {
	r, asleep, well := newDeaf(t)
	if got := r.turn(asleep, "sleep"); got != "end_turn" {
		t.Fatalf("the turn ended with %s", got)
	}
	pid := r.pid(asleep)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ids := r.flood(asleep)
	if m := r.answer(ids[len(ids)-1]); !strings.Contains(string(m.Error), "takes nothing more") {
		t.Errorf("the last request was answered with %s %s", m.Result, m.Error)
	}
	if got := r.turn(well, "well"); got != "end_turn" {
		t.Errorf("the turn of another agent ended with %s", got)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
		t.Errorf("%d MiB are held", grown>>20)
	}
	r.call("session/close", `{"sessionId":`+quote(asleep)+`}`)
	for _, id := range ids {
		if m := r.answer(id); m.Error == nil {
			t.Errorf("a request was answered with %s", m.Result)
		}
	}
	gone(t, pid)
	if got := r.turn(well, "well"); got != "end_turn" {
		t.Errorf("after the close the turn of another agent ended with %s", got)
	}
}

// One that stops reading in the middle of a turn is ended by a cancel, as one is that
// only stops writing; the turn is on the record, and the next goes on.
func TestDeafAgent_InMidTurn(t *testing.T) {
	for name, floods := range map[string]bool{"deaf": true, "stalled": false} {
		t.Run(name, func(t *testing.T) {
			r, session, well := newDeaf(t)
			turn := r.prompt(session, name)
			pid := r.pid(session)
			var ids []string
			prompts := 300 // more than wait for a turn
			if floods {
				ids, prompts = r.flood(session), 20
			}
			for range prompts {
				ids = append(ids, r.prompt(session, "more"))
			}
			if got := r.turn(well, "well"); got != "end_turn" {
				t.Errorf("the turn of another agent ended with %s", got)
			}
			r.notify("session/cancel", `{"sessionId":`+quote(session)+`}`)
			if got := member(t, r.result(turn), "stopReason"); got != "cancelled" {
				t.Errorf("the turn ended with %s", got)
			}
			for _, id := range ids {
				if m := r.answer(id); m.Error == nil && !floods && memberOf(m.Result, "stopReason") != "cancelled" {
					t.Errorf("a prompt behind it was answered with %s", m.Result)
				}
			}
			gone(t, pid)
			if got := r.turn(session, "well"); got != "end_turn" {
				t.Errorf("the next turn ended with %s", got)
			}
			if got := r.ends(); got != "end_turn cancelled end_turn" {
				t.Errorf("the turns on the record ended with %s", got)
			}
		})
	}
}

// A close ends a session whose agent does not answer it.
func TestClose_OfAStalledAgent(t *testing.T) {
	for _, name := range []string{"stalled", "deaf", "idle"} {
		t.Run(name, func(t *testing.T) {
			r, session, well := newDeaf(t)
			turn := r.prompt(session, name)
			pid := r.pid(session)
			if name == "idle" {
				r.result(turn)
			}
			if got := r.call("session/close", `{"sessionId":`+quote(session)+`}`); got != "{}" {
				t.Errorf("session/close was answered with %s", got)
			}
			if got := member(t, r.result(turn), "stopReason"); got != "cancelled" && name != "idle" {
				t.Errorf("the turn ended with %s", got)
			}
			gone(t, pid)
			if m := r.answer(r.prompt(session, "well")); !strings.Contains(string(m.Error), "-32002") {
				t.Errorf("a prompt behind the close was answered with %s %s", m.Result, m.Error)
			}
			if got := r.turn(well, "well"); got != "end_turn" {
				t.Errorf("the turn of another agent ended with %s", got)
			}
		})
	}
}

// What is about no session does not wait for an agent that does not read, and
// neither does the client's end.
func TestDeafAgent_IsNotWaitedFor(t *testing.T) {
	var pid int
	t.Cleanup(func() { gone(t, pid) }) // behind the rig's own
	r, asleep, well := newDeaf(t)
	r.turn(asleep, "sleep")
	pid = r.pid(asleep)
	r.flood(asleep)
	for i := range 100 {
		r.notify("_told", fmt.Sprintf(`{"n":%d,"blob":%q}`, i, strings.Repeat("x", 64<<10)))
	}
	r.call("_x", `{}`)
	if third := r.begin(); third == asleep || third == well {
		t.Errorf("a third session is called %s", third)
	}
}
