package bridge_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/config"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// TestM14_AgentCrashes: the agent edits a file, dies, is started again and edits
// another. Both turns are on the record, and taking both back gives what was there
// before the first.
func TestM14_AgentCrashes(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "first", "steps": [{"directWrite": {"path": "${cwd}/a.txt", "text": "agent\n"}}, {"crash": true}]},
	  {"match": "second", "steps": [{"write": {"path": "${cwd}/b.txt", "text": "agent\n"}}]}]}`, keeping, bypass)
	r.write("a.txt", "old\n")
	r.write("b.txt", "old\n")
	before := r.tree()
	info := r.open()
	first, err := r.prompt(info.ID, "first")
	var gone *bridge.GoneError
	if !errors.As(err, &gone) {
		t.Fatalf("the first turn ended with %v, want that the agent is gone", err)
	}
	if got := r.receiptOf(first.Turn); !strings.Contains(got.End.Error, "ended") || changes(got.Did.Changes.List) != "a.txt modified silent" {
		t.Errorf("the receipt of the first has %+v, %s", got.End, changes(got.Did.Changes.List))
	}
	second, err := r.prompt(info.ID, "second")
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(r.receiptOf(second.Turn).Did.Changes.List); got != "b.txt modified mediated" {
		t.Errorf("the receipt of the second has %s", got)
	}
	r.undo("") // the last one
	if r.disk("a.txt") != "agent\n" || r.disk("b.txt") != "old\n" {
		t.Errorf("after one undo: a %q, b %q", r.disk("a.txt"), r.disk("b.txt"))
	}
	r.undo(first.Turn)
	if after := r.tree(); after != before {
		t.Errorf("taken back is\n%s\nwant\n%s", after, before)
	}
}

// TestCancelledTurnIsOnTheRecord with what it changed before, and no check is
// begun.
func TestCancelledTurnIsOnTheRecord(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}, {"say": "ready"}, {"waitCancel": true}]}]}`, keeping, bypass)
	r.config.Verify = []config.Check{{Name: "tests", Command: "touch ran", Seconds: 60}}
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "ready", func(d *display) bool { return strings.Contains(d.saidLocked(), "ready") })
	r.Cancel(r.ctx(), info.ID)
	e := r.end(ends)
	got := r.receiptOf(e.Turn)
	if got.End.StopReason != "cancelled" || changes(got.Did.Changes.List) != "a.txt added mediated" || !e.Undoable {
		t.Errorf("the receipt has %+v, %s", got.End, changes(got.Did.Changes.List))
	}
	if v := got.Verifier; len(v) != 1 || v[0].Outcome != receipt.Cancelled || r.disk("ran") != "" {
		t.Errorf("verdicts are %+v, want one cancelled", v)
	}
	r.undo(e.Turn)
	if _, err := os.Stat(r.path("a.txt")); !os.IsNotExist(err) {
		t.Errorf("the file of the cancelled turn is still there: %v", err)
	}
}

// TestTurnsOfTwoSessionsInOneFolder: each has its own receipt, and taking one turn back
// leaves what the other wrote through us.
func TestTurnsOfTwoSessionsInOneFolder(t *testing.T) {
	r := newRig(t, `{"prompts": [
	  {"match": "one", "steps": [{"write": {"path": "${cwd}/one.txt", "text": "1\n"}}, `+asks+`]},
	  {"match": "two", "steps": [{"write": {"path": "${cwd}/two.txt", "text": "2\n"}}]}]}`, keeping)
	r.config.Mode = config.AcceptEdits
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	one, two := r.open(), r.open()
	ends := r.start(one.ID, "one")
	<-r.display.asked
	second, err := r.prompt(two.ID, "two")
	if err != nil {
		t.Fatal(err)
	}
	var busy *turns.BusyError
	if _, err := r.TurnUndo(r.ctx(), turns.Undo{Folder: r.folder, Turn: second.Turn}); !errors.As(err, &busy) {
		t.Errorf("an undo while an agent runs gave %v, want a BusyError", err)
	}
	close(release)
	first := r.end(ends)
	if first.err != nil {
		t.Fatal(first.err)
	}
	for _, want := range []struct {
		turn, path string
	}{{first.Turn, "one.txt added mediated"}, {second.Turn, "two.txt added mediated"}} {
		if got := changes(r.receiptOf(want.turn).Did.Changes.List); !strings.Contains(got, want.path) {
			t.Errorf("a receipt has\n%s\nwant %s", got, want.path)
		}
	}
	r.undo(second.Turn)
	if r.disk("one.txt") != "1\n" || r.disk("two.txt") != "" {
		t.Errorf("taken back: one %q, two %q", r.disk("one.txt"), r.disk("two.txt"))
	}
}

