package bridge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/workspace"
	"sallyport/workspace/config"
	"sallyport/workspace/turns"
)

// bypass lets the agent do what no fence refuses.
func bypass(r *rig) { r.config.Mode = config.Bypass }

// declares is a tool call with a diff that the agent carries out itself.
func declares(path, text string) string {
	return `{"directWrite": {"path": "${cwd}/` + path + `", "text": "` + text + `"}},
	  {"toolCall": {"toolCallId": "d-` + path + `", "title": "Edit", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/` + path + `"}],
	    "content": [{"type": "diff", "path": "${cwd}/` + path + `", "newText": "` + text + `"}]}}`
}

// mediates has the agent's manifest claim that it writes through us.
func mediates(r *rig) {
	find := r.Home.Harness
	r.Home.Harness = func(id string) (*harness.Harness, error) {
		h, err := find(id)
		if err != nil {
			return nil, err
		}
		own := *h
		own.Own.Reach.Writes = "mediated"
		return &own, nil
	}
}

// TestA5 shows whose each change is: through us, by the agent's own word, and
// without a word; that a dirty buffer keeps its text; that the receipt names all;
// and that the whole turn is taken back.
func TestA5_Attribution(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/through.txt", "text": "new\n"}},
	  `+declares("said.txt", `new\n`)+`,
	  {"directWrite": {"path": "${cwd}/silent.txt", "text": "new\n"}},
	  {"directWrite": {"path": "${cwd}/sub/made.txt", "text": "new\n"}},
	  {"shell": "rm gone.txt && mv from.txt to.txt"}]}]}`, keeping, bypass, mediates)
	for _, name := range []string{"through.txt", "said.txt", "silent.txt", "gone.txt", "from.txt", "untouched.txt"} {
		r.write(name, "old\n")
	}
	before := r.tree()
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(`
from.txt deleted silent
gone.txt deleted silent
said.txt modified declared
silent.txt modified silent
sub added silent
sub/made.txt added silent
through.txt modified mediated
to.txt added silent`)
	got := r.receiptOf(result.Turn)
	if all := changes(got.Did.Changes.List); all != want {
		t.Errorf("the receipt has\n%s\nwant\n%s", all, want)
	}
	if all := changes(result.Changes); all != want || !result.Undoable {
		t.Errorf("the result has\n%s\nundoable %v", all, result.Undoable)
	}
	said := r.noticeOf(bridge.NoticeTurn)
	if !strings.Contains(said.Hint, "undo "+result.Turn) || len(said.Paths) != 8 {
		t.Errorf("the turn was told as %+v", said)
	}
	var direct []string
	for _, n := range r.display.noticed(bridge.NoticeDirect) {
		direct = append(direct, n.Text)
	}
	if len(direct) != 2 || !strings.Contains(direct[0], "wrote said.txt") || !strings.Contains(direct[1], "without a word") || !strings.Contains(direct[1], "from.txt") {
		t.Errorf("writes past us were told as %q", direct)
	}
	if now, err := r.Info(info.ID); err != nil || now.Posture.Writes != bridge.Observed {
		t.Errorf("writes are %s (%v), want observed", now.Posture.Writes, err)
	}
	if len(got.Held.Changes) == 0 || got.Did.Alarms.Total == 0 {
		t.Errorf("the receipt has no lowered posture: %+v, %+v", got.Held, got.Did.Alarms)
	}
	r.undo(result.Turn)
	if after := r.tree(); after != before {
		t.Errorf("taken back is\n%s\nwant\n%s", after, before)
	}
}

// TestReceipt holds who did what: permissions with who settled them, accesses,
// refusals, tokens, names; and never a content, a prompt or a secret.
func TestReceipt(t *testing.T) {
	const secret = "c0ntent-s3cret"
	r := newRig(t, `{"agent": {"name": "fakery", "version": "7.1"}, "prompts": [{"steps": [
	  {"read": {"path": "${cwd}/a.txt", "as": "a"}},
	  {"write": {"path": "${cwd}/a.txt", "text": "`+secret+` agent\n", "as": "w"}},
	  {"write": {"path": "${cwd}/.git/config", "text": "x", "as": "x"}},
	  {"think": "`+secret+`"},
	  {"ask": {"toolCall": {"toolCallId": "t", "kind": "execute", "title": "`+secret+`", "rawInput": {"command": "make\n`+secret+`"}}}},
	  {"answer": {"result": {"stopReason": "end_turn", "usage": {"inputTokens": 12, "outputTokens": 3}}}}]}, {"steps": []}]}`, keeping)
	r.Home.Environ = append(r.Home.Environ, "SECRET_NAME="+secret)
	r.write("a.txt", secret+" disk\n")
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if c.Request.Kind == permit.Command {
			return reject(ctx, c)
		}
		return allow(ctx, c)
	}
	info := r.open()
	result, err := r.prompt(info.ID, secret+" prompt")
	if err != nil {
		t.Fatal(err)
	}
	got := r.receiptOf(result.Turn)
	if a := got.Agent; a == nil || a.Version != "fakery 7.1" || !filepath.IsAbs(a.Program) || a.ID != "fake" || got.Session != info.ID {
		t.Errorf("the agent is %+v", a)
	}
	var asked []string
	for _, p := range got.Did.Permissions.List {
		asked = append(asked, strings.Join([]string{p.Tool, p.Target, p.Outcome, p.By, p.Option}, " "))
	}
	if all := strings.Join(asked, "\n"); all != "Edit "+r.path("a.txt")+" allowed user allow\nBash make … denied user reject" {
		t.Errorf("permissions are\n%s", all)
	}
	if n := len(got.Did.Accesses.List); n != 2 || got.Did.Accesses.List[0].Kind != "read" || got.Did.Accesses.List[1].After == "" {
		t.Errorf("accesses are %+v", got.Did.Accesses)
	}
	if len(got.Did.Refusals.List) != 1 || got.Did.Refusals.List[0].Fence != "reserved" {
		t.Errorf("refusals are %+v", got.Did.Refusals)
	}
	if k := got.Tokens; k == nil || k.Input == nil || *k.Input != 12 || k.Total != nil {
		t.Errorf("tokens are %+v, want 12 in, and nil where none were given", k)
	}
	if got.Held.Policy != "ask" || got.Held.Mode != "default" || got.Held.Sentence == "" || len(got.Held.Environment) == 0 {
		t.Errorf("held to %+v", got.Held)
	}
	if got.End.StopReason != "end_turn" || got.Cover.Before == "" || got.Cover.None != "" {
		t.Errorf("end %+v, cover %+v", got.End, got.Cover)
	}
	second, err := r.prompt(info.ID, "more")
	if err != nil {
		t.Fatal(err)
	}
	if k := r.receiptOf(second.Turn); k.Tokens != nil || k.Did.Changes.Total != 0 {
		t.Errorf("the second has tokens %+v, changes %+v; want null and none", k.Tokens, k.Did.Changes)
	}
	for _, folder := range []string{"receipts", "turns"} {
		_ = filepath.WalkDir(filepath.Join(r.state(), folder), func(path string, d os.DirEntry, err error) error {
			if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), secret) {
				t.Errorf("a planted text is in %s:\n%s", path, raw)
			}
			return nil
		})
	}
	raw, err := json.Marshal(r.display.notices)
	if err != nil || strings.Contains(string(raw), secret) {
		t.Errorf("a planted text is in the notices (%v): %s", err, raw)
	}
}

// TestUndoThroughTheEditor: what the agent wrote into open buffers comes back
// there, a dirty buffer gets its dirty text, and the agent is told with the next
// prompt (M13).
func TestM13_UndoThroughTheEditor(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "go", "steps": [
	  {"read": {"path": "${cwd}/clean.txt"}}, {"read": {"path": "${cwd}/dirty.txt"}},
	  {"write": {"path": "${cwd}/clean.txt", "text": "1\n2 agent\n"}},
	  {"write": {"path": "${cwd}/dirty.txt", "text": "1 user\n2 agent\n"}}]},
	  {"match": "next", "steps": [{"say": "${prompt}"}]}]}`, keeping, bypass)
	r.config.Unsaved = config.UnsavedLeave
	clean := r.write("clean.txt", "1\n2\n")
	if err := r.editor.Open(clean); err != nil {
		t.Fatal(err)
	}
	dirty := r.openDirty("dirty.txt", "1\n2\n", "1 user\n2\n")
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil {
		t.Fatal(err)
	}
	if r.buffer(clean) != "1\n2 agent\n" || r.buffer(dirty) != "1 user\n2 agent\n" {
		t.Fatalf("after the turn: %q, %q", r.buffer(clean), r.buffer(dirty))
	}
	r.undo(result.Turn)
	if got := r.buffer(clean) + r.disk("clean.txt"); got != "1\n2\n1\n2\n" {
		t.Errorf("the clean document is %q", got)
	}
	if got := r.buffer(dirty) + r.disk("dirty.txt"); got != "1 user\n2\n1\n2\n" {
		t.Errorf("the dirty document is %q", got)
	}
	if d, _ := r.editor.Documents.Get(clean); d.Dirty {
		t.Error("the clean document is left unsaved")
	}
	if _, err := r.prompt(info.ID, "next"); err != nil {
		t.Fatal(err)
	}
	if said := r.said(); !strings.Contains(said, "took back turn "+result.Turn) || !strings.Contains(said, "clean.txt") {
		t.Errorf("the agent was told %q", said)
	}
	var gone *turns.GoneError
	if _, err := r.TurnUndo(r.ctx(), turns.Undo{Folder: r.folder, Turn: result.Turn}); !errors.As(err, &gone) {
		t.Errorf("taking it back again gave %v, want that it was", err)
	}
}

