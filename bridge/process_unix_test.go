//go:build unix

package bridge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

func TestL1(t *testing.T) {
	r := newRig(t, `{"stubborn": ["eof", "term"], "prompts": [{"steps": [
	  {"shell": {"argv": ["sh", "-c", "echo $$ > one; exec sleep 9999"], "background": true}},
	  {"shell": {"argv": ["setsid", "sh", "-c", "echo $$ > two; exec sleep 9999"], "background": true}}]}]}`)
	info := r.turn("go")
	pids := []int{r.pid("one"), r.pid("two")}
	began := time.Now()
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func (r *rig) pid(name string) (pid int) {
	r.t.Helper()
	r.poll("the pid in "+name, func() bool { pid, _ = strconv.Atoi(strings.TrimSpace(r.disk(name))); return pid > 0 })
	return pid
}

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	return !strings.HasPrefix(strings.TrimSpace(string(raw[strings.LastIndexByte(string(raw), ')')+1:])), "Z")
}

func TestL4(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"resume": {}}}, "prompts": [{"match": "hi", "steps": [{"say": "hi"}]}]}`)
	var ids []string
	for range 6 {
		ids = append(ids, r.open().ID)
	}
	live := 0
	for _, i := range r.Live() {
		if i.Capabilities.Resume { // known only while its agent lives
			live++
		}
	}
	if live != 4 {
		t.Errorf("%d agents live, want 4", live)
	}
	if info, _ := r.Info(ids[0]); info.Capabilities.Resume {
		t.Error("the least recently used one was not ended first")
	}
	if _, err := r.prompt(ids[0], "hi"); err != nil {
		t.Errorf("a session whose agent was ended: %v", err)
	}
	if n := r.display.noticed(bridge.NoticeNew); len(n) != 1 || !strings.Contains(n[0].Text, "resumed") {
		t.Errorf("notices are %+v, want that it was resumed", n)
	}
}

func TestABusyAgentIsNeverEnded(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "ask", "steps": [`+asks+`]}]}`)
	r.config.MaxAgents = 1
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	info := r.open()
	ends := r.start(info.ID, "ask")
	<-r.display.asked
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a second session gave %v, want that all are busy", err)
	}
	close(release)
	if e := r.end(ends); e.err != nil || r.said() != "allowed" {
		t.Errorf("the busy turn ended with %+v and %q", e, r.said())
	}
}

func TestL5(t *testing.T) {
	r := newRig(t, `{"start": [{"noise": {"bytes": 1048576, "to": "stderr"}}],
	  "prompts": [{"steps": [{"repeat": {"times": 50, "steps": [{"say": "x"}, {"noise": {"bytes": 1024, "to": "stderr"}}]}}, {"noise": {"text": "the end", "to": "stderr"}}, {"exit": 7}]}]}`)
	info := r.open()
	_, err := r.prompt(info.ID, "go")
	var gone *bridge.GoneError
	if !errors.As(err, &gone) || !strings.Contains(gone.Stderr, "the end") || len(gone.Stderr) > 256<<10 {
		t.Errorf("got %v with %d bytes of stderr, want the last lines, bounded", err, len(gone.Stderr))
	}
	if n := strings.Count(r.said(), "x"); n != 50 {
		t.Errorf("%d chunks came, want 50", n)
	}
}

func TestL8(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"say": "${environ}"}]}]}`, func(r *rig) {
		r.Bridge.Home.Environ = append(r.Bridge.Home.Environ, "OPENAI_API_KEY=s3cret", "AWS_SECRET_ACCESS_KEY=s3cret", "GITHUB_TOKEN=s3cret",
			"FOO_TOKEN=s3cret", "DB_PASSWORD=s3cret", "DATABASE_URL=s3cret", "SSH_AUTH_SOCK=s3cret", "ANTHROPIC_API_KEY=mine", "LANG=C.UTF-8")
		passEnv(r, "ANTHROPIC_API_KEY")
	})
	r.turn("go")
	env := r.said()
	if strings.Contains(env, "s3cret") {
		t.Errorf("a secret reached the agent:\n%s", env)
	}
	for _, want := range []string{"PATH=", "HOME=", "LANG=C.UTF-8", "ANTHROPIC_API_KEY=mine"} {
		if !strings.Contains(env, want) {
			t.Errorf("%s did not reach the agent:\n%s", want, env)
		}
	}
}

func TestAMissingProgramIsSaid(t *testing.T) {
	r := newRig(t, `{}`, func(r *rig) { command(r, "no-such-agent", "--acp") })
	_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	var start *bridge.StartError
	if !errors.As(err, &start) || !strings.Contains(start.Reason, "no-such-agent") {
		t.Errorf("got %v, want the program's name", err)
	}
}

func TestASlowStartIsBoundedAndCancellable(t *testing.T) {
	t.Run("limit", func(t *testing.T) {
		r := newRig(t, `{"on": {"initialize": {"answer": "never"}}}`)
		r.config.Timeouts.StartSeconds = 1
		_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
		var start *bridge.StartError
		if !errors.As(err, &start) || !strings.Contains(start.Reason, "no answer to initialize within 1s") || start.Hint == "" {
			t.Errorf("got %v (%+v)", err, start)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		r := newRig(t, `{"on": {"session/new": {"answer": "never"}}}`)
		ctx, cancel := contextOf(r)
		done := make(chan error, 1)
		go func() {
			_, err := r.New(ctx, bridge.NewSession{Folder: r.folder})
			done <- err
		}()
		r.poll("session/new on the wire", func() bool { raw, _ := os.ReadFile(r.log); return strings.Contains(string(raw), "session/new") })
		cancel()
		if err := <-done; err == nil || len(r.Live()) != 0 {
			t.Errorf("got %v, and %d sessions are left", err, len(r.Live()))
		}
	})
}

// TestPrestart: an agent that was started ahead serves the first session.
func TestPrestart(t *testing.T) {
	r := newRig(t, `{}`)
	r.Prestart("fake", r.folder)
	r.poll("initialize on the wire", func() bool { raw, _ := os.ReadFile(r.log); return strings.Contains(string(raw), "initialize") })
	r.open()
	if n := strings.Count(strings.Join(r.wire(), "\n"), `"method":"initialize"`); n != 1 {
		t.Errorf("%d agents were started, want one", n)
	}
}

func TestI7(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"noise": {"text": "last words", "to": "stderr"}},
	  {"shell": {"argv": ["sh", "-c", "echo $$ > pid; exec sleep 9999"], "background": true}},
	  `+asks+`]}]}`)
	r.display.answer = func(ctx ctx, _ *permit.Card) (permit.Answer, error) { <-ctx.Done(); return permit.Answer{}, ctx.Err() }
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	var shell int
	r.poll("the shell's pid", func() bool { shell, _ = strconv.Atoi(strings.TrimSpace(r.disk("pid"))); return shell > 0 })
	agent := parentOf(t, shell)
	began := time.Now()
	if err := syscall.Kill(agent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e := r.end(ends)
	var gone *bridge.GoneError
	if !errors.As(e.err, &gone) || !strings.Contains(gone.Exit, "killed") || !strings.Contains(gone.Stderr, "last words") {
		t.Errorf("the turn ended with %v (%+v), want the agent's end with its last words", e.err, gone)
	}
	t.Logf("told %v after the kill", time.Since(began))
	r.poll("the end of the shell", func() bool { return syscall.Kill(shell, 0) != nil })
	r.display.until(t, "the card's end", func(d *display) bool { return len(d.settled) == 1 && d.settled[0].outcome.By == permit.ByCancel })
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}
