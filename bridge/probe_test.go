package bridge_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/plugins/harness"
)

// TestProbe really starts an agent, and leaves nothing of it.
func TestProbe(t *testing.T) {
	for _, test := range []struct {
		name, script string
		fails        bool
		want         bridge.Probed
	}{
		{"works", `{"agent": {"name": "x", "version": "1"}, "capabilities": {"loadSession": true, "sessionCapabilities": {"list": {}, "fork": {}}}, ` + modesAB + `}`, false,
			bridge.Probed{Name: "x", Version: "1", Sessions: []string{"load", "fork", "list"}, Modes: []string{"a", "b"}}},
		{"wants a sign-in", `{"agent": {"name": "x"}, "authRequired": true, "authMethods": [{"id": "a", "name": "Key"},
		  {"id": "b", "name": "B", "_meta": {"terminal-auth": {"command": "x", "args": ["login"]}}}]}`, true,
			bridge.Probed{Name: "x", Fix: " acp --agent fake --sallyport-sign-in --program x -- login"}},
		{"refuses a session", `{"agent": {"name": "x"}, "on": {"session/new": {"answer": {"error": {"code": 1, "message": "no"}}}}}`, true, bridge.Probed{Name: "x"}},
		{"does not speak ACP", `{"protocolVersion": 99}`, true, bridge.Probed{Fix: "update Sallyport, or use a version of the agent that speaks ACP 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			r := newRig(t, test.script)
			r.config.MaxAgents = 1
			h, err := r.Home.Harness("")
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Probe(r.ctx(), h)
			if (err != nil) != test.fails {
				t.Errorf("got %v", err)
			}
			if got.Name != test.want.Name || got.Version != test.want.Version || !strings.HasSuffix(got.Fix, test.want.Fix) || (got.Fix == "") != (test.want.Fix == "") ||
				!slices.Equal(got.Sessions, test.want.Sessions) || !slices.Equal(got.Modes, test.want.Modes) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if n := r.Agents(); n != 0 || len(r.Live()) != 0 {
				t.Errorf("%d agents and %d sessions are left", n, len(r.Live()))
			}
			if left, err := filepath.Glob(filepath.Join(temp, "sallyport-probe-*")); err != nil || len(left) != 0 {
				t.Errorf("folders are left: %v, %v", left, err)
			}
		})
	}
}

// TestL9_ErrorsOfAnAgent: what it says in an error is told, and not logged.
func TestL9_ErrorsOfAnAgent(t *testing.T) {
	const secret = "sk-test-BBBB1111"
	for name, script := range map[string]string{
		"initialize":    `{"on": {"initialize": {"answer": {"error": {"code": 1, "message": "` + secret + `", "data": "` + secret + `"}}}}}`,
		"no answer":     `{"on": {"initialize": {"answer": {"result": "` + secret + `"}}}}`,
		"version":       `{"protocolVersion": "` + secret + `"}`,
		"session/close": `{"capabilities": {"sessionCapabilities": {"close": {}}}, "on": {"session/close": {"answer": {"error": {"code": 1, "message": "` + secret + `"}}}}}`,
		"last words":    `{"start": [{"noise": {"text": "` + secret + `", "to": "stderr"}}, {"exit": 3}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			r := newRig(t, script, func(r *rig) {
				r.Bridge.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			r.Prestart("fake", r.folder)
			info, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
			if err == nil {
				err = r.CloseSession(r.ctx(), info.ID)
			}
			var start *bridge.StartError
			if name == "last words" && (!errors.As(err, &start) || !strings.Contains(start.Stderr, secret)) {
				t.Errorf("the user is not told: %v", err)
			}
			r.Close(r.ctx())
			if strings.Contains(log.String(), secret) {
				t.Errorf("in the log:\n%s", log.String())
			}
		})
	}
}

// former is a display that can show forms.
type former struct {
	*display
	answer func(ctx context.Context, params jsontext.Value) (jsontext.Value, error)
}

func (f former) Elicit(ctx context.Context, _ string, params jsontext.Value) (jsontext.Value, error) {
	return f.answer(ctx, params)
}

// TestElicitation: shown as it is, for this session only, withdrawn with the
// turn.
func TestElicitation(t *testing.T) {
	form := func(session string) string {
		return `{"request": {"method": "elicitation/create", "params": {"sessionId": "` + session + `", "mode": "form", "message": "?", "requestedSchema": {"type": "object"}, "x": 1.0}, "as": "e"}}`
	}
	r := newRig(t, `{"prompts": [
	  {"match": "ask", "steps": [`+form("${session}")+`, {"say": "${e}"}]},
	  {"match": "other", "steps": [`+form("other")+`, {"say": "${e.code}"}]},
	  {"match": "wait", "steps": [`+form("${session}")+`, {"say": "${e}"}, {"waitCancel": true}]}]}`)
	asked := make(chan string, 2)
	first := true // one form at a time
	r.Display = former{r.display, func(ctx context.Context, params jsontext.Value) (jsontext.Value, error) {
		asked <- string(params)
		if first {
			first = false
			return jsontext.Value(`{"action":"accept","content":{"a":1}}`), nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	info := r.open()
	r.expectWire(`"elicitation":{`)
	for _, p := range []string{"ask", "other"} {
		if _, err := r.prompt(info.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	got := <-asked
	if want := `{"action":"accept","content":{"a":1}}-32602`; r.said() != want || !strings.Contains(got, `"x":1.0`) {
		t.Errorf("the agent got %s for %s, want %s", r.said(), got, want)
	}
	ends := r.start(info.ID, "wait")
	<-asked
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if !strings.HasSuffix(r.said(), `{"action":"cancel"}`) {
		t.Errorf("a form that was withdrawn gave %s", r.said())
	}
}

// TestAProgramIsFoundWithoutAFinder: on PATH alone.
func TestAProgramIsFoundWithoutAFinder(t *testing.T) {
	r := newRig(t, `{}`, func(r *rig) { r.Home.Finder = nil })
	r.open()
	change(r, func(h *harness.Harness) { h.Program.Locate.Command = []string{"no-such-agent"} })
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
