package plain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// TestEditorEndsInATurn ends editors in the middle of a turn whose agent runs a
// command that has a child in a session of its own: nothing of it is left.
func TestEditorEndsInATurn(t *testing.T) {
	for how, end := range map[string]func(s *terminal, editor string){
		"killed": (*terminal).kill,
		"left":   func(s *terminal, _ string) { s.keys(":qa!", "Enter") },
	} {
		for _, version := range neovims {
			t.Run("Neovim "+version+" "+how, func(t *testing.T) {
				t.Parallel()
				s := openNeovim(t, version, "one\n")
				s.keys(":Ask please-run", "Enter")
				s.runs()
				end(s, "nvim")
				s.ended()
			})
		}
		t.Run("Helix "+how, func(t *testing.T) {
			t.Parallel()
			s := openHelix(t, "one\n")
			s.says("please-run")
			s.pick(`Ask the agent about this selection`, 0)
			s.runs()
			end(s, "hx")
			s.ended()
		})
	}
}

// commands are the processes of a program of this run.
func (p *place) commands(name string) (found []bridgetest.Process) {
	for _, x := range p.family.Now() {
		if program, _, _ := strings.Cut(x.Command, " "); filepath.Base(program) == name {
			found = append(found, x)
		}
	}
	return found
}

// runs waits until both commands of the agent run.
func (s *terminal) runs() {
	s.Helper()
	if !until(screenDeadline, func() bool { return len(s.commands("sleep")) == 2 }) {
		s.Fatalf("the agent runs %v, want two commands", s.commands("sleep"))
	}
	if len(s.commands("sallyport")) == 0 {
		s.Fatal("there is no process of ours")
	}
}

// kill kills an editor's processes.
func (s *terminal) kill(editor string) {
	s.Helper()
	victims := s.commands(editor)
	if len(victims) == 0 {
		s.Fatalf("there is no %s", editor)
	}
	for _, v := range victims {
		p, err := os.FindProcess(v.PID)
		if err == nil {
			err = p.Kill()
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			s.Fatalf("killing %s: %v", v.Command, err)
		}
	}
}

// ended waits until nothing of ours and of the agent is left.
func (s *terminal) ended() {
	s.Helper()
	if !until(goneWithin, func() bool { return len(s.commands("sleep"))+len(s.commands("sallyport")) == 0 }) {
		s.Errorf("%v after the editor's end there are %v and %v", goneWithin, s.commands("sleep"), s.commands("sallyport"))
	}
}
