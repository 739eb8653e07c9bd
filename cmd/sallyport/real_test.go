package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
)

// TestRunWithRealAgents: one turn of each real agent from a terminal, in which
// it edits a file after it was allowed to, and one in which it was not.
func TestRunWithRealAgents(t *testing.T) {
	const patience = 4 * time.Minute // of a start on a busy machine, and the turn
	program := bridgetest.Build(t)
	for _, known := range bridgetest.Agents() {
		t.Run(known.ID, func(t *testing.T) {
			agent := bridgetest.RealAgent(t, known.ID)
			place := bridgetest.NewPlace(t)
			env := agent.Install(t, place, bridgetest.StartModel(t).URL)
			file := filepath.Join(place.Project, "notes.txt")
			for _, answer := range []struct{ typed, want string }{
				{"n\n", "alpha\nbeta\ngamma\n"},
				{strings.Repeat("y\n", 10), "alpha\nBETA\ngamma\n"},
			} {
				if err := os.WriteFile(file, []byte("alpha\nbeta\ngamma\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				cmd := exec.CommandContext(ctx, program, "run", "--agent", known.ID, "--cwd", place.Project, "script:edit cwd="+place.Project)
				cmd.Env, cmd.Stdin = env, strings.NewReader(answer.typed)
				out, err := cmd.CombinedOutput()
				cancel()
				screen := string(out)
				if !strings.Contains(screen, "wants: Edit") || !strings.Contains(screen, "-beta\n") || !strings.Contains(screen, "+BETA\n") {
					t.Errorf("the terminal shows no question with the change:\n%s", screen)
				}
				if allowed := strings.Contains(answer.want, "BETA"); allowed && err != nil {
					t.Errorf("status %v, want 0:\n%s", err, screen)
				}
				if got, err := os.ReadFile(file); err != nil || string(got) != answer.want {
					t.Errorf("after %q the file is %q, %v; want %q:\n%s", answer.typed, got, err, answer.want, screen)
				}
			}
		})
	}
}
