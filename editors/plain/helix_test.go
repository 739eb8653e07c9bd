package plain

import (
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// openHelix opens a.txt with these lines in Helix, in a terminal.
func openHelix(t *testing.T, text string) *terminal {
	t.Helper()
	hx := bridgetest.Editor(t, "helix")
	p := scripted(t)
	p.put("a.txt", text)
	p.Write(t, "home/.config/helix/languages.toml", `
[language-server.sallyport]
command = "sallyport"
args = ["serve"]

[[language]]
name = "notes"
scope = "text.notes"
file-types = ["txt"]
language-servers = ["sallyport"]
`)
	s := p.open(hx, "-vv", "a.txt")
	s.shows("it is up", `(?s)1  `+strings.Split(text, "\n")[0]+`.*NOR   a\.txt`)
	return s
}

// says puts a line at the end of the text and selects it: in Helix a selection
// is how a person gives the agent words.
func (s *terminal) says(words string) {
	s.Helper()
	s.keys("g", "e", "o")
	s.shows("insert mode", `INS`)
	s.keys("-l", words)
	s.keys("Escape")
	s.shows("the line is typed", `(?s)`+words+`.*NOR   a\.txt \[\+\]`)
	s.keys("x")
}

// pick opens the menu of code actions and takes the one that is marked after
// so many steps down.
func (s *terminal) pick(action string, down int) {
	s.Helper()
	s.keys("Space", "a")
	s.shows("the code actions", action)
	for range down {
		s.keys("Down")
	}
	s.keys("Enter")
}

// TestHelix is one turn: the selection is the question, Helix does not know
// window/showMessageRequest, so the permission is answered by a code action.
func TestHelix(t *testing.T) {
	t.Parallel()
	s := openHelix(t, "one\ntwo\nthree\n")
	s.says("please-edit")
	s.pick(`Ask the agent about this selection`, 0)
	s.shows("how to answer is said", `Edit a\.txt.*code action`)
	s.pick(`(?s)Allow: Edit a\.txt.*Reject: Edit a\.txt`, 0)
	s.shows("the write is in the buffer, unsaved", `(?s)1  one\n +2  TWO\n +3  three\n +4  please-edit\n.*NOR   a\.txt \[\+\]`)
	if got := s.disk("a.txt"); got != "one\ntwo\nthree\n" {
		t.Errorf("the file on disk is %q", got)
	}
	s.keys("u")
	s.shows("undone in one step", `(?s)1  one\n +2  two\n +3  three\n +4  please-edit\n.*NOR   a\.txt \[\+\]`)
	s.keys("U")
	s.shows("done again", `(?s)2  TWO\n +3  three\n +4  please-edit\n`)
	if got := s.conversations(); !strings.Contains(got, "The write said: ()") || !strings.Contains(got, "please-edit") {
		t.Errorf("the conversation is\n%s", got)
	}
	s.keys(":qa!", "Enter")
}
