package plain

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
)

// neovims are the versions that are tested: the oldest that we support and the
// newest.
var neovims = []string{"0.10", "0.12"}

// TestNeovim runs every scenario headless in every version.
func TestNeovim(t *testing.T) {
	scenarios, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.lua"))
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, version := range neovims {
		for _, path := range scenarios {
			name := strings.TrimSuffix(filepath.Base(path), ".lua")
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				nvim := bridgetest.Editor(t, "nvim-"+version)
				scripted(t).scenario(nvim, path, runDeadline)
			})
		}
	}
}

// scenario runs one in headless Neovim.
func (p *place) scenario(nvim, path string, limit time.Duration) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--clean", "--headless", "-l", filepath.Join("testdata", "driver.lua"), path)
	cmd.Env = append(p.env, "PLAIN_PROJECT="+p.Project)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "PASS") {
		p.Fatalf("%s: %v\n%s", path, err, out)
	}
}
