package plain

import (
	"regexp"
	"strings"
	"testing"
)

// TestA6_CleanBufferOnScreen has the agent write with a shell of its own, past us,
// the file of a buffer that is open and saved: nobody touches a key, and the text is
// there.
func TestA6_CleanBufferOnScreen(t *testing.T) {
	const loaded = `(?s)one\nTWO\nthree\n.*a\.txt  attached` // not modified
	for _, version := range neovims {
		t.Run("Neovim "+version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":Ask please-direct", "Enter")
			s.shows("the write, unmodified", loaded)
			s.shows("the end", `progress: none`)
			s.keys(":w", "Enter")
			s.shows("nothing is asked", `a\.txt" 3L, 14B written`)
			s.put("a.txt", "one\nTWO\nthree\nfour\n")
			s.shows("what another program writes", `(?s)one\nTWO\nthree\nfour\n.*a\.txt  attached`)
			s.keys(":qa", "Enter")
		})
		t.Run("Neovim "+version+" while inserting", func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":Ask please-later", "Enter")
			s.comes("ready.txt")
			s.keys("i")
			s.shows("insert mode", `INSERT`)
			s.put("go.txt", "go")
			s.shows("the write, unmodified", loaded)
			s.keys("-l", "x")
			s.keys("Escape")
			s.shows("what is typed then", `(?s)xone\nTWO\nthree\n`)
			s.keys(":qa!", "Enter")
		})
	}
	for _, version := range neovims {
		t.Run("Neovim "+version+" while it asks something", func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":Ask please-later", "Enter")
			s.comes("ready.txt")
			s.keys(`:call input("hold: ")`, "Enter")
			s.shows("it asks", `\nhold:`)
			s.put("go.txt", "go")
			s.conversed("Turn ended")
			s.keys("Enter")
			s.comesTo("the write, unmodified", loaded)
			s.keys(":qa", "Enter")
		})
	}
	// Helix has no word for it that LSP knows: the text is there, as an edit, and
	// what makes the buffer unmodified is said.
	t.Run("Helix", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\ntwo\nthree\n")
		s.says("please-direct")
		s.keys(":w", "Enter")
		s.shows("it is saved", `NOR   a\.txt  `)
		s.pick(`Ask the agent about this selection`, 0)
		s.shows("the write, modified", `(?s)1  one\n +2  TWO\n +3  three\n +4  please-direct\n.*NOR   a\.txt \[\+\]`)
		s.keys(":reload", "Enter")
		s.shows("unmodified", `(?s)2  TWO\n.*NOR   a\.txt  `)
		s.keys(":q", "Enter")
	})
}

// TestA5_DirtyBufferOnScreen is the same where the buffer holds unsaved text: both
// are there, or both are kept and that is said. No question comes in between.
func TestA5_DirtyBufferOnScreen(t *testing.T) {
	for _, version := range neovims {
		t.Run("Neovim "+version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys("G", "o", "mine, not saved", "Escape")
			s.shows("the line is typed", `a.txt \[\+\]`)
			s.leavesUnsaved("please-direct")
			s.comesTo("both", `(?s)one\nTWO\nthree\nmine, not saved\n.*a.txt \[\+\]`)
			s.comesTo("the end", `progress: none`)
			s.wantDisk("one\nTWO\nthree\n")
			s.keys("u")
			s.shows("undone in one step", `(?s)one\ntwo\nthree\nmine, not saved\n.*a.txt \[\+\]`)
			s.keys(":qa!", "Enter")
		})
		t.Run("Neovim "+version+" on the same line", func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":2", "Enter", "A", ", typed", "Escape")
			s.shows("it is typed", `(?s)two, typed\n.*a.txt \[\+\]`)
			s.leavesUnsaved("please-direct")
			s.conflict()
			s.comesTo("the buffer is as it was", `(?s)one\ntwo, typed\nthree\n.*a.txt \[\+\]`)
			s.wantDisk("one\nTWO\nthree\n")
			s.keys(":qa!", "Enter")
		})
	}
	t.Run("Helix", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\ntwo\nthree\n")
		s.says("please-direct")
		s.pick(`Ask the agent about this selection`, 0)
		s.shows("both", `(?s)1  one\n +2  TWO\n +3  three\n +4  please-direct\n.*NOR   a\.txt \[\+\]`)
		s.wantDisk("one\nTWO\nthree\n")
		s.keys("u")
		s.shows("undone in one step", `(?s)2  two\n +3  three\n +4  please-direct\n`)
		s.keys(":qa!", "Enter")
	})
	t.Run("Helix on the same line", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\ntwo\n")
		s.keys("g", "e", "A")
		s.shows("insert mode", `INS`)
		s.keys("-l", ", please-direct")
		s.keys("Escape")
		s.shows("it is typed", `(?s)two, please-direct.*NOR   a\.txt \[\+\]`)
		s.keys("x")
		s.pick(`Ask the agent about this selection`, 0)
		s.conflict()
		s.shows("the buffer is as it was", `(?s)1  one\n +2  two, please-direct\n`)
		s.wantDisk("one\nTWO\n")
		s.keys(":qa!", "Enter")
	})
}

// leavesUnsaved asks the agent and does not pass unsaved text on.
func (s *terminal) leavesUnsaved(words string) {
	s.Helper()
	s.keys(":Ask "+words, "Enter")
	s.shows("the question about unsaved text", `(?s)unsaved changes.*a\.txt.*2: Leave them out`)
	s.keys("2", "Enter")
}

// comesTo is shows where Neovim may wait for Enter under messages that are longer
// than a line: it takes no edits then.
func (s *terminal) comesTo(what, pattern string) {
	s.Helper()
	re := regexp.MustCompile(pattern)
	if !until(screenDeadline, func() bool {
		screen := s.screen()
		if strings.Contains(screen, "Press ENTER") {
			s.keys("Enter")
		}
		return re.MatchString(screen)
	}) {
		s.Fatalf("waited in vain: %s (%s)", what, pattern)
	}
}

// conflict waits until it is said that both texts are kept.
func (s *terminal) conflict() {
	s.Helper()
	s.conversed("both are kept")
}

// conversed waits until the conversation has some words.
func (s *terminal) conversed(words string) {
	s.Helper()
	if !until(screenDeadline, func() bool { return strings.Contains(s.conversations(), words) }) {
		s.Fatalf("the conversation does not say %q", words)
	}
}

func (s *terminal) wantDisk(want string) {
	s.Helper()
	if got := s.disk("a.txt"); got != want {
		s.Errorf("the file is %q, want %q", got, want)
	}
}
