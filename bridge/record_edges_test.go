package bridge_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/config"
	"sallyport/workspace/turns"
)

// TestClosedInATurn: a bridge that is closed in mid-turn still puts the turn on the
// record, so that it can be taken back later.
func TestClosedInATurn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}, {"say": "ready"}, {"waitCancel": true}]}]}`, keeping, bypass)
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "ready", func(d *display) bool { return strings.Contains(d.saidLocked(), "ready") })
	if err := r.Close(r.ctx()); err != nil {
		t.Fatal(err)
	}
	e := r.end(ends)
	got, err := r.Turns.Receipts().Find(real(t, r.folder), e.Turn)
	if err != nil || got.End.StopReason != "cancelled" || got.End.Interrupted || changes(got.Did.Changes.List) != "a.txt added mediated" {
		t.Fatalf("the receipt is %+v, %v", got, err)
	}
	done, err := r.Turns.Undo(r.ctx(), turns.Undo{Folder: real(t, r.folder), Turn: e.Turn})
	if err != nil || len(done.Done) != 1 || r.disk("a.txt") != "" {
		t.Errorf("taken back: %+v, %v", done, err)
	}
}

// TestNowhereToKeep: with a state folder that cannot be used the turn runs, and the
// user is told before it that it cannot be taken back.
func TestNowhereToKeep(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}]}]}`, bypass, func(r *rig) {
		if err := os.WriteFile(r.state(), nil, 0o600); err != nil {
			r.t.Fatal(err)
		}
		keeping(r)
	})
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil || result.Undoable || r.disk("a.txt") != "agent\n" {
		t.Fatalf("ended with %+v, %v; the file is %q", result, err, r.disk("a.txt"))
	}
	told := r.display.noticed(bridge.NoticeUncovered)
	if len(told) == 0 || !strings.HasPrefix(told[0].Text, "no undo for this turn: ") {
		t.Errorf("told %+v", told)
	}
	for _, n := range r.display.noticed(bridge.NoticeTurn) {
		if strings.Contains(n.Hint, "undo") {
			t.Errorf("an undo is offered: %+v", n)
		}
	}
}

// TestAlarms: what a person should look at is on the receipt: a mode that the agent
// switched itself, and a write that was not applied (A11).
func TestAlarms(t *testing.T) {
	r := newRig(t, `{"modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "d"}, {"id": "bypassPermissions", "name": "b"}]},
	  "prompts": [{"steps": [{"read": {"path": "${cwd}/a.txt"}}, {"say": "read"}, `+asks+`,
	    {"write": {"path": "${cwd}/a.txt", "text": "agent\n", "as": "w"}}, {"say": " ${w.code}"},
	    {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "bypassPermissions"}}]}]}`, keeping)
	r.config.Mode = config.AcceptEdits
	path := r.openDirty("a.txt", "old\n", "mine\n")
	r.config.Unsaved = config.UnsavedLeave
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if err := r.editor.Type(path, func(string) string { return "typed meanwhile\n" }); err != nil {
			t.Error(err)
		}
		return allow(ctx, c)
	}
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil || !strings.Contains(r.said(), "-32011") {
		t.Fatalf("ended with %v and %q, want a conflict", err, r.said())
	}
	var all []string
	for _, a := range r.receiptOf(result.Turn).Did.Alarms.List {
		all = append(all, a.Text)
	}
	alarms := strings.Join(all, "\n")
	if !strings.Contains(alarms, path+" was not applied: the user changed the same lines") {
		t.Errorf("alarms are\n%s\nwant the write that was not applied", alarms)
	}
	if strings.Contains(alarms, "typed") || strings.Contains(alarms, "mine") {
		t.Errorf("an alarm holds what the user typed:\n%s", alarms)
	}
}

// TestRoots: the additional folders of a session are covered as its own.
func TestRoots(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"directWrite": {"path": "${cwd}/../more/b.txt", "text": "agent\n"}}, {"directWrite": {"path": "${cwd}/a.txt", "text": "agent\n"}}]}]}`, keeping, bypass)
	r.write("../more/b.txt", "old\n")
	info, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder, Roots: []string{filepath.Join(filepath.Dir(r.folder), "more")}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.prompt(info.ID, "go")
	if err != nil || changes(result.Changes) != "a.txt added silent\nb.txt modified silent" {
		t.Fatalf("ended with %v, changes\n%s", err, changes(result.Changes))
	}
	r.undo(result.Turn)
	if r.disk("../more/b.txt") != "old\n" || r.disk("a.txt") != "" {
		t.Errorf("taken back: %q, %q", r.disk("../more/b.txt"), r.disk("a.txt"))
	}
}

// TestReplayHasNoReceipt: history is not action.
func TestReplayHasNoReceipt(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"before": [
	  {"toolCall": {"toolCallId": "c", "title": "x", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/a.txt"}]}}]}}}`, keeping)
	if _, err := r.Load(r.ctx(), bridge.LoadSession{ID: "old", Folder: r.folder, Replays: true}); err != nil {
		t.Fatal(err)
	}
	rows, err := r.TurnList(r.ctx(), r.folder, 0)
	if err != nil || len(rows) != 0 {
		t.Errorf("on the record are %+v, %v; want nothing", rows, err)
	}
}

// TestTurnsAreListedAndShown, the newest first, each with its difference.
func TestTurnsAreListedAndShown(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "one\n"}}]}, {"steps": [{"write": {"path": "${cwd}/a.txt", "text": "two\n"}}]}]}`, keeping, bypass)
	info := r.open()
	var ids []string
	for range 2 {
		result, err := r.Prompt(r.ctx(), info.ID, []jsontext.Value{block("go")})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, result.Turn)
	}
	rows, err := r.TurnList(r.ctx(), r.folder, 0)
	if err != nil || len(rows) != 2 || rows[0].Turn != ids[1] || rows[1].Turn != ids[0] || !rows[0].Undoable || rows[0].Agent != "fake" {
		t.Fatalf("listed %+v, %v", rows, err)
	}
	shown, err := r.TurnShow(r.ctx(), r.folder, ids[1])
	if err != nil || len(shown) != 1 || !strings.Contains(shown[0].Unified, "-one") || !strings.Contains(shown[0].Unified, "+two") {
		t.Errorf("shown %+v, %v", shown, err)
	}
	if got, err := r.Receipt(context.Background(), r.folder, ""); err != nil || got.Turn != ids[1] {
		t.Errorf("the newest receipt is %+v, %v", got, err)
	}
}

// TestRecordNeedsARecord: policy record grants nothing where turns are not kept.
func TestRecordNeedsARecord(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}]}`)
	r.config.Permissions.Policy = config.PolicyRecord
	r.display.answer = reject
	r.turn("go")
	if r.said() != "rejected" || len(r.display.asked) != 1 {
		t.Errorf("the agent got %q, the user was asked %d times", r.said(), len(r.display.asked))
	}
}
