package doctor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sallyport/plugins/harness"
)

var update = flag.Bool("update", false, "write the expected texts anew")

// machine is a computer with some programs: name to what it prints.
type machine struct {
	dir      string
	programs map[string]string
	fails    map[string]error
	hangs    string // name of a program that never answers
}

func (m machine) lookPath(name string) (string, error) {
	if _, ok := m.programs[name]; ok {
		return filepath.Join(m.dir, name), nil
	}
	return "", exec.ErrNotFound
}

func (m machine) run(ctx context.Context, path string, _ []string) ([]byte, error) {
	name := filepath.Base(path)
	if name == m.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []byte(m.programs[name]), m.fails[name]
}

func set(t *testing.T, user ...*harness.Harness) *harness.Set {
	t.Helper()
	s, problems, err := harness.Load(harness.Sources{User: user})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return s
}

func row(t *testing.T, r Report, id string) Agent {
	t.Helper()
	i := slices.IndexFunc(r.Agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		t.Fatalf("no row for %s", id)
	}
	return r.Agents[i]
}

// valid checks a report against the shipped schema.
func valid(t *testing.T, r Report) error {
	t.Helper()
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return validJSON(t, data)
}

func validJSON(t *testing.T, data []byte) error {
	t.Helper()
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(FormatURN, source); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(FormatURN)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

// TestCheck: available or not, the version against those tested, and the line
// that mends what is wrong (C016 to C019).
func TestCheck(t *testing.T) {
	m := machine{
		dir: t.TempDir(),
		programs: map[string]string{
			"gemini": "0.61.0\n", "qwen": "0.15.0", "opencode": "1.19.0", "codex-acp": "", "claude-agent-acp": "",
		},
		fails: map[string]error{"codex-acp": errors.New("exit status 127")},
	}
	mine, err := harness.FromCommand(harness.Command{ID: "mine", Args: []string{"gemini", "--acp"}})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := harness.FromCommand(harness.Command{ID: "gone", Line: "nowhere --acp"})
	if err != nil {
		t.Fatal(err)
	}
	d := Doctor{Set: set(t, mine, gone), LookPath: m.lookPath, Run: m.run, Version: "1.0.0"}
	r := d.Check(t.Context())
	if err := valid(t, r); err != nil {
		t.Errorf("the report breaks its schema: %v", err)
	}
	install := func(id string) string {
		h, err := d.Set.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		return h.Install.Lines.For(runtime.GOOS)
	}
	for _, tc := range []struct {
		id        string
		available bool
		status    harness.Status
		found     string
		problem   string // a part
		fix       string
	}{
		{"gemini", true, harness.IsTested, "0.61.0", "", ""},
		{"qwen", true, harness.IsOlder, "0.15.0", "older than 0.15.10", "npm install -g @qwen-code/qwen-code@latest"},
		{"opencode", true, harness.IsNewer, "1.19.0", "", ""},
		{"claude", true, harness.Untested, "", "", ""},
		{"codex", false, harness.Untested, "", "is installed but does not run: running", "npm install -g @agentclientprotocol/codex-acp@latest"},
		{"goose", false, harness.Untested, "", "goose is not on PATH", install("goose")},
		{"demo", true, harness.Untested, "", "", ""},
		{"mine", true, harness.Untested, "", "", ""},
		{"gone", false, harness.Untested, "", "nowhere is not on PATH", ""},
	} {
		a := row(t, r, tc.id)
		s := a.State
		if s.Available != tc.available || s.Version.Status != tc.status || s.Version.Found != tc.found || s.Fix != tc.fix {
			t.Errorf("%s = %+v\nwant available %v, %s %q, fix %q", tc.id, s, tc.available, tc.status, tc.found, tc.fix)
		}
		if (s.Problem == "") != (tc.problem == "") || !strings.Contains(s.Problem, tc.problem) {
			t.Errorf("%s: problem %q, want %q", tc.id, s.Problem, tc.problem)
		}
	}
	if !row(t, r, "gemini").State.Ran || row(t, r, "mine").State.Ran || row(t, r, "demo").State.Ran || row(t, r, "goose").State.Ran {
		t.Error("ran is wrong")
	}
	if got := row(t, r, "mine").GlobalID; got != "user:mine" {
		t.Errorf("mine is %q", got)
	}
	if install("goose") == "" {
		t.Error("goose has no install line")
	}
}

// TestEveryMissingAgentHasItsLine: on a bare machine each agent but the demo is
// missing, and the line that installs it is in the report and in the text.
func TestEveryMissingAgentHasItsLine(t *testing.T) {
	d := Doctor{Set: set(t), LookPath: machine{}.lookPath, Run: machine{}.run}
	r := d.Check(t.Context())
	var text strings.Builder
	if err := r.Text(&text, false); err != nil {
		t.Fatal(err)
	}
	for _, h := range d.Set.All() {
		a := row(t, r, h.ID)
		if a.State.Available != (h.ID == "demo") {
			t.Errorf("%s: available %v", h.ID, a.State.Available)
		}
		if line := h.Install.Lines.For(runtime.GOOS); h.ID != "demo" && (line == "" || a.State.Fix != line && !strings.Contains(a.State.Fix, "Node.js") || !strings.Contains(text.String(), "\n           "+a.State.Fix+"\n")) {
			t.Errorf("%s: fix %q, want %q", h.ID, a.State.Fix, line)
		}
	}
	if err := valid(t, r); err != nil {
		t.Error(err)
	}
}

// TestL6_MissingNode: an agent that cannot run for lack of node is told so,
// with what to install, and one old node is a note only.
func TestL6_MissingNode(t *testing.T) {
	d := Doctor{Set: set(t), LookPath: machine{}.lookPath, Run: machine{}.run}
	s := row(t, d.Check(t.Context()), "claude").State
	if s.Problem != "Claude Code needs node 22 or newer, which is not on PATH" || s.Fix != "install Node.js 22 or newer from https://nodejs.org" {
		t.Errorf("claude = %+v", s)
	}
	m := machine{dir: t.TempDir(), programs: map[string]string{"node": "v20.20.2", "claude-agent-acp": ""}}
	d = Doctor{Set: set(t), LookPath: m.lookPath, Run: m.run}
	h, err := d.Set.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	state := State{Available: true, Ran: true}
	(&needs{d: &d, found: map[string]*need{}}).check(t.Context(), h, &state)
	if want := "Claude Code wants node 22 or newer, and this is 20.20.2"; !state.Available || state.Note != want {
		t.Errorf("state = %+v, want the note %q", state, want)
	}
}

// TestHangingProgram costs its own row its time, and no other.
func TestHangingProgram(t *testing.T) {
	dir := t.TempDir()
	all := set(t)
	synctest.Test(t, func(t *testing.T) {
		m := machine{dir: dir, programs: map[string]string{"gemini": "", "qwen": "0.15.10"}, hangs: "gemini"}
		d := Doctor{Set: all, LookPath: m.lookPath, Run: m.run}
		began := time.Now()
		r := d.Check(t.Context())
		if took := time.Since(began); took != DefaultTimeout {
			t.Errorf("took %s, want %s", took, DefaultTimeout)
		}
		s := row(t, r, "gemini").State
		if s.Available || s.Problem != "Gemini CLI did not answer within 45s" || s.Fix == "" {
			t.Errorf("gemini = %+v", s)
		}
		if !row(t, r, "qwen").State.Available {
			t.Error("qwen is not available")
		}
	})
}

// TestProbe: what an agent says when started counts more than what its
// program printed; one that does not start is not available.
func TestProbe(t *testing.T) {
	m := machine{dir: t.TempDir(), programs: map[string]string{"gemini": "0.61.0", "qwen": "0.15.10", "opencode": "1.18.33"}}
	d := Doctor{Set: set(t), LookPath: m.lookPath, Run: m.run, Probe: func(_ context.Context, h *harness.Harness) (Probe, error) {
		switch h.ID {
		case "gemini":
			return Probe{Name: "gemini-cli", Version: "0.99.0", Protocol: 1, Millis: 900, Sessions: []string{"load", "resume"}}, nil
		case "qwen":
			return Probe{Fix: "qwen auth"}, errors.New("authentication required")
		case "opencode":
			return Probe{}, errors.New("exited")
		case "demo":
			return Probe{}, nil
		}
		t.Errorf("%s was started although it is missing", h.ID)
		return Probe{}, nil
	}}
	r := d.Check(t.Context())
	if err := valid(t, r); err != nil {
		t.Error(err)
	}
	a := row(t, r, "gemini")
	if a.Probe == nil || a.State.Version.Found != "0.99.0" || a.State.Version.Status != harness.IsNewer || a.Holds.Resume != "resume" {
		t.Errorf("gemini = %+v", a)
	}
	if s := row(t, r, "qwen").State; s.Available || s.Fix != "qwen auth" || s.Problem != "Qwen Code did not start: authentication required" {
		t.Errorf("qwen = %+v", s)
	}
	if s := row(t, r, "opencode").State; s.Available || s.Fix != "npm install -g opencode-ai@latest" {
		t.Errorf("opencode = %+v", s)
	}
}

// TestFencesAreTried: around each agent that is available, and an error is no
// promise.
func TestFencesAreTried(t *testing.T) {
	m := machine{dir: t.TempDir(), programs: map[string]string{"gemini": "0.61.0", "qwen": "0.15.10"}}
	d := Doctor{Set: set(t), LookPath: m.lookPath, Run: m.run, Kernel: Kernel{
		Sandbox: &Sandbox{Backend: "bubblewrap", Level: "full"},
		Try: func(_ context.Context, h *harness.Harness) (Held, error) {
			if h.ID == "qwen" {
				return Held{Level: "full", Reads: true}, errors.New("refused")
			}
			return Held{Level: "full", Reads: true, Writes: true, Reserved: true}, nil
		},
	}}
	r := d.Check(t.Context())
	if err := valid(t, r); err != nil {
		t.Error(err)
	}
	if h := row(t, r, "gemini").Held; h == nil || !h.Writes {
		t.Errorf("gemini is held %+v", h)
	}
	if h := row(t, r, "qwen").Held; h == nil || h.Level != "none" || h.Reads || h.Why != "refused" {
		t.Errorf("qwen is held %+v", h)
	}
	if h := row(t, r, "claude").Held; h != nil {
		t.Errorf("claude, which is missing, is held %+v", h)
	}
}

// TestNothingIsRun: without a Run a program is found, not ready.
func TestNothingIsRun(t *testing.T) {
	m := machine{dir: t.TempDir(), programs: map[string]string{"gemini": ""}}
	d := Doctor{Set: set(t), LookPath: m.lookPath}
	a := row(t, d.Check(t.Context()), "gemini")
	if word, _ := mark(a); !a.State.Available || a.State.Ran || word != "found" {
		t.Errorf("gemini is %s: %+v", word, a.State)
	}
}

// TestSchemaIsStrict: the schema refuses what a report must not be.
func TestSchemaIsStrict(t *testing.T) {
	data, err := sample().JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := validJSON(t, data); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"unavailable without a problem": {`"problem":`, `"note":`},
		"unknown field":                 {`"ran": true`, `"ran": true, "x": 1`},
		"unknown grade":                 {`"reads": "partly"`, `"reads": "enforced"`},
		"another format":                {`doctor-report:1`, `doctor-report:2`},
		"no availability":               {`"available": true`, `"availible": true`},
	} {
		changed := strings.Replace(string(data), change[0], change[1], 1)
		if changed == string(data) {
			t.Errorf("%s: %s is not in the sample", name, change[0])
		} else if err := validJSON(t, []byte(changed)); err == nil {
			t.Errorf("%s passes the schema", name)
		}
	}
}