// TestUndoOfAnotherProcess: the agent is told of it, too, and its next write is not
// merged from what it had read before.
func TestUndoOfAnotherProcess(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "go", "steps": [{"write": {"path": "${cwd}/a.txt", "text": "agent\n"}}]}, {"match": "next", "steps": [{"say": "${prompt}"}]}]}`, keeping, bypass)
	info := r.open()
	result, err := r.prompt(info.ID, "go")
	if err != nil {
		t.Fatal(err)
	}
	other, err := turns.Open(r.ctx(), turns.Config{State: r.state()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Undo(r.ctx(), turns.Undo{Folder: real(t, r.folder)}); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		before := len(r.said())
		if _, err := r.prompt(info.ID, "next"); err != nil {
			t.Fatal(err)
		}
		if said := r.said()[before:]; strings.Contains(said, "took back turn "+result.Turn+": a.txt") != want {
			t.Errorf("the agent was told %q, of the undo: want %v", said, want)
		}
	}
}

// TestUserSavesDuringATurn: what the user saved from the editor is the user's, and
// stays when the turn is taken back; a save that an agent's write asked for is not.
func TestUserSavesDuringATurn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"directWrite": {"path": "${cwd}/agent.txt", "text": "x\n"}},
	  {"write": {"path": "${cwd}/through.txt", "text": "agent\n"}}, `+asks+`]}]}`, keeping)
	r.config.Mode = config.AcceptEdits
	mine, ours, through := r.write("mine.txt", "old\n"), r.write("ours.txt", "old\n"), r.write("through.txt", "old\n")
	for _, path := range []string{mine, ours, through} {
		if err := r.editor.Open(path); err != nil {
			t.Fatal(err)
		}
	}
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	r.save(mine, "typed\n")
	d, _ := r.editor.Documents.Get(through)
	r.DocumentSaved(through, d.Hash) // as the editor says of every save
	if err := os.WriteFile(ours, []byte("who?\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	close(release)
	e := r.end(ends)
	if e.err != nil {
		t.Fatal(e.err)
	}
	want := "agent.txt added silent\nmine.txt modified user\nours.txt modified silent\nthrough.txt modified mediated"
	if got := changes(r.receiptOf(e.Turn).Did.Changes.List); got != want {
		t.Errorf("the receipt has\n%s\nwant\n%s", got, want)
	}
	r.undo(e.Turn)
	if r.disk("mine.txt") != "typed\n" || r.disk("through.txt") != "old\n" || r.disk("agent.txt") != "" {
		t.Errorf("taken back: mine %q, the agent's %q", r.disk("mine.txt"), r.disk("agent.txt"))
	}
}

// TestEditorSavesWhatTheAgentWrote: an editor that takes on what an agent wrote past
// us, and saves it, saves nothing of the user's.
func TestEditorSavesWhatTheAgentWrote(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"directWrite": {"path": "${cwd}/a.txt", "text": "agent\n"}}, `+asks+`]}]}`, keeping)
	path := r.write("a.txt", "old\n")
	if err := r.editor.Open(path); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	d, err := r.editor.Documents.Wait(t.Context(), path, func(d workspace.Document) bool { return d.Text == "agent\n" })
	if err != nil {
		t.Fatal(err)
	}
	r.DocumentSaved(path, d.Hash)
	close(release)
	e := r.end(ends)
	if e.err != nil {
		t.Fatal(e.err)
	}
	if got := changes(r.receiptOf(e.Turn).Did.Changes.List); got != "a.txt modified silent" {
		t.Errorf("the receipt has %s", got)
	}
}

// save has the user type a text and save it.
func (r *rig) save(path, text string) {
	r.t.Helper()
	if err := r.editor.Type(path, func(string) string { return text }); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	d, _ := r.editor.Documents.Get(path)
	r.editor.Documents.Save(d.URI, nil)
	r.DocumentSaved(path, d.Hash)
}
