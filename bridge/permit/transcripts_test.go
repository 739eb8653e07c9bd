package permit_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const transcripts = "../../testdata/realagents/transcripts"

// fromAgent calls fn with each JSON-RPC message that an agent sent in one
// recorded scenario, in the order of the wire.
func fromAgent(t *testing.T, file string, fn func(method string, params jsontext.Value)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Dir string `json:"dir"`
			Msg struct {
				Method string         `json:"method"`
				Params jsontext.Value `json:"params"`
			} `json:"msg"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line, json.RejectUnknownMembers(false)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if line.Dir == "<-" && line.Msg.Method != "" {
			fn(line.Msg.Method, line.Msg.Params)
		}
	}
}

// TestRealPermissionRequests classifies every permission that the recorded
// agents asked for. The golden file is read by people when it changes: a line
// that loses its kind, its command or a path is a fault.
func TestRealPermissionRequests(t *testing.T) {
	if _, err := os.Stat(transcripts); err != nil {
		t.Skipf("the recordings of real agents are not in this tree: %v", err)
	}
	files, err := filepath.Glob(transcripts + "/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts under %s (%v)", transcripts, err)
	}
	var got strings.Builder
	for _, file := range files {
		agent, scenario := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".jsonl")
		readers := map[string]*permit.Reader{}
		fromAgent(t, file, func(method string, params jsontext.Value) {
			var p struct {
				SessionID string         `json:"sessionId"`
				Update    jsontext.Value `json:"update"`
			}
			if err := json.Unmarshal(params, &p); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			r := readers[p.SessionID]
			if r == nil {
				r = reader(t, agent)
				readers[p.SessionID] = r
			}
			switch method {
			case "session/update":
				var u struct {
					Kind string `json:"sessionUpdate"`
				}
				if err := json.Unmarshal(p.Update, &u); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				r.Calls.Merge(u.Kind, p.Update)
			case "session/request_permission":
				c, err := r.Read("t", params)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				evident(t, agent+"/"+scenario, c)
				fmt.Fprintf(&got, "%s/%s\n\t%s %s %s\n\tpaths %q\n", agent, scenario, c.Request.Kind, c.Request.Tool, c.Request.Input, c.Paths)
				for _, d := range c.Diffs {
					old := "new file"
					if d.Old != nil {
						old = fmt.Sprintf("%q", *d.Old)
					}
					fmt.Fprintf(&got, "\tdiff %s: %s to %q\n", d.Path, old, d.New)
				}
			}
		})
	}
	golden := filepath.Join("testdata", "permissions.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("classification changed; compare %s with:\n%s", golden, got.String())
	}
}

// reader is the Reader of a recorded agent, as the manifest of its harness makes it.
func reader(t *testing.T, agent string) *permit.Reader {
	t.Helper()
	id := map[string]string{"claude": "claude", "codex-acp": "codex", "codex-acp-ro": "codex", "codex-acp-ws": "codex", "codex-acp-zed": "codex-zed",
		"gemini": "gemini", "opencode": "opencode", "opencode-ask": "opencode", "qwen": "qwen"}[agent]
	set, _, err := harness.Load(harness.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := set.Get(id)
	if err != nil {
		t.Fatalf("%s: %v", agent, err)
	}
	return &permit.Reader{Session: "s", Tools: h.ACP.Tools.Names, CommandInTitle: h.HasQuirk(harness.CommandInTitle)}
}

// evident sees that nothing of a recorded request is left to a guess: it has one of
// the kinds that rules know, a tool of Claude Code's, a command's whole line and the
// files of an edit.
func evident(t *testing.T, where string, c *permit.Card) {
	t.Helper()
	switch q := c.Request; {
	case q.Kind == permit.Tool || q.Kind != permit.KindOf(q.Tool):
		t.Errorf("%s: it is of kind %s, with the tool %s", where, q.Kind, q.Tool)
	case q.Kind == permit.Command:
		var input struct {
			Command string         `json:"command"`
			Cut     jsontext.Value `json:"sallyport_cut"`
		}
		if err := json.Unmarshal(q.Input, &input); err != nil || input.Command == "" || len(input.Cut) > 0 {
			t.Errorf("%s: the command is not whole: %s (%v)", where, q.Input, err)
		}
	case q.Kind == permit.Edit && len(c.Paths) == 0:
		t.Errorf("%s: an edit of no file", where)
	}
}
