package realtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
	"sallyport/server/wire"
	"sallyport/workspace/receipt"
)

// The files of a turn on the record, with line ends that git would like to
// change (M5).
const (
	editedBefore  = "alpha\nbeta\ngamma\n"
	deletedBefore = "to be\r\ndeleted\r\n"
	shellBefore   = "mixed\r\nends\nof lines"
)

// touched are the paths that the scripted turn changes.
var touched = []string{"deleted.txt", "edited.txt", "link", "made.txt", "shell.txt"}

// recorded: a turn writes a new file, edits one, deletes one, and has a command
// change a fourth and a link, in a repository in the middle of a merge. It is
// taken back and done again by the command and by an editor; the receipt names
// all it changed; what git knows is never touched.
func recorded(t *testing.T, s *stage) {
	before, git := s.look(t), s.machinery(t)
	d := s.play(t, "record", allow)
	s.ended(t, d, "end_turn")
	after := s.look(t)
	if got := before.Changed(after); !slices.Equal(got, touched) {
		t.Fatalf("the turn changed %q, want %q\n%s", got, touched, d)
	}
	s.row.Record = s.attributed(t, d.Turn)
	for _, step := range []struct {
		what string
		run  func(*testing.T)
		want bridgetest.Tree
	}{
		{"undone by the command", func(t *testing.T) { s.sallyport(t, "undo", d.Turn) }, before},
		{"done again by the command", func(t *testing.T) { s.sallyport(t, "redo") }, after},
		{"undone by the editor", func(t *testing.T) { s.undo(t, wire.MethodTurnUndo, d.Turn) }, before},
		{"done again by the editor", func(t *testing.T) { s.undo(t, wire.MethodTurnRedo, d.Turn) }, after},
		{"undone at last", func(t *testing.T) { s.undo(t, wire.MethodTurnUndo, d.Turn) }, before},
	} {
		step.run(t)
		same(t, step.what+",", s.look(t), step.want)
		if now := s.machinery(t); step.want["made.txt"] == before["made.txt"] {
			same(t, step.what+", git's", now, git)
		}
	}
	if out := s.sallyport(t, "receipt", "verify"); out == "" {
		t.Error("receipt verify says nothing")
	}
	s.checkLog(t)
}

// cutOff: Sallyport is killed in the middle of a turn that has written a file.
// The next one lists the turn as interrupted, and the command takes it back.
func cutOff(t *testing.T, s *stage) {
	before := s.look(t) // without what a fence has of its own in the project while it stands
	s.raise(t)
	s.begun(t)
	p := s.begin(t, "halt", allow)
	s.family.Find(t, sleeper, patience)
	server, err := os.FindProcess(s.serverProcess(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	s.family.Gone(t, nothingLeft)
	<-p.done
	s.now.ed.Wait()
	_ = s.now.process.Wait() // its server was killed: its status says so
	s.checkLog(t)
	if got := before.Changed(s.look(t)); !slices.Equal(got, []string{"halted.txt"}) {
		t.Fatalf("the turn changed %q before its end", got)
	}

	s.raise(t)
	var list wire.TurnListResult
	s.call(t, wire.MethodTurnList, wire.TurnListParams{Limit: 1}, &list)
	if len(list.Turns) != 1 || !list.Turns[0].Interrupted || !list.Turns[0].Undoable || list.Turns[0].Running || list.Turns[0].Changed != 1 {
		t.Fatalf("the list begins with %+v, want an interrupted turn that can be undone", list.Turns)
	}
	s.sallyport(t, "undo", list.Turns[0].Turn)
	same(t, "after the undo", s.look(t), before)
	s.leave(t)
}

// repository makes the project a repository with a merge in progress, staged
// and unstaged changes, an untracked file, a stash, and settings that have git
// change line ends.
func (s *stage) repository(t *testing.T) {
	t.Helper()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(s.path(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	s.git(t, "init", "-q")
	write(".gitattributes", "*.txt text=auto eol=crlf\n", 0o644)
	write("edited.txt", editedBefore, 0o644)
	write("deleted.txt", deletedBefore, 0o640)
	write("shell.txt", shellBefore, 0o600)
	write("both.txt", "one\n", 0o644)
	if err := os.Symlink("edited.txt", s.path("link")); err != nil {
		t.Fatal(err)
	}
	s.git(t, "config", "--global", "core.autocrlf", "true")
	s.git(t, "add", "-A")
	s.git(t, "commit", "-qm", "one")
	main := s.git(t, "branch", "--show-current")
	s.git(t, "checkout", "-qb", "other")
	write("both.txt", "two\n", 0o644)
	s.git(t, "commit", "-qam", "two")
	s.git(t, "checkout", "-q", main[:len(main)-1])
	write("both.txt", "three\n", 0o644)
	s.git(t, "commit", "-qam", "three")
	write("both.txt", "four\n", 0o644)
	s.git(t, "stash", "-q")
	if _, err := s.gitTried("merge", "other"); err == nil {
		t.Fatal("the merge met no conflict")
	}
	write("staged.txt", "staged\n", 0o644)
	s.git(t, "add", "staged.txt")
	write("staged.txt", "staged and changed\n", 0o644)
	write("untracked.txt", "of the user\n", 0o644)
	// What git checked out is not what we had: line ends.
	write("edited.txt", editedBefore, 0o644)
	write("deleted.txt", deletedBefore, 0o640)
	write("shell.txt", shellBefore, 0o600)
}

// attributed reads the receipt of a turn and returns whose each change is.
func (s *stage) attributed(t *testing.T, turn string) map[string]receipt.Attribution {
	t.Helper()
	var got wire.ReceiptResult
	s.call(t, wire.MethodReceipt, wire.TurnParams{Turn: turn}, &got)
	by := map[string]receipt.Attribution{}
	for _, c := range got.Receipt.Did.Changes.List {
		by[c.Path] = c.By
		switch c.By {
		case receipt.ByMediated, receipt.ByDeclared, receipt.BySilent:
		default:
			t.Errorf("%s is the agent's and attributed as %s", c.Path, c.By)
		}
	}
	var names []string
	for _, name := range touched {
		if by[name] != "" {
			names = append(names, name)
		}
	}
	if len(by) != len(touched) || !slices.Equal(names, touched) {
		t.Errorf("the receipt names %v, want %q", by, touched)
	}
	if r := got.Receipt; r.Agent == nil || r.Agent.ID != s.agent.ID || r.Folder != s.Project || r.End.StopReason != "end_turn" {
		t.Errorf("the receipt is of %+v in %s, ended %+v", r.Agent, r.Folder, r.End)
	}
	if n := len(got.Receipt.Did.Permissions.List); n == 0 {
		t.Error("the receipt has no permission, and some were asked")
	}
	return by
}

// sallyport runs the program as a person does, in the project, with git's
// variables set to things that are not there (M15).
func (s *stage) sallyport(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(s.ctx(t), program, args...)
	cmd.Dir = s.Project
	cmd.Env = append(slices.Clone(s.env), "GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE="+filepath.Join(s.Temp, "index"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("sallyport %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// undo takes a turn back from the editor, or does it again.
func (s *stage) undo(t *testing.T, method, turn string) {
	t.Helper()
	var done wire.Undone
	s.call(t, method, wire.UndoParams{TurnParams: wire.TurnParams{Turn: turn}, Session: s.now.info.ID}, &done)
	if done.Turn == "" || done.Of != turn || len(done.Done) != len(touched) || len(done.Conflicts) > 0 {
		raw, _ := json.Marshal(done) // for the message
		t.Errorf("%s of %s did %s", method, turn, raw)
	}
}
