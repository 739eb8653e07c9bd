package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
)

// TestR18_RealAgentsInPrivateProjects: in a private project each real agent has
// a state of its own, signed in and set up like the other, and works.
func TestR18_RealAgentsInPrivateProjects(t *testing.T) {
	const patience = 4 * time.Minute // of a start on a busy machine, and the turn
	program := bridgetest.Build(t)
	for _, known := range bridgetest.Agents() {
		t.Run(known.ID, func(t *testing.T) {
			agent := bridgetest.RealAgent(t, known.ID)
			place := bridgetest.NewPlace(t)
			env := agent.Install(t, place, bridgetest.StartModel(t).URL)
			makePrivate(t, place)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			const mark = "script:text"
			cmd := exec.CommandContext(ctx, program, "run", "--agent", known.ID, "--cwd", place.Project, mark+" cwd="+place.Project)
			cmd.Env = env
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Hello from the scripted model") {
				t.Fatalf("status %v:\n%s", err, out)
			}
			if strings.Contains(string(out), "the kernel holds nothing") {
				t.Skip("the kernel holds nothing here, so it keeps its state where it always does")
			}
			if shared := mentions(t, place.Home, mark, ".local/state/sallyport"); len(shared) > 0 {
				t.Errorf("the conversation is where other agents read it: %v", shared)
			}
			if own := mentions(t, filepath.Join(place.Home, ".local/state/sallyport/agents"), mark); len(own) == 0 {
				t.Errorf("the conversation is not in a state of its own:\n%s", out)
			}
		})
	}
}

// makePrivate declares the place's project private.
func makePrivate(t *testing.T, place bridgetest.Place) {
	t.Helper()
	file := filepath.Join(place.Home, ".config/sallyport/config.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	config["fences"] = map[string]any{"private": []string{place.Project}}
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	place.Write(t, "home/.config/sallyport/config.json", string(raw))
}

// mentions lists the files below a folder that hold a text, but for one folder.
func mentions(t *testing.T, dir, text string, but ...string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(but) > 0 && path == filepath.Join(dir, but[0]):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), text) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
