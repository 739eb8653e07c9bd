//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/bridgetest"
)

// way is one of an agent's ways to sign in, as a client reads it.
type way struct {
	ID   string   `json:"id"`
	Type string   `json:"type"`
	Args []string `json:"args"`
	Meta struct {
		Type     string   `json:"type"`
		Args     []string `json:"args"`
		Terminal *struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"terminal-auth"`
	} `json:"_meta"`
}

const greetingOfZed = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},"_meta":{"terminal_output":true,"terminal-auth":true}},"clientInfo":{"name":"zed","version":"1"}}}`

// ways are those that a client gets that was started in a desk's place.
func (d *desk) ways(words ...string) (all []way) {
	d.t.Helper()
	cmd := exec.Command(d.built, words...)
	cmd.Env, cmd.Dir = d.env, d.place.Project
	in, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	if _, err := in.Write([]byte(greetingOfZed + "\n")); err != nil {
		d.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var answer struct {
		Result struct {
			Methods []way `json:"authMethods"`
		} `json:"result"`
	}
	if err == nil {
		err = json.Unmarshal(jsontext.Value(line), &answer)
	}
	if err != nil || len(answer.Result.Methods) == 0 {
		d.t.Fatalf("it gives no way to sign in: %v: %s", err, line)
	}
	return answer.Result.Methods
}

// TestSignIn_RealAgents: each way of theirs that needs a terminal, begun as a client
// begins it, leads to the agent's own dialogue inside the fences.
func TestSignIn_RealAgents(t *testing.T) {
	built := bridgetest.Build(t)
	for id, dialogue := range map[string]func(t *testing.T, d *desk){
		// By ACP's own type: the adapter runs Claude Code, which waits for a code.
		"claude": func(t *testing.T, d *desk) {
			w := d.ways("acp", "--agent", "claude")[0]
			if w.Type != "terminal" || w.Meta.Terminal == nil || w.Meta.Terminal.Command != built {
				t.Fatalf("the first way is %+v", w)
			}
			d.run(append([]string{"acp", "--agent", "claude"}, w.Args...)...)
			d.shows("oauth/authorize")
			d.types("\x03")
			if status := d.ends(); status == 0 {
				t.Error("it was not signed in to, and the status says so")
			}
		},
		// By a command in _meta: the key that is typed is kept where sessions find it.
		"opencode": func(t *testing.T, d *desk) {
			w := d.ways("acp", "--agent", "opencode")[0]
			if w.Meta.Terminal == nil || w.Meta.Terminal.Command != built {
				t.Fatalf("the first way is %+v", w)
			}
			d.run(w.Meta.Terminal.Args...)
			d.shows("Select provider")
			d.types("\r")
			d.shows("API key")
			d.types("sk-of-a-test\r")
			if status := d.ends(); status != 0 {
				t.Errorf("status: got %d", status)
			}
			d.shows("the sign-in of opencode is done")
			if kept, err := os.ReadFile(filepath.Join(d.place.Home, ".local/share/opencode/auth.json")); err != nil || !strings.Contains(string(kept), "sk-of-a-test") {
				t.Errorf("kept is %q, %v", kept, err)
			}
		},
		// By arguments in _meta, which are added to its own. It asks the terminal what
		// it can, and then waits.
		"qwen": func(t *testing.T, d *desk) {
			w := d.ways("acp", "--agent", "qwen")[0]
			if w.Meta.Type != "terminal" {
				t.Fatalf("the first way is %+v", w)
			}
			d.run(append([]string{"acp", "--agent", "qwen"}, w.Meta.Args...)...)
			d.shows("the sign-in of Qwen Code begins")
			d.shows("\x1b[c")
			if now := d.family.Now(); !strings.Contains(lines(now), "--acp --auth-type=openai") {
				t.Errorf("what runs is\n%s", lines(now))
			}
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			if status := d.ends(); status == 0 {
				t.Error("it was ended, and the status says that all went well")
			}
			d.shows("the sign-in of Qwen Code was ended")
		},
	} {
		t.Run(id, func(t *testing.T) {
			agent := bridgetest.RealAgent(t, id)
			place := bridgetest.NewPlace(t)
			d := sit(t, built, place, agent.Install(t, place, bridgetest.StartModel(t).URL))
			before := d.modes()
			dialogue(t, d)
			if d.modes() != before {
				t.Error("the terminal is not as it was")
			}
			d.family.Gone(t, soon)
		})
	}
}

// lines are the commands of processes, one a line.
func lines(all []bridgetest.Process) string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(p.Command + "\n")
	}
	return b.String()
}
