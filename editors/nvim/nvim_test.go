package nvim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// buildFolder names, in the environment, the folder of the program under test.
const buildFolder = "NVIM_BUILD"

// built is the program under test, built once.
var built = sync.OnceValues(func() (string, error) {
	program := filepath.Join(os.Getenv(buildFolder), "sallyport")
	cmd := exec.Command("go", "build", "-o", program, "sallyport/cmd/sallyport")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sallyport-nvim-")
	if err == nil {
		err = os.Setenv(buildFolder, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

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
				run(t, bridgetest.Editor(t, "nvim-"+version), path)
			})
		}
	}
}

// run runs one spec with a home and a project of its own, whose only agent is
// the scripted one.
func run(t *testing.T, nvim, path string) {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := bridgetest.NewPlace(t)
	family := bridgetest.NewFamily(t, p)
	if err := os.Symlink(program, filepath.Join(p.Bin, "sallyport")); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "agent.jsonc"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{
		"agent":   "scripted",
		"unsaved": "leave",
		"agents":  map[string]any{"scripted": map[string]any{"command": "sallyport fake-agent '" + script + "'"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Write(t, "home/.config/sallyport/config.json", string(raw))
	ctx, cancel := context.WithTimeout(t.Context(), runDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--clean", "--headless", "-l", filepath.Join("spec", "run.lua"), path)
	cmd.Env = append(p.Environ(), "NVIM_PROJECT="+p.Project)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), " 0 failed") {
		t.Errorf("%s: %v\n%s", path, err, out)
	}
	family.Gone(t, 5*time.Second)
}
