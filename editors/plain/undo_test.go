package plain

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUndoFromTheTerminal takes a turn back with the command line while the file is
// open in an editor: another process, which knows nothing of the editor.
func TestUndoFromTheTerminal(t *testing.T) {
	for _, version := range neovims {
		t.Run("Neovim "+version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":Ask please-direct", "Enter")
			s.comesTo("the write", `(?s)one\nTWO\nthree\n.*a\.txt  attached`)
			s.comesTo("the end", `progress: none`)
			s.sallyport("undo")
			s.comesTo("it is taken back, unmodified", `(?s)one\ntwo\nthree\n.*a\.txt  attached`)
			s.sallyport("redo")
			s.comesTo("and done again", `(?s)one\nTWO\nthree\n.*a\.txt  attached`)
			s.keys("G", "o", "mine, not saved", "Escape")
			s.comesTo("the line is typed", `a.txt \[\+\]`)
			s.sallyport("undo")
			s.comesTo("it is taken back beside unsaved text", `(?s)one\ntwo\nthree\nmine, not saved\n.*a.txt \[\+\]`)
			s.wantDisk("one\ntwo\nthree\n")
			s.keys(":qa!", "Enter")
		})
	}
	t.Run("Helix", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\ntwo\nthree\n")
		s.says("please-direct")
		s.keys(":w", "Enter")
		s.shows("it is saved", `NOR   a\.txt  `)
		s.pick(`Ask the agent about this selection`, 0)
		s.shows("the write", `(?s)2  TWO\n +3  three\n +4  please-direct\n`)
		s.conversed("Turn ended")
		s.sallyport("undo")
		s.shows("it is taken back", `(?s)1  one\n +2  two\n +3  three\n +4  please-direct\n`)
		s.keys(":qa!", "Enter")
	})
}

// sallyport runs a command of ours in the project, as from another terminal.
func (p *place) sallyport(args ...string) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), filepath.Join(p.Bin, "sallyport"), args...)
	cmd.Dir, cmd.Env = p.Project, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("sallyport %v: %v\n%s", args, err, out)
	}
	p.Logf("sallyport %v:\n%s", args, out)
}
