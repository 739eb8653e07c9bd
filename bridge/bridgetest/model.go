package bridgetest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Model is a scripted model server on loopback.
type Model struct {
	URL string // http://127.0.0.1:PORT
	log string
}

// StartModel starts one for the test, with testdata/realagents/script.json.
func StartModel(t testing.TB) Model {
	t.Helper()
	return StartModelScript(t, filepath.Join(Root(t), "testdata", "realagents", "script.json"))
}

// StartModelScript starts one with another script.
func StartModelScript(t testing.TB, script string) Model {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "node", "install Node.js 20 or newer")
	}
	log := filepath.Join(t.TempDir(), "requests.jsonl")
	cmd := exec.Command(node, filepath.Join(Root(t), "testdata", "realagents", "model.mjs"), "--script", script, "--log", log)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // killed: its status says nothing
	})
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("starting the model: %v: %s", err, &stderr)
	}
	return Model{URL: strings.TrimSpace(url), log: log}
}

// Request is one request of an agent to the model.
type Request struct {
	URL   string         `json:"url"`
	Model string         `json:"model"`
	Tools []string       `json:"tools"` // offered by the agent
	Call  jsontext.Value `json:"call"`  // the tool call that was answered, if any
}

// Requests are those that came so far.
func (m Model) Requests(t testing.TB) []Request {
	t.Helper()
	data, err := os.ReadFile(m.log)
	if err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		t.Fatal(err)
	}
	var all []Request
	for line := range bytes.Lines(data) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("the model's log: %v", err)
		}
		all = append(all, r)
	}
	return all
}
