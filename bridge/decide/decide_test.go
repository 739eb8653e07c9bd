package decide_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/bridge/decide"
	"sallyport/plugins/decider"
)

// TestMain makes this binary some deciders.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"says-environment": func() { serve(environment) },
		"says-allow":       func() { serve(func(string) (string, string) { return "allow", "" }) },
		"says-reach":       func() { serve(reach) },
		"breaks":           func() { fmt.Fprintln(os.Stderr, "no rules here"); os.Exit(3) },
	})
}

// serve is a decider that answers by the command that it is asked about.
func serve(decide func(command string) (decision, message string)) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     int64  `json:"id"`
			Method string `json:"method"`
			Params struct {
				Request struct {
					Input struct {
						Command string `json:"command"`
					} `json:"input"`
				} `json:"request"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			os.Exit(1)
		}
		switch m.Method {
		case "permissions/decide":
			word, message := decide(m.Params.Request.Input.Command)
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"decision":%q,"message":%q}}`+"\n", m.ID, word, message)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1}}`+"\n", m.ID)
		}
		if m.Method == "shutdown" {
			os.Exit(0)
		}
	}
}

// environment names its variables.
func environment(string) (string, string) {
	var names []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return "deny", strings.Join(names, " ")
}

// reach tries to write and to read: "write FILE", "read FILE".
func reach(command string) (string, string) {
	how, file, _ := strings.Cut(command, " ")
	var err error
	if how == "write" {
		err = os.WriteFile(file, []byte("x"), 0o600)
	} else {
		_, err = os.ReadFile(file)
	}
	if err != nil {
		return "deny", err.Error()
	}
	return "allow", ""
}

func manifest(t *testing.T, command ...string) decider.Manifest {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return decider.Manifest{ID: "dev.test.one", Name: "One", Command: command, Folder: dir}
}

func open(t *testing.T, s *decide.Starter, m decider.Manifest, note func(decider.Entry)) *decider.Decider {
	t.Helper()
	d := decider.Open(s.Program(m, note))
	t.Cleanup(d.Close)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := d.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return d
}

// ask asks about a command, again while the machine is too busy for an answer in
// time.
func ask(t *testing.T, d *decider.Decider, command string) decider.Answer {
	t.Helper()
	cases, err := decider.ParseCases([]byte(fmt.Sprintf(`{"request":{"tool":"Bash","input":{"command":%q}}}`, command)))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		a, err := d.Decide(context.Background(), &cases[0].Question)
		if err != nil {
			t.Fatal(err)
		}
		if a.Why == "" {
			return a
		}
	}
	t.Fatalf("no answer about %s", command)
	return decider.Answer{}
}

func TestEnvironmentIsBuilt(t *testing.T) {
	s := &decide.Starter{Environ: append(os.Environ(), "TEST_API_KEY=secret", "SALLYPORT_SESSION=1")}
	d := open(t, s, manifest(t, "says-environment"), nil)
	got := ask(t, d, "env")
	if got.Say != decider.Deny || !strings.Contains(got.Message, "PATH") {
		t.Fatalf("got %v", got)
	}
	for _, name := range []string{"TEST_API_KEY", "SALLYPORT_SESSION"} {
		if strings.Contains(got.Message, name) {
			t.Errorf("it gets %s: %s", name, got.Message)
		}
	}
}

func TestProgramInItsFolder(t *testing.T) {
	self, err := exec.LookPath("says-allow")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, "./bin/says-allow"+filepath.Ext(self))
	if err := os.Mkdir(filepath.Join(m.Folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.Program(), program, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, open(t, &decide.Starter{Environ: os.Environ()}, m, nil), "ls"); got.Say != decider.Allow {
		t.Errorf("got %v", got)
	}
	away := manifest(t, "./link")
	if err := os.Symlink(m.Program(), filepath.Join(away.Folder, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	d := decider.Open((&decide.Starter{Environ: os.Environ()}).Program(away, nil))
	defer d.Close()
	if err := d.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), "leads out of its folder") {
		t.Errorf("a link that leads out: got %v", err)
	}
}

func TestWhyItEnded(t *testing.T) {
	ended := make(chan string, 100)
	d := decider.Open((&decide.Starter{Environ: os.Environ()}).Program(manifest(t, "breaks"), func(e decider.Entry) {
		select {
		case ended <- e.Why:
		default:
		}
	}))
	defer d.Close()
	if got := <-ended; !strings.Contains(got, "it ended (exit status 3: no rules here)") {
		t.Errorf("got %q", got)
	}
}

// TestAnotherLanguage plays the example that is written in JavaScript.
func TestAnotherLanguage(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	folder := filepath.Join("..", "..", "examples", "web-list")
	m, err := decider.ReadManifest(folder)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, &decide.Starter{Environ: os.Environ()}, m, nil)
	cases, err := decider.Cases(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p, err := decider.Play(context.Background(), d, c)
		if err != nil {
			t.Fatal(err)
		}
		if p.Wrong != "" && p.Wrong != "no answer in time" { // the machine may be busy; the time is for the bench
			t.Errorf("%s: %s", c.Name, p.Wrong)
		}
	}
}

// BenchmarkThree is what three deciders that answer at once cost between
// processes.
func BenchmarkThree(b *testing.B) {
	var set decider.Set
	s := &decide.Starter{Environ: os.Environ()}
	for range 3 {
		d := decider.Open(s.Program(decider.Manifest{ID: "dev.test.fast", Command: []string{"says-allow"}, Folder: b.TempDir()}, nil))
		defer d.Close()
		if err := d.Ready(context.Background()); err != nil {
			b.Fatal(err)
		}
		set = append(set, d)
	}
	cases, err := decider.ParseCases([]byte(`{"request":{"tool":"Bash","input":{"command":"npm test"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	var beyond []time.Duration
	for b.Loop() {
		began := time.Now()
		got, err := set.Decide(context.Background(), &cases[0].Question)
		if err != nil || got.Say != decider.Allow {
			b.Fatal(got, err)
		}
		beyond = append(beyond, time.Since(began))
	}
	slices.Sort(beyond)
	b.ReportMetric(float64(beyond[len(beyond)/2].Microseconds()), "median-µs")
}
