package server_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// A plain editor gets one line about what a turn changed; its conversation names
// every file, whose the change is, and what the user's checks say.
func TestTurnInThePlainEditor(t *testing.T) {
	r := plain(t)
	r.ss.Turn = func(_ context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		turn.Display.Notice(bridge.Notice{
			Session: turn.Session, Turn: turn.ID, Kind: bridge.NoticeTurn, Level: bridge.Plain,
			Text: "this turn changed a.txt and 2 more files", Hint: "take it back: sallyport undo " + turn.ID, Paths: []string{"/p/a.txt", "/p/b.txt", "/p/c.txt"},
		})
		for level, text := range map[bridge.Level]string{bridge.Plain: "checking: tests", bridge.Warning: "tests failed"} {
			turn.Display.Notice(bridge.Notice{Session: turn.Session, Turn: turn.ID, Kind: bridge.NoticeVerifier, Level: level, Text: text})
		}
		change := func(path, kind string, by receipt.Attribution) receipt.Change {
			return receipt.Change{Root: "/p", Path: path, Kind: kind, By: by}
		}
		return bridge.TurnResult{StopReason: "end_turn", TurnRecord: bridge.TurnRecord{
			Changes: []receipt.Change{change("a.txt", receipt.Modified, receipt.ByMediated), change("b`\n# x", receipt.Added, receipt.BySilent)},
			Changed: 3, Undoable: true,
			Verifier: []receipt.Verdict{{Name: "tests", Outcome: receipt.Failed, Why: "exit status 1"}},
		}}, nil
	}
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "go"); err != nil {
		t.Fatal(err)
	}
	r.until("the turn ended", func(s *servertest.Seen) bool { return s.Ends() == 1 })
	const line = "Sallyport: this turn changed a.txt and 2 more files (hint: a code action or the command sallyport.undo takes it back)"
	r.ed.Look(func(s *servertest.Seen) {
		if !slices.Equal(s.Messages, []string{line, "Sallyport: tests failed"}) {
			t.Errorf("messages %q, want %q and the failed check", s.Messages, line)
		}
		if !slices.ContainsFunc(s.Progress, func(p servertest.Progress) bool { return p.Kind == "end" && p.Message == "done, 3 files changed" }) {
			t.Errorf("the progress was %+v", s.Progress)
		}
	})
	page := r.conversation()
	for _, want := range []string{
		"**Check** `tests: failed, exit status 1`", "**Changed by turn t2**\n\n- `a.txt`: modified, mediated\n- ``b`⏎# x``: added, silent\n- `…`: and 1 more\n",
		"**Undo** `sallyport undo t2`", "**Turn ended** `done, 3 files changed`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the conversation has no %q:\n%s", want, page)
		}
	}
}

// What an undo did stands in the conversation, too.
func TestUndoInTheConversation(t *testing.T) {
	r := plain(t)
	said(r)
	r.ss.Undo = disputed
	r.ed.SetHabits(func(h *servertest.Habits) { h.Choose = func(string, []string) (int, error) { return 0, nil } })
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "go"); err != nil {
		t.Fatal(err)
	}
	r.until("the turn ended", func(s *servertest.Seen) bool { return s.Ends() == 1 })
	if err := r.ed.Command(r.ctx, "sallyport.undo", nil); err != nil {
		t.Fatal(err)
	}
	r.until("it is told", func(s *servertest.Seen) bool { return len(s.Messages) == 2 })
	if err := r.ed.Command(r.ctx, "sallyport.showConversation", nil); err != nil { // written out
		t.Fatal(err)
	}
	page := r.conversation()
	for _, want := range []string{"**Undo** `took back what turn t-1 did to 2 files", "- `c.txt`: left alone: it was changed since\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the conversation has no %q:\n%s", want, page)
		}
	}
}

// The record is told of saves, with the text that was saved and in the order of
// the wire.
func TestSavesAreTold(t *testing.T) {
	r := plugin(t)
	r.start()
	uri, path := r.open("a.txt", "one\n")
	if err := r.ed.Type(uri, 0, 0, "x"); err != nil {
		t.Fatal(err)
	}
	if err := r.ed.Save(uri); err != nil {
		t.Fatal(err)
	}
	if err := r.ed.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": uri}}); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{"untitled:x", workspace.URIOf(path + ".closed"), "::"} {
		if err := r.ed.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": odd}, "text": "y"}); err != nil {
			t.Fatal(err)
		}
	}
	r.sync()
	want := "DocumentSaved " + path + " " + text.Hash("xone\n")
	var got []string
	for _, call := range r.ss.Made() {
		if strings.HasPrefix(call, "DocumentSaved") {
			got = append(got, call)
		}
	}
	if !slices.Equal(got, []string{want, want}) {
		t.Errorf("told %q, want twice %q", got, want)
	}
}

func TestClearTaint(t *testing.T) {
	r := plugin(t)
	r.start()
	session := r.session()
	var info wire.Info
	if err := r.ed.Call(r.ctx, wire.MethodClearTaint, wire.SessionParams{Session: session}, &info); err != nil || info.ID != session {
		t.Errorf("got %+v, %v", info, err)
	}
	if err := r.ed.Call(r.ctx, wire.MethodClearTaint, wire.SessionParams{Session: "s9"}, nil); kindOf(t, err) != wire.ErrorUnknownSession {
		t.Errorf("an unknown session: %v", err)
	}
	if err := r.ed.Call(r.ctx, wire.MethodClearTaint, wire.SessionParams{}, nil); kindOf(t, err) != wire.ErrorParams {
		t.Errorf("no session: %v", err)
	}
	p := plain(t)
	said(p)
	p.start()
	if err := p.ed.Command(p.ctx, "sallyport.clearTaint", nil); codeOf(err) != wire.CodeFailed {
		t.Errorf("without a session: %v", err)
	}
	if err := p.ed.Command(p.ctx, "sallyport.ask", "go"); err != nil {
		t.Fatal(err)
	}
	p.until("the turn ended", func(s *servertest.Seen) bool { return s.Ends() == 1 })
	if err := p.ed.Command(p.ctx, "sallyport.clearTaint", nil); err != nil || !slices.Contains(p.ss.Made(), "ClearTaint s1") {
		t.Errorf("%v: called %q", err, p.ss.Made())
	}
}
