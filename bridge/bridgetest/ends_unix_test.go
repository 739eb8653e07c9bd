//go:build unix

package bridgetest_test

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/bridgetest"
	"sallyport/server/servertest"
)

// soon is how long a process may outlive the bridge.
const soon = 5 * time.Second

// served is "sallyport serve" with a scripted agent that runs a command.
type served struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	family *bridgetest.Family
}

// serve starts one; when it returns, the agent's command is running.
func serve(t *testing.T, program string) served {
	t.Helper()
	fake := bridgetest.Fake(t, `{"prompts": [{"steps": [{"shell": "sleep 4243"}]}]}`)
	place := bridgetest.NewPlace(t)
	config, err := json.Marshal(map[string]any{"agents": map[string]any{"scripted": map[string]any{"command": "'" + strings.Join(fake.Command, "' '") + "'", "state": []string{filepath.Dir(fake.Log)}}}})
	if err != nil {
		t.Fatal(err)
	}
	place.Write(t, "home/.config/sallyport/config.json", string(config))
	s := served{cmd: exec.Command(program, "serve"), family: bridgetest.NewFamily(t, place)}
	s.cmd.Env, s.cmd.Dir = place.Environ(), place.Project
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	editor := &servertest.Editor{Setup: servertest.Setup{Folder: place.Project, Plugin: servertest.Everything()}}
	editor.Start(stdout, stdin)
	t.Cleanup(func() {
		stdin.Close()
		s.cmd.Process.Kill() // it may have ended
		editor.Wait()
		s.cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := editor.Initialize(ctx); err != nil {
		t.Fatal(err)
	}
	var opened struct {
		Session string `json:"sessionId"`
	}
	if err := editor.Call(ctx, "sallyport/session/new", map[string]string{"agent": "scripted", "cwd": place.Project}, &opened); err != nil {
		t.Fatal(err)
	}
	editor.Go("sallyport/session/prompt", map[string]any{"sessionId": opened.Session, "prompt": []jsontext.Value{jsontext.Value(`{"type":"text","text":"go"}`)}}, func([]byte, error) {})
	s.family.Find(t, "sleep 4243", patience)
	return s
}

func TestL2_BridgeIsGone(t *testing.T) {
	program := bridgetest.Build(t)
	for _, test := range []struct {
		name string
		end  func(served) error
	}{
		{"killed", func(s served) error { return s.cmd.Process.Kill() }},
		{"its input closed", func(s served) error { return s.stdin.Close() }},
		{"its link dropped", func(s served) error { // what a shell sends whose link is gone
			return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGHUP)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, program)
			if err := test.end(s); err != nil {
				t.Fatal(err)
			}
			s.family.Gone(t, soon)
		})
	}
}

// TestL3_ChildKeepsThePipes has an agent that ends at once and leaves a child
// with its stdin, stdout and stderr.
func TestL3_ChildKeepsThePipes(t *testing.T) {
	program := bridgetest.Build(t)
	place := bridgetest.NewPlace(t)
	family := bridgetest.NewFamily(t, place)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the child lives longer
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "run", "--command", "sh -c 'sleep 60 & exit 7'", "hi")
	cmd.Env, cmd.Dir = place.Environ(), place.Project
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the agent's end was not seen: %s", out)
	}
	if err == nil || !strings.Contains(string(out), "7") {
		t.Errorf("got %v and %s, want a failure that names status 7", err, out)
	}
	family.Gone(t, soon)
}
