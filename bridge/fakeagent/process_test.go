package fakeagent_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/fakeagent"
)

// agentProcess is the fake agent as a process, with its stdin open.
func agentProcess(t *testing.T, script string, args ...string) (*exec.Cmd, io.WriteCloser, *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.jsonc")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], append(args, file)...)
	cmd.Env = append(os.Environ(), reexec+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, in, &out
}

func TestProcessEnds(t *testing.T) {
	for _, test := range []struct {
		name, script, out string
		code              int
	}{
		{"exit", `{"start": [{"noise": "bye"}, {"exit": 7}]}`, "bye\n", 7},
		{"failure", `{"start": [{"expect": {"that": "a", "is": "b"}}]}`, "fake-agent: expect: got \"a\", want \"b\"\n", 3},
		{"bad script", `{"x": 1}`, "hint:", 2},
		{"crash", `{"start": [{"crash": true}]}`, "", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd, _, out := agentProcess(t, test.script)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != test.code || !strings.Contains(out.String(), test.out) {
				t.Errorf("got status %d and %q, want %d and %q", got, out, test.code, test.out)
			}
		})
	}
}

func TestProcessAnswersWhatItReadBeforeTheEnd(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	cmd, in, out := agentProcess(t, `{}`, "--log", log)
	const line = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"
	io.WriteString(in, line)
	in.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), `"protocolVersion":1`) {
		t.Errorf("got %v and %s", err, out)
	}
	if got, err := os.ReadFile(log); err != nil || string(got) != line {
		t.Errorf("logged %q, %v, want %q", got, err, line)
	}
}

func TestProcessInAnyFolder(t *testing.T) {
	cmd, in, out := agentProcess(t, `{}`)
	in.Close()
	cmd.Wait()
	odd := filepath.Join(t.TempDir(), "50% #1 ü")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(cmd.Path, cmd.Args[1:]...)
	again.Env, again.Dir = cmd.Env, odd
	if got, err := again.CombinedOutput(); err != nil {
		t.Errorf("in %s: %v and %s; elsewhere %s", odd, err, got, out)
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--help"}, 0, "example:"},
		{[]string{"--schema"}, 0, `"$schema"`},
		{nil, 2, "hint:"},
		{[]string{"--nope"}, 2, "hint:"},
		{[]string{"a", "b"}, 2, "hint:"},
	} {
		var out bytes.Buffer
		if got := fakeagent.Run(test.args, strings.NewReader(""), &out, &out); got != test.code || !strings.Contains(out.String(), test.want) {
			t.Errorf("%v: got status %d and %q, want %d and %q in it", test.args, got, &out, test.code, test.want)
		}
	}
}
