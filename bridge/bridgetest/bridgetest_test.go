package bridgetest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/bridgetest"
)

func TestMain(m *testing.M) { bridgetest.Main(m) }

// patience is how long an agent may take on a busy machine.
const patience = 120 * time.Second

// wire is a client just large enough to see that an agent works.
type wire struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// start runs a command and gives its wire. The process is killed at the end.
func start(t *testing.T, env []string, dir string, command ...string) wire {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = env, dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() }) // ends the reading
	t.Cleanup(func() {
		timer.Stop()
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return wire{t, in, bufio.NewReader(out)}
}

// call sends a request, refuses what the agent asks, and waits for the result.
func (w wire) call(id int, method, params string) jsontext.Value {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
	for {
		line, err := w.out.ReadString('\n')
		if err != nil {
			w.t.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Result jsontext.Value `json:"result"`
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue // noise
		}
		switch {
		case m.Method != "" && len(m.ID) > 0:
			fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not here"}}`+"\n", m.ID)
		case m.Method == "" && string(m.ID) == fmt.Sprint(id):
			if len(m.Result) == 0 {
				w.t.Fatalf("%s: %s", method, line)
			}
			return m.Result
		}
	}
}

// open does initialize and session/new, and gives the session's id.
func (w wire) open(folder string) string {
	w.t.Helper()
	w.call(0, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"bridgetest","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`)
	var s struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(w.call(1, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, folder)), &s); err != nil {
		w.t.Fatal(err)
	}
	return s.SessionID
}

func TestFakeIsAProgram(t *testing.T) {
	fake := bridgetest.Fake(t, `{"prompts": [{"steps": [{"say": "hi"}]}]}`)
	w := start(t, os.Environ(), t.TempDir(), fake.Command...)
	session := w.open("/p")
	if got := w.call(2, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, session)); string(got) != `{"stopReason":"end_turn"}` {
		t.Errorf("got %s, want end_turn", got)
	}
	log, err := os.ReadFile(fake.Log)
	if err != nil || strings.Count(string(log), "\n") != 3 {
		t.Errorf("logged %q, %v, want three lines", log, err)
	}
}

// TestRealAgents sees that each real agent starts, and asks the model.
func TestRealAgents(t *testing.T) {
	for _, a := range bridgetest.Agents() {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			agent := bridgetest.RealAgent(t, a.ID)
			place := bridgetest.NewPlace(t)
			family := bridgetest.NewFamily(t, place)
			t.Cleanup(func() {
				for _, p := range family.Now() { // not a test of their manners
					if process, err := os.FindProcess(p.PID); err == nil {
						process.Kill()
					}
				}
			})
			model := bridgetest.StartModel(t)
			env := append(agent.Install(t, place, model.URL), agent.Environ(model.URL)...)
			w := start(t, env, place.Project, append([]string{place.Bin + "/" + a.Program}, agent.Args...)...)
			session := w.open(place.Project)
			got := w.call(2, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"script:text cwd=%s"}]}`, session, place.Project))
			if !strings.Contains(string(got), `"end_turn"`) {
				t.Errorf("got %s, want end_turn", got)
			}
			if len(model.Requests(t)) == 0 {
				t.Error("the model was not asked")
			}
			if len(family.Now()) == 0 {
				t.Error("no process was found")
			}
		})
	}
}

func TestFamilyFindsWhatEscaped(t *testing.T) {
	place := bridgetest.NewPlace(t)
	family := bridgetest.NewFamily(t, place)
	// The middle process ends, so the sleeper has another parent and an empty environment.
	cmd := exec.Command("sh", "-c", `env -i sh -c 'exec sleep 4242' & wait`)
	cmd.Env = place.Environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sleeper := family.Find(t, "sleep 4242", 10*time.Second)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	found := false
	for _, p := range family.Now() {
		found = found || p.PID == sleeper.PID
	}
	if !found {
		t.Error("the orphan was lost from view")
	}
	process, err := os.FindProcess(sleeper.PID)
	if err != nil {
		t.Fatal(err)
	}
	process.Kill()
	family.Gone(t, 10*time.Second)
}