// sample is a report with a row of each kind.
func sample() Report {
	tested := func(v string) *harness.Tested { return &harness.Tested{Oldest: v, Newest: v} }
	reach := harness.Reach{Reads: "partly", Writes: "mediated", Edits: "always", Commands: "always", Sessions: []string{"load"}}
	agent := func(id, name string, s State, r harness.Reach) Agent {
		return Agent{ID: id, GlobalID: "plugin:dev.sallyport." + id + ":" + id, Name: name, Origin: harness.Builtin, State: s, Holds: holds(r), Modes: []string{"default"}}
	}
	probed := agent("qwen", "Qwen Code", State{Available: true, Ran: true, Program: "/usr/bin/qwen --acp",
		Version: VersionInfo{"0.16.0", harness.IsNewer, tested("0.15.10")}, Note: "Qwen Code wants node 20 or newer, and this is 18.0.0"}, harness.Reach{})
	probed.Held = &Held{Level: "partial", Reads: true, Writes: true, Gaps: []string{"git hooks"}}
	probed.Probe = &Probe{Name: "qwen-code", Version: "0.16.0", Protocol: 1, Millis: 1234}
	return Report{
		Format: FormatURN, Sallyport: "1.0.0", System: System{"linux", "amd64"},
		Sandbox: &Sandbox{Backend: "landlock", Level: "partial", Landlock: 7, Problem: "bubblewrap is not installed", Fix: "sudo apt install bubblewrap"},
		Agents: []Agent{
			agent("claude", "Claude Code", State{Version: VersionInfo{"", harness.Untested, tested("0.49.0")},
				Problem: "Claude Code is not installed: claude-agent-acp is not on PATH",
				Fix:     "npm install -g @agentclientprotocol/claude-agent-acp"}, harness.Reach{}),
			agent("gemini", "Gemini CLI", State{Available: true, Ran: true, Program: "/usr/bin/gemini --acp",
				Version: VersionInfo{"0.61.0", harness.IsTested, tested("0.61.0")}}, reach),
			agent("codex", "Codex", State{Ran: true, Program: "/usr/bin/codex-acp", Version: VersionInfo{"2.6.0", harness.IsTested, tested("2.6.0")},
				Problem: "Codex is installed but does not run: running /usr/bin/codex-acp --version: exit status 127: env: node: No such file or directory",
				Fix:     "install Node.js 20 or newer from https://nodejs.org"}, reach),
			agent("opencode", "opencode", State{Available: true, Ran: true, Program: "/usr/bin/opencode acp",
				Version: VersionInfo{"1.0.0", harness.IsOlder, &harness.Tested{Oldest: "1.18.0", Newest: "1.18.33"}},
				Problem: "1.0.0 is older than 1.18.0, the oldest version tested", Fix: "npm install -g opencode-ai@latest"}, reach),
			probed,
		},
		Problems: []harness.Problem{{Place: harness.Place{File: "harnesses/x/escouade-plugin.json", Line: 3, Column: 5, Field: "/licence"}, Code: "unknown-field",
			Message: `the format has no field "licence" here`, Remedy: `did you mean "license"?`, Severity: harness.Warning, Consequence: harness.Ignored}},
	}
}

// TestText: the text for a person, plain and in colour.
func TestText(t *testing.T) {
	for name, colour := range map[string]bool{"testdata/report.txt": false, "testdata/report.colour.txt": true} {
		var b strings.Builder
		if err := sample().Text(&b, colour); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s differs:\n%s", name, got)
		}
		if colour {
			continue
		}
		for line := range strings.Lines(b.String()) {
			if len([]rune(strings.TrimSpace(line))) > width && !strings.HasPrefix(line, "harnesses/") {
				t.Errorf("wider than %d: %s", width, line)
			}
		}
	}
}
