package facade_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A message over 64 MiB that somebody waits for is answered with an error, whichever
// side says it, and costs itself alone.
func TestTooLargeMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 300 MB")
	}
	const large = 65 << 20
	r := newRig(t, fmt.Sprintf(`{"on":{"_back":{"before":[{"hugeLine":{"bytes":%d,"head":"{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":\"","tail":"\"}"}}],"answer":"never"}},
		"prompts":[{"match":"ask","steps":[{"hugeLine":{"bytes":%[1]d,"head":"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"_ask\",\"params\":{\"x\":\"","tail":"\"}}"}}]},
		{"match":"answer","steps":[{"request":{"method":"_large","params":{},"as":"out"}},{"say":"answered ${out.code}"}]}]}`, large))
	blob := `"` + strings.Repeat("x", large) + `"`
	r.answers("_large", func(jsontext.Value) string { return `"result":` + blob })
	session := r.open()
	for _, request := range []struct{ method, blob string }{{"_to", blob}, {"_back", "0"}} {
		m := r.answer(r.ask(request.method, `{"sessionId":"fake-1","blob":`+request.blob+`}`))
		if !strings.Contains(string(m.Error), "too long") {
			t.Errorf("%s was answered with %.100s %s", request.method, m.Result, m.Error)
		}
	}
	for _, prompt := range []string{"ask", "answer"} {
		if got := r.turn(session, prompt); got != "end_turn" {
			t.Errorf("turn %s ended with %s", prompt, got)
		}
	}
	if got := r.reply(`"q"`); !strings.Contains(got, "too long") {
		t.Errorf("the agent's request was answered with %.100s", got)
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "answered -32600") {
		t.Errorf("the agent's other request was answered otherwise: %.2000s", said)
	}
	if got := r.ends(); got != "end_turn end_turn" {
		t.Errorf("the turns on the record ended with %s", got)
	}
}

// An agent that never stops talking to a client that does not read is held up, in
// bounded memory; a cancel ends it all the same, and so does the client's end, which
// leaves nothing. The turn is on the record.
func TestFlood_WithoutEnd(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		t.Run(map[bool]string{false: "the client goes", true: "the client cancels"}[cancels], func(t *testing.T) {
			r := newRig(t, `{"prompts":[{"steps":[{"say":"${pid}"},`+line(`{"jsonrpc":"2.0","id":"s","method":"_stop","params":{}}`)+`,{"flood":{"n":100000000,"size":1000}}]}]}`)
			r.config.Timeouts.CancelGraceSeconds = 1
			stopped, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			r.answers("_stop", func(jsontext.Value) string { // the client reads no more
				close(stopped)
				<-release
				return ""
			})
			session := r.open()
			r.prompt(session, "go")
			pid := r.pid(session)
			<-stopped
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			time.Sleep(500 * time.Millisecond) // so that what can pile up does
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
				t.Errorf("%d MiB are held", grown>>20)
			}
			if cancels {
				r.notify("session/cancel", `{"sessionId":"fake-1"}`)
				gone(t, pid)
				r.until("the record of the turn", func() bool { return r.ends() == "cancelled" })
			}
			_ = r.in.Close()
			r.until("the end of the facade", func() bool { return len(r.ended) == 1 })
			gone(t, pid)
			if got := r.ends(); got != "cancelled" {
				t.Errorf("the turn on the record ended with %q", got)
			}
		})
	}
}
