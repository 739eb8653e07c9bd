package plain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// TestKilledEditor kills editors in the middle of a turn whose agent runs a
// command that has a child in a session of its own: nothing of it is left.
func TestKilledEditor(t *testing.T) {
	for _, version := range neovims {
		t.Run("Neovim "+version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\n")
			s.keys(":Ask please-run", "Enter")
			s.killed("nvim")
		})
	}
	t.Run("Helix", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\n")
		s.says("please-run")
		s.pick(`Ask the agent about this selection`, 0)
		s.killed("hx")
	})
}

// killed waits until both commands of the agent run and kills the processes of
// the editor. That nothing is left is seen at the end of every test.
func (s *terminal) killed(editor string) {
	s.Helper()
	commands := func(name string) (found []bridgetest.Process) {
		for _, p := range s.family.Now() {
			if program, _, _ := strings.Cut(p.Command, " "); filepath.Base(program) == name {
				found = append(found, p)
			}
		}
		return found
	}
	if !until(screenDeadline, func() bool { return len(commands("sleep")) == 2 }) {
		s.Fatalf("the agent runs %v, want two commands", commands("sleep"))
	}
	servers := len(commands("sallyport"))
	victims := commands(editor)
	if len(victims) == 0 || servers == 0 {
		s.Fatalf("there are %d editors and %d of our processes", len(victims), servers)
	}
	for _, victim := range victims {
		p, err := os.FindProcess(victim.PID)
		if err == nil {
			err = p.Kill()
		}
		if err != nil && !os.IsNotExist(err) {
			s.Fatalf("killing %s: %v", victim.Command, err)
		}
	}
	if !until(goneWithin, func() bool { return len(commands("sleep"))+len(commands("sallyport")) == 0 }) {
		s.Errorf("%v after the editor's death there are %v and %v", goneWithin, commands("sleep"), commands("sallyport"))
	}
}
