package plain

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"

	// What the program under test consists of, so that a change there is one of
	// this test too: go test keeps results by imports.
	_ "sallyport/bridge/fakeagent"
	_ "sallyport/bridge/home"
	_ "sallyport/server"
)

// Deadlines for states that no longer can come.
const (
	runDeadline    = 90 * time.Second  // of an editor with the scripted agent
	agentDeadline  = 300 * time.Second // of one with a real agent: it may take 90 s to start
	screenDeadline = 30 * time.Second  // of one thing to appear
	goneWithin     = 5 * time.Second   // for whatever outlives its editor
)

// program is the program under test.
var program bridgetest.Program

func TestMain(m *testing.M) { program.Main(m) }

// place is a home and a project of one run's own. When the test ends nothing
// of what was started there may be left.
type place struct {
	*testing.T
	bridgetest.Place
	family *bridgetest.Family
	env    []string // of the editor
}

// newPlace makes one.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, Place: bridgetest.NewPlace(t)}
	p.family = bridgetest.NewFamily(t, p.Place)
	if err := os.Symlink(program.Path(t), filepath.Join(p.Bin, "sallyport")); err != nil {
		t.Fatal(err)
	}
	p.env = p.Environ()
	t.Cleanup(func() {
		p.family.Gone(t, goneWithin)
		if t.Failed() {
			p.showLogs()
		}
	})
	return p
}

// scripted makes one whose only agent is the scripted one, configured as a user
// configures an agent of his own, and whose project's name is not easy.
func scripted(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.Project = filepath.Join(filepath.Dir(p.Project), "my project #1 50%")
	script, err := filepath.Abs(filepath.Join("testdata", "agent.jsonc"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{
		"agent":  "scripted",
		"agents": map[string]any{"scripted": map[string]any{"command": "sallyport fake-agent '" + script + "'"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Write(t, "home/.config/sallyport/config.json", string(raw))
	p.put(".git/HEAD", "ref: refs/heads/main\n") // the root marker of an editor's configuration
	return p
}

// put makes a file of the project.
func (p *place) put(name, content string) {
	p.Helper()
	rel, err := filepath.Rel(p.Dir, filepath.Join(p.Project, name))
	if err != nil {
		p.Fatal(err)
	}
	p.Write(p.T, rel, content)
}

// disk is a file of the project; empty when there is none.
func (p *place) disk(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.Project, name))
	if err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	return string(data)
}

// conversations are the documents that were kept, joined.
func (p *place) conversations() string {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.Home, ".local", "state", "sallyport", "conversations", "*.md"))
	if err != nil {
		p.Fatal(err)
	}
	all := ""
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			p.Fatal(err)
		}
		all += string(data)
	}
	return all
}

// showLogs prints what the editors logged and what was said.
func (p *place) showLogs() {
	p.Logf("the conversations:\n%s", p.conversations())
	for _, name := range []string{".local/state/nvim/lsp.log", ".cache/helix/helix.log"} {
		if data, err := os.ReadFile(filepath.Join(p.Home, name)); err == nil {
			p.Logf("the end of %s:\n%s", name, data[max(0, len(data)-8<<10):])
		}
	}
}

// until polls cond, for states that nothing tells of. It reports whether cond
// came to hold.
func until(within time.Duration, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return cond()
		}
	}
	return true
}
