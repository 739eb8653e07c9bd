package server_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// disputed is an undo of three files, one of which changed since.
func disputed(u turns.Undo) (*turns.Undone, error) {
	state := func(path, why string) turns.PathState {
		return turns.PathState{Path: path, By: receipt.ByMediated, Why: why, Forceable: why != ""}
	}
	done := &turns.Undone{Turn: "u-1", Of: "t-1", Done: []turns.PathState{state("a.txt", ""), state("b.txt", "")}}
	if u.DryRun {
		done.Turn = ""
	}
	last := state("c.txt", "it was changed since")
	if u.Force {
		done.Done = append(done.Done, last)
	} else {
		done.Conflicts = []turns.PathState{last}
	}
	return done, nil
}

// M12: who takes a turn back in a plain editor sees the conflicts first.
func TestM12_PlainEditorIsAskedAboutConflicts(t *testing.T) {
	for _, test := range []struct {
		pick  string // the answer's beginning; "": none
		calls []string
		says  string
	}{
		{"Undo the rest (2 files)", []string{"t-1 redo false dry false force false"}, "took back what turn t-1 did to 2 files (hint: the command sallyport.redo brings it back); left alone: c.txt (it was changed since)"},
		{"Undo these all the same", []string{"t-1 redo false dry false force true"}, "took back what turn t-1 did to 3 files (hint: the command sallyport.redo brings it back)"},
		{"Leave", nil, ""},
		{"", nil, ""},
	} {
		t.Run(test.pick, func(t *testing.T) {
			r := plain(t)
			r.ss.Undo = disputed
			r.start()
			asked := make(chan struct{})
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Choose = func(message string, titles []string) (int, error) {
					defer close(asked)
					if !strings.Contains(message, "changed since, and not by this turn: 1 file\nc.txt: it was changed since") {
						t.Errorf("the question is %q", message)
					}
					if want := []string{"Undo the rest (2 files)", "Undo these all the same", "Leave everything as it is"}; !slices.Equal(titles, want) {
						t.Errorf("the answers are %q, want %q", titles, want)
					}
					return slices.IndexFunc(titles, func(s string) bool { return test.pick != "" && strings.HasPrefix(s, test.pick) }), nil
				}
			})
			if err := r.ed.Command(r.ctx, "sallyport.undo", nil); err != nil {
				t.Fatal(err)
			}
			<-asked
			if test.says != "" {
				r.until("it is told", func(s *servertest.Seen) bool { return slices.Contains(s.Messages, "Sallyport: "+test.says) })
			}
			if err := r.ed.Shutdown(r.ctx); err != nil { // waits for what was begun
				t.Fatal(err)
			}
			<-r.ed.Ended()
			var calls []string
			for _, call := range r.ss.Made() {
				if rest, ok := strings.CutPrefix(call, "TurnUndo "+r.ed.Folder+" "); ok && !strings.Contains(rest, "dry true") {
					calls = append(calls, strings.TrimSuffix(rest, " []"))
				}
			}
			if !slices.Equal(calls, test.calls) {
				t.Errorf("undone %q, want %q", calls, test.calls)
			}
		})
	}
}

// An editor that cannot ask gets the answers as code actions.
func TestConflictsAsCodeActions(t *testing.T) {
	r := plain(t)
	r.ss.Undo = disputed
	r.start()
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Choose = func(string, []string) (int, error) { return 0, rpc.Errorf(rpc.MethodNotFound, "no") }
	})
	if err := r.ed.Command(r.ctx, "sallyport.undo", map[string]any{"turnId": "t-1"}); err != nil {
		t.Fatal(err)
	}
	r.until("it is said how to answer", func(s *servertest.Seen) bool {
		return slices.ContainsFunc(s.Messages, func(m string) bool {
			return strings.Contains(m, "sallyport.answer") && strings.HasSuffix(m, "; c.txt: it was changed since")
		})
	})
	titles := r.actionTitles(0)
	i := slices.IndexFunc(titles, func(s string) bool { return strings.HasPrefix(s, "Undo these all the same: ") })
	if i < 0 {
		t.Fatalf("the code actions are %q", titles)
	}
	if err := r.ed.Command(r.ctx, "sallyport.answer", map[string]any{"option": 2, "permissionId": "undo-t-1"}); err != nil {
		t.Fatal(err)
	}
	r.until("it was forced", func(s *servertest.Seen) bool {
		return slices.ContainsFunc(s.Messages, func(m string) bool { return strings.Contains(m, "3 files") })
	})
}