// TestM6_NoCheckpoint: a turn that cannot be covered is told before it, runs, and
// has a receipt that says so; policy record grants nothing in it.
func TestM6_NoCheckpoint(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`, `+declares("said.txt", `new\n`)+`]}]}`, keeping)
	r.config.Permissions.Policy = config.PolicyRecord
	r.config.Checkpoint.LeaveOut = []string{"["} // no glob: every checkpoint fails
	r.config.Verify = []config.Check{{Name: "tests", Command: "no-such-program-here"}}
	r.display.answer = reject
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil {
		t.Fatal(err)
	}
	if n := r.noticeOf(bridge.NoticeUncovered); !strings.HasPrefix(n.Text, "no undo for this turn: ") || n.Turn != result.Turn {
		t.Errorf("told %+v", n)
	}
	if c := <-r.display.asked; !strings.Contains(c.Reason, "policy record") || r.said() != "rejected" {
		t.Errorf("asked for the reason %q, the agent got %q", c.Reason, r.said())
	}
	got := r.receiptOf(result.Turn)
	if got.Cover.None == "" || got.Cover.Before != "" || result.Undoable {
		t.Errorf("the receipt has %+v, undoable %v", got.Cover, result.Undoable)
	}
	if n := r.noticeOf(bridge.NoticeDirect); !strings.Contains(n.Text, "said.txt") || len(result.Verifier) != 1 {
		t.Errorf("told %+v, verdicts %+v; want the agent's word, and that the check was tried", n, result.Verifier)
	}
	var goneErr *turns.GoneError
	if _, err := r.TurnUndo(r.ctx(), turns.Undo{Folder: r.folder, Turn: result.Turn}); !errors.As(err, &goneErr) {
		t.Errorf("an undo gave %v, want a GoneError", err)
	}
}

// TestRecordGrantsWithACheckpoint and every grant is on the receipt (K1).
func TestRecordGrantsWithACheckpoint(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}]}`, keeping)
	r.config.Permissions.Policy = config.PolicyRecord
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil || r.said() != "allowed" || len(r.display.asked) > 0 {
		t.Fatalf("ended with %v and %q, asked %d times", err, r.said(), len(r.display.asked))
	}
	p := r.receiptOf(result.Turn).Did.Permissions.List
	if len(p) != 1 || p[0].By != "policy" || p[0].Name != "record" || p[0].Outcome != "allowed" || p[0].Option != "allow" {
		t.Errorf("permissions are %+v", p)
	}
}

// TestNoStore: what keeps turns from being kept is told with each turn.
func TestNoStore(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}]}`)
	r.NoTurns = errors.New("the state folder is read-only")
	r.config.Permissions.Policy = config.PolicyRecord
	r.display.answer = reject
	r.turn("go")
	if n := r.noticeOf(bridge.NoticeUncovered); !strings.Contains(n.Text, "read-only") {
		t.Errorf("told %+v", n)
	}
	if r.said() != "rejected" {
		t.Errorf("the agent got %q under policy record", r.said())
	}
	var none *bridge.NotKeptError
	if _, err := r.TurnList(r.ctx(), "", 0); !errors.As(err, &none) {
		t.Errorf("listing gave %v", err)
	}
}

