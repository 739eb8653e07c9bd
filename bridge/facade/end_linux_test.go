package facade_test

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
)

// run is the binary with a scripted agent, started as Zed does: in a session of
// its own.
type run struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr strings.Builder
	family *bridgetest.Family
	place  bridgetest.Place
}

func start(t *testing.T, script string, args ...string) *run {
	t.Helper()
	p := bridgetest.NewPlace(t)
	r := &run{place: p, family: bridgetest.NewFamily(t, p)}
	program := program.Path(t)
	if args == nil {
		args = []string{"--", program, "fake-agent", p.Write(t, "script.jsonc", script)}
	}
	r.cmd = exec.Command(program, append([]string{"acp"}, args...)...)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = p.Project, p.Environ(), &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.in, r.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		_ = r.cmd.Wait()
	})
	return r
}

func (r *run) say(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(r.in, l+"\n")
	}
}

// until reads lines up to one that has a text.
func (r *run) until(t *testing.T, text string) string {
	t.Helper()
	for {
		line, err := r.out.ReadString('\n')
		if strings.Contains(line, text) {
			return line
		}
		if err != nil {
			t.Fatalf("%q did not come: %v; stderr: %s", text, err, r.stderr.String())
		}
	}
}

// inCommand brings a turn to where a command of the agent's runs.
func (r *run) inCommand(t *testing.T) {
	t.Helper()
	r.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+hello+`}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":`+quote(r.place.Project)+`,"mcpServers":[]}}`)
	r.until(t, `"id":2`)
	r.say(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"fake-1","prompt":[{"type":"text","text":"go"}]}}`)
	r.until(t, "running")
	if n := len(r.family.Now()); n < 3 {
		t.Fatalf("only %d processes run", n)
	}
}

const command = `{"stubborn":["eof","term"],"prompts":[{"steps":[{"shell":{"command":"sleep 600","background":true}},{"say":"running"},{"shell":"sleep 601"}]}]}`

// E: nothing is left, however the client goes.
func TestEnd_LeavesNothing(t *testing.T) {
	for name, end := range map[string]func(r *run) error{
		"end of input": func(r *run) error { return r.in.Close() },
		"SIGTERM":      func(r *run) error { return r.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGKILL of the group in mid-command": func(r *run) error {
			return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, command)
			r.inCommand(t)
			if err := end(r); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, r.out) }()
			r.family.Gone(t, 5*time.Second)
		})
	}
}

func TestFailedStart_ReasonIsLastOnStderr(t *testing.T) {
	for name, args := range map[string][]string{
		"no program": {"--", "/no/such/program"},
		"no agent":   {"--agent", "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "", args...)
			r.fails(t)
			if said := r.stderr.String(); name == "no agent" && !strings.Contains(said, "there are claude,") {
				t.Errorf("it does not say which agents there are: %s", said)
			}
		})
	}
}

// fails holds that there is no agent behind: initialize has one answer, an error
// that says why, stderr says the same on its last line, and the status is 1.
func (r *run) fails(t *testing.T) (why string) {
	t.Helper()
	r.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`)
	m, err := rpc.Scan([]byte(strings.TrimSpace(r.until(t, `"id":1`))))
	if err != nil || m.Error == nil {
		t.Fatalf("initialize was answered with %s, %v", m.Frame, err)
	}
	why = memberOf(m.Error, "message")
	rest, _ := io.ReadAll(r.out)
	err = r.cmd.Wait()
	lines := strings.Split(strings.TrimSpace(r.stderr.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "sallyport acp: "+why) || why == "" {
		t.Errorf("the last line is %q, want the reason %q", last, why)
	}
	if r.cmd.ProcessState.ExitCode() != 1 || len(rest) > 0 {
		t.Errorf("ended with %v; behind the answer came %q", err, rest)
	}
	r.family.Gone(t, patience)
	return why
}

// An agent that speaks another version of ACP, or none.
func TestVersion_OfTheAgent(t *testing.T) {
	for _, version := range []string{"2", "0", "99999999999999999999999", `"1"`, "\"\u202e\"", "null", "none"} {
		t.Run(version, func(t *testing.T) {
			script := `{"protocolVersion":` + version + `}`
			if version == "none" {
				script = `{"on":{"initialize":{"answer":{"result":{"agentCapabilities":{}}}}}}`
			}
			why := start(t, script).fails(t)
			for _, want := range []string{"ACP version " + version, "Sallyport speaks version 1"} {
				if !strings.Contains(why, want) && !strings.Contains(version, "\u202e") {
					t.Errorf("%q does not say %q", why, want)
				}
			}
			if strings.Contains(why, "\u202e") {
				t.Errorf("%q turns a screen around", why)
			}
		})
	}
}
