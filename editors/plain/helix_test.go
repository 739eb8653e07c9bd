package plain

import (
	"os"
	"path/filepath"
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
	log := filepath.Join(p.Home, ".cache", "helix", "helix.log")
	attached := func() bool {
		data, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(data), `"textDocument/didOpen"`)
	}
	if !until(screenDeadline, attached) { // nothing on the screen tells
		t.Fatal("Helix did not attach")
	}
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
	s.shows("how to answer is said", `answer with a code action: Edit a\.txt .*1 Allow`)
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

// TestHelixCancel cancels a turn by a command from Helix's own list.
func TestHelixCancel(t *testing.T) {
	t.Parallel()
	s := openHelix(t, "one\n")
	s.says("please-run")
	s.pick(`Ask the agent about this selection`, 0)
	s.runs()
	s.keys(":lsp-workspace-command", "Enter")
	s.shows("the commands", `(?s)sallyport\.ask.*sallyport\.cancel`)
	s.keys("-l", "cancel")
	s.shows("the one that was typed", `(?s)1/\d`)
	s.keys("Enter")
	s.shows("the turn is over", `(?m)^ NOR   a\.txt`)
	if !until(goneWithin, func() bool { return strings.Contains(s.conversations(), "cancelled") }) {
		t.Errorf("the conversation is\n%s", s.conversations())
	}
	s.keys(":qa!", "Enter")
}

// TestHelixWhileTyping has the agent write while the user types: both stay, and
// undo takes them back one after the other.
func TestHelixWhileTyping(t *testing.T) {
	t.Parallel()
	s := openHelix(t, "one\ntwo\nthree\n")
	s.says("please-wait")
	s.pick(`Ask the agent about this selection`, 0)
	s.comes("ready.txt")
	s.keys("g", "g", "O", "zero")
	s.shows("it is typed", `1  zero`)
	s.put("go.txt", "go")
	s.shows("a write that was not asked about is asked about", `answer with a code action`)
	s.keys("Escape")
	s.shows("normal mode", `NOR`)
	s.pick(`Allow`, 0)
	s.shows("both are there", `(?s)1  zero\n +2  one\n +3  TWO\n +4  three`)
	s.keys("u")
	s.shows("the agent's part is undone", `(?s)1  zero\n +2  one\n +3  two\n +4  three`)
	s.keys("u")
	s.shows("the user's is", `(?s)1  one\n +2  two\n +3  three`)
	s.keys(":qa!", "Enter")
}