// actionTitles are the code actions at the beginning of a file; trigger is
// LSP's CodeActionTriggerKind, 0 for none.
func (r *rig) actionTitles(trigger int) (titles []string) {
	r.Helper()
	within := map[string]any{"diagnostics": []any{}}
	if trigger > 0 {
		within["triggerKind"] = trigger
	}
	var list []struct {
		Title string `json:"title"`
		Kind  string `json:"kind"`
	}
	err := r.ed.Call(r.ctx, "textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": workspace.URIOf(r.ed.Folder + "/a.txt")}, "range": wire.Range{}, "context": within,
	}, &list)
	if err != nil {
		r.Fatal(err)
	}
	for _, a := range list {
		titles = append(titles, a.Title)
	}
	return titles
}

func TestUndoActions(t *testing.T) {
	undo, redo := "Undo the agent's last turn (2 files)", "Redo the agent's turn that was undone (2 files)"
	running := row("t-3", receipt.Turn, false)
	running.Running = true
	for _, test := range []struct {
		name    string
		rows    []turns.Row
		trigger int
		plugin  bool
		want    []string
	}{
		{"no turn", nil, 0, false, nil},
		{"a turn", []turns.Row{row("t-1", receipt.Turn, true)}, 0, false, []string{undo}},
		{"one that cannot be undone", []turns.Row{row("t-1", receipt.Turn, false)}, 0, false, nil},
		{"an undo of it", []turns.Row{row("u-2", receipt.Undo, true), row("t-1", receipt.Turn, false)}, 0, false, []string{redo}},
		{"an undo of a later one", []turns.Row{row("u-3", receipt.Undo, true), row("t-2", receipt.Turn, false), row("t-1", receipt.Turn, true)}, 0, false, []string{undo, redo}},
		{"a turn runs", []turns.Row{running, row("t-1", receipt.Turn, true)}, 0, false, nil},
		{"nobody asked", []turns.Row{row("t-1", receipt.Turn, true)}, 2, false, nil},
		{"a plugin has its own", []turns.Row{row("t-1", receipt.Turn, true)}, 0, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			if test.plugin {
				r.ed.Plugin = servertest.Everything()
			}
			r.ss.Rows = func() []turns.Row { return test.rows }
			r.start()
			if got := r.actionTitles(test.trigger); !slices.Equal(got, test.want) {
				t.Errorf("offered %q, want %q", got, test.want)
			}
		})
	}
}

// What was undone is not offered again, however fresh the last look was.
func TestUndoActionsAreLookedUpAfterAnUndo(t *testing.T) {
	r := plain(t)
	var mu sync.Mutex
	rows := []turns.Row{row("t-1", receipt.Turn, true)}
	r.ss.Rows = func() []turns.Row {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(rows)
	}
	r.ss.Undo = func(u turns.Undo) (*turns.Undone, error) {
		if !u.DryRun {
			mu.Lock()
			defer mu.Unlock()
			rows = []turns.Row{row("u-2", receipt.Undo, true), row("t-1", receipt.Turn, false)}
		}
		return &turns.Undone{Turn: "u-2", Of: "t-1", Done: []turns.PathState{{Path: "a"}}}, nil
	}
	r.start()
	if got := r.actionTitles(1); len(got) != 1 || !strings.HasPrefix(got[0], "Undo") {
		t.Fatalf("offered %q", got)
	}
	if err := r.ed.Command(r.ctx, "sallyport.undo", "t-1"); err != nil {
		t.Fatal(err)
	}
	r.until("it is told", func(s *servertest.Seen) bool { return len(s.Messages) > 0 })
	if got := r.actionTitles(1); len(got) != 1 || !strings.HasPrefix(got[0], "Redo") {
		t.Errorf("offered %q", got)
	}
}

func TestTurnsPage(t *testing.T) {
	r := plain(t)
	if r.start(); codeOf(r.ed.Command(r.ctx, "sallyport.turns", nil)) != wire.CodeFailed {
		t.Error("without a turn there is a page")
	}
	r.ss.Rows = func() []turns.Row {
		return []turns.Row{row("t-2", receipt.Turn, true), row("t-1", receipt.Turn, false)}
	}
	r.ss.Files = []turns.FileDiff{{Path: "odd\nname", Kind: receipt.Modified, By: receipt.BySilent, Shown: turns.Shown{Unified: "--- odd\n+++ odd\n@@ -1 +1 @@\n-x\n+```\n"}}}
	if err := r.ed.Command(r.ctx, "sallyport.turns", nil); err != nil {
		t.Fatal(err)
	}
	r.until("it is shown", func(s *servertest.Seen) bool { return len(s.Shown) == 1 })
	var shown string
	r.ed.Look(func(s *servertest.Seen) { shown = s.Shown[0] })
	path, err := workspace.PathOf(shown)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**Turn** `t-2, ", "fake, 2 files changed, can be undone`", "**Changed by turn t-2**\n\n- `odd⏎name`: modified, silent\n", "````diff\n--- odd\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
}
