package nvim

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// runDeadline bounds one spec.
const runDeadline = 180 * time.Second

// program is the program under test.
var program bridgetest.Program

func TestMain(m *testing.M) { program.Main(m) }

// TestSpecs runs every spec in the oldest Neovim that we support and the newest.
func TestSpecs(t *testing.T) {
	specs, err := filepath.Glob(filepath.Join("spec", "*_spec.lua"))
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs: %v", err)
	}
	for _, version := range []string{"0.10", "0.12"} {
		for _, path := range specs {
			name := strings.TrimSuffix(filepath.Base(path), "_spec.lua")
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := scripted(t)
				if name == "decided" {
					p.decided()
				}
				p.run(bridgetest.Editor(t, "nvim-"+version), path, p.Environ(), runDeadline)
			})
		}
	}
}

// place is a home and a project of one run's own, with the program on PATH.
// When the test ends nothing of what was started there may be left.
type place struct {
	*testing.T
	bridgetest.Place
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, Place: bridgetest.NewPlace(t)}
	family := bridgetest.NewFamily(t, p.Place)
	t.Cleanup(func() { family.Gone(t, 5*time.Second) })
	if err := os.Symlink(program.Path(t), filepath.Join(p.Bin, "sallyport")); err != nil {
		t.Fatal(err)
	}
	return p
}

// scripted makes one whose only agent is the scripted one.
func scripted(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.configure(nil)
	return p
}

// decided adds a decider, which says what its file "say" holds.
func (p *place) decided() {
	p.Helper()
	rules := filepath.Join(p.Home, "rules")
	if err := os.CopyFS(rules, os.DirFS(filepath.Join("testdata", "rules"))); err != nil {
		p.Fatal(err)
	}
	p.configure(map[string]any{"deciders": []any{map[string]any{"folder": rules}}})
}

// configure writes the user's configuration.
func (p *place) configure(permissions map[string]any) {
	p.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "agent.jsonc"))
	if err != nil {
		p.Fatal(err)
	}
	config := map[string]any{
		"agent":   "scripted",
		"unsaved": "leave",
		"agents":  map[string]any{"scripted": map[string]any{"command": "sallyport fake-agent '" + script + "'"}},
	}
	if permissions != nil {
		config["permissions"] = permissions
	}
	raw, err := json.Marshal(config)
	if err != nil {
		p.Fatal(err)
	}
	p.Write(p, "home/.config/sallyport/config.json", string(raw))
}

// run runs one spec.
func (p *place) run(nvim, path string, env []string, limit time.Duration) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--clean", "--headless", "-l", filepath.Join("spec", "run.lua"), path)
	cmd.Env = append(env, "NVIM_PROJECT="+p.Project)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	p.Logf("%s", out)
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), " 0 failed") {
		p.Errorf("%s: %v", path, err)
	}
}