// TestLeftOutIsToldOnce a session, and again when it changes (M10).
func TestM10_LeftOutIsToldOnce(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": []}, {"steps": []}, {"steps": []}]}`, keeping)
	r.config.Checkpoint.MaxFileMiB = 1
	r.write("big.bin", strings.Repeat("x", 1<<20+1))
	info := r.open()
	for _, want := range []int{1, 1, 2} {
		if want == 2 {
			r.write("other.bin", strings.Repeat("y", 1<<20+1))
		}
		if _, err := r.prompt(info.ID, "go"); err != nil {
			t.Fatal(err)
		}
		if got := r.display.noticed(bridge.NoticeUncovered); len(got) != want || !strings.Contains(got[0].Text, "big.bin (too large)") {
			t.Fatalf("told %+v, want %d notices", got, want)
		}
	}
}

// TestVerifier: the user's checks run after a turn that changed something, in the
// project's folder; their verdicts are told, returned, and on the receipt.
func TestVerifier(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the checks are POSIX shell lines")
	}
	r := newRig(t, `{"prompts": [{"match": "write", "steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}]}, {"match": "talk", "steps": []}]}`, keeping, bypass)
	r.config.Verify = []config.Check{
		{Name: "good", Command: "sh -c 'test -f a.txt'", Seconds: 60},
		{Name: "bad", Command: "sh -c 'echo why; exit 3'", Seconds: 60},
		{Name: "missing", Command: "no-such-program-here", Seconds: 60},
	}
	info := r.open()
	result, err := r.prompt(info.ID, "write")
	if err != nil {
		t.Fatal(err)
	}
	got := r.receiptOf(result.Turn)
	var said []string
	for _, v := range got.Verifier {
		said = append(said, v.Name+" "+v.Outcome)
	}
	if s := strings.Join(said, ", "); s != "good passed, bad failed, missing not run" || len(result.Verifier) != 3 {
		t.Errorf("verdicts are %s, returned %+v", s, result.Verifier)
	}
	if out := got.Verifier[1].Output; out == "" {
		t.Error("the output of the failed check is not kept")
	} else if raw, err := os.ReadFile(filepath.Join(r.Turns.Receipts().Folder(r.folder), filepath.FromSlash(out))); err != nil || !strings.Contains(string(raw), "why") {
		t.Errorf("the kept output is %q, %v", raw, err)
	}
	told := r.display.noticed(bridge.NoticeVerifier)
	if len(told) == 0 || !strings.Contains(told[len(told)-1].Text, "bad failed (exit status 3)") || told[len(told)-1].Level != bridge.Warning {
		t.Errorf("told %+v", told)
	}
	talked, err := r.prompt(info.ID, "talk")
	if err != nil || len(talked.Verifier) != 0 || len(r.receiptOf(talked.Turn).Verifier) != 0 {
		t.Errorf("after a turn without changes: %+v, %v", talked.Verifier, err)
	}
}

// TestVerifierIsCancelledWithTheTurn, although its agent is done.
func TestVerifierIsCancelledWithTheTurn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the check is a POSIX shell line")
	}
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}]}]}`, keeping, bypass)
	r.config.Verify = []config.Check{{Name: "slow", Command: "sleep 600", Seconds: 600}, {Name: "next", Command: "true", Seconds: 60}}
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "the check", func(d *display) bool {
		for _, n := range d.notices {
			if n.Kind == bridge.NoticeVerifier {
				return true
			}
		}
		return false
	})
	if now, _ := r.Info(info.ID); !now.Busy {
		t.Error("the session is not busy while a check runs")
	}
	r.Cancel(r.ctx(), info.ID)
	e := r.end(ends)
	if e.err != nil || e.StopReason != "end_turn" || len(e.Verifier) != 2 || e.Verifier[0].Outcome != receipt.Cancelled || e.Verifier[1].Outcome != receipt.Cancelled {
		t.Errorf("ended with %+v", e)
	}
}
