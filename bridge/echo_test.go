package bridge_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

func TestK8(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "h"}}},
	  {"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "i"}}},
	  {"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "not from the user"}}}]}]}`)
	r.turn("hi")
	if len(r.display.updates) != 1 || !strings.Contains(r.display.updates[0].raw, "not from") {
		t.Errorf("shown: %+v, want the echo of the prompt left out and nothing else", r.display.updates)
	}
}

// TestL9: nothing that an agent says is in the log, however it is cut.
func TestL9(t *testing.T) {
	const secret = "sk-test-AAAA0000AAAA0000"
	for split := 1; split < len(secret); split += 5 {
		var log lockedBuffer
		r := newRig(t, fmt.Sprintf(`{"prompts": [{"steps": [
		  {"say": "key %[1]s"}, {"say": "%[2]s done"}, {"noise": "%[1]s"}, {"noise": "%[2]s"},
		  {"noise": {"text": "%[1]s%[2]s", "to": "stderr"}}, {"write": {"path": "${cwd}/../out", "text": "%[1]s%[2]s"}},
		  {"request": {"method": "x/%[1]s", "params": {"k": "%[2]s"}}}]}]}`, secret[:split], secret[split:]), func(r *rig) {
			r.Bridge.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			r.Bridge.Home.Environ = append(r.Bridge.Home.Environ, "KEY="+secret)
			passEnv(r, "KEY")
		})
		r.turn("the key is " + secret)
		r.Close(r.ctx())
		for _, piece := range []string{secret, secret[:split], secret[split:]} {
			if len(piece) > 5 && strings.Contains(log.String(), piece) {
				t.Errorf("%q is in the log:\n%s", piece, log.String())
			}
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
