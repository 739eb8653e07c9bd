package terminal_test

import (
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/server/terminal"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// printed is what f prints on a page.
func printed(t *testing.T, p terminal.Page, f func(*terminal.Page) error) string {
	t.Helper()
	var b strings.Builder
	p.Out = &b
	if err := f(&p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func aRow(id string, change func(*turns.Row)) turns.Row {
	r := turns.Row{
		RowHead: turns.RowHead{Turn: id, Kind: receipt.Turn, Folder: "/p", Agent: "gemini"},
		When:    receipt.When{Started: time.Date(2020, 4, 30, 14, 2, 0, 0, time.Local)},
		Changed: 2, ByAttribution: map[receipt.Attribution]int{receipt.BySilent: 1, receipt.ByMediated: 1},
	}
	change(&r)
	return r
}

func TestPageOfTurns(t *testing.T) {
	rows := []turns.Row{
		aRow("u-3", func(r *turns.Row) { r.Kind, r.Of, r.Undoable = receipt.Undo, "t-1", true }),
		aRow("t-22", func(r *turns.Row) { r.Undoable, r.Interrupted = true, true }),
		aRow("t-1", func(r *turns.Row) { r.Undone, r.Changed = true, 1 }),
		aRow("t-0", func(r *turns.Row) { r.Why, r.Folder = "no\x1b[2J checkpoint", "/q" }),
		aRow("t-9", func(r *turns.Row) { r.Running, r.Changed = true, 0 }),
		aRow("t-8", func(r *turns.Row) { r.Changed = 0 }),
	}
	got := printed(t, terminal.Page{}, func(p *terminal.Page) error { return p.Turns(rows) })
	want := `u-3   2020-04-30    undo      2 files  of t-1
t-22  2020-04-30    gemini    2 files  interrupted, can be undone
t-1   2020-04-30    gemini     1 file  undone
t-0   2020-04-30    gemini    2 files  cannot be undone: no␛[2J checkpoint
t-9   2020-04-30    gemini    0 files  is running
t-8   2020-04-30    gemini    0 files  changed nothing
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	got = printed(t, terminal.Page{Folders: true}, func(p *terminal.Page) error { return p.Turns(rows) })
	if !strings.HasPrefix(got, "/p\nu-3") || !strings.Contains(got, "\n\n/q\nt-0") {
		t.Errorf("by folders it is\n%s", got)
	}
}

func TestPageOfChanges(t *testing.T) {
	files := []turns.FileDiff{
		{Path: "a.txt", Kind: receipt.Modified, By: receipt.ByMediated, Buffer: true, Before: turns.Side{Kind: "file", Mode: "0644"}, After: turns.Side{Kind: "file", Mode: "0755"},
			Shown: turns.Shown{Unified: "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n---x\n++\x1b[2J\n z"}},
		{Path: "b.png", Kind: receipt.Added, By: receipt.BySilent, Before: turns.Side{Kind: "absent"}, After: turns.Side{Kind: "file", Size: 48213}, Shown: turns.Shown{Binary: true}},
		{Path: "l", Kind: receipt.TypeChanged, By: receipt.BySilent, Before: turns.Side{Kind: "link", Target: "/out"}, After: turns.Side{Kind: "folder"}},
	}
	const text = `
a.txt: modified, mediated, mode 0644 → 0755, in an open document
--- a.txt
+++ a.txt
@@ -1,2 +1,2 @@
---x
++ESC[2J
 z

b.png: added, silent, no text, 0 bytes → 48213 bytes

l: type, silent, link /out → none, link → folder
`
	screen := printed(t, terminal.Page{Screen: true}, func(p *terminal.Page) error { return p.Diffs(files) })
	if want := strings.ReplaceAll(text, "ESC", "␛"); screen != want {
		t.Errorf("on a screen\n%swant\n%s", screen, want)
	}
	pipe := printed(t, terminal.Page{}, func(p *terminal.Page) error { return p.Diffs(files) })
	if want := strings.ReplaceAll(text, "ESC", "\x1b"); pipe != want {
		t.Errorf("in a pipe\n%swant\n%s", pipe, want)
	}
	colour := printed(t, terminal.Page{Screen: true, Colour: true}, func(p *terminal.Page) error { return p.Diffs(files) })
	for _, want := range []string{"\x1b[1m--- a.txt\x1b[0m\n", "\x1b[31m---x\x1b[0m\n", "\x1b[32m++␛[2J\x1b[0m\n", "\x1b[36m@@"} {
		if !strings.Contains(colour, want) {
			t.Errorf("in colour there is no %q in %q", want, colour)
		}
	}
	stat := printed(t, terminal.Page{}, func(p *terminal.Page) error { return p.Stat(files) })
	if want := ` a.txt  modified  mediated  +1 -1  mode 0644 → 0755, in an open document
 b.png  added     silent    +0 -0  no text, 0 bytes → 48213 bytes
 l      type      silent    +0 -0  link /out → none, link → folder
 3 files changed, 1 insertion, 1 deletion
`; stat != want {
		t.Errorf("in short\n%swant\n%s", stat, want)
	}
}

func TestPageOfAnUndo(t *testing.T) {
	state := func(path, why string) turns.PathState {
		return turns.PathState{Path: path, Change: checkpoint.Modified, By: receipt.BySilent, Why: why, Forceable: why != ""}
	}
	for _, test := range []struct {
		name string
		u    turns.Undone
		redo bool
		want string
	}{
		{"all", turns.Undone{Turn: "u-1", Of: "t-1", Done: []turns.PathState{state("a", "")}}, false,
			"  ✓ a  modified, silent\ntook back 1 file of turn t-1\nhint: sallyport redo t-1 brings it back\n"},
		{"a redo", turns.Undone{Turn: "r-1", Of: "t-1", Done: []turns.PathState{state("a", "")}}, true,
			"  ✓ a  modified, silent\ndid again 1 file of turn t-1\nhint: sallyport undo t-1 brings it back\n"},
		{"nothing", turns.Undone{Of: "t-1", Already: []turns.PathState{state("a", "")}}, false,
			"  = a  modified, silent\nnothing to do: every file is so already (turn t-1)\n"},
		{"a conflict", turns.Undone{Of: "t-1", Conflicts: []turns.PathState{state("a\nb", "it changed since")}}, false,
			"  ! a⏎b  modified, silent: it changed since\nnothing of turn t-1 was changed\n1 file left alone\n" +
				"hint: sallyport undo t-1 --force takes these, too; what it overwrites is kept\nhint: sallyport undo t-1 --dry-run shows what would change\n"},
		{"a dry run", turns.Undone{Of: "t-1", Done: []turns.PathState{state("a", "")}, DryRun: true}, false,
			"  ✓ a  modified, silent\nwould take back 1 file of turn t-1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := printed(t, terminal.Page{}, func(p *terminal.Page) error { return p.Undone(&test.u, test.redo) }); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestEndOfATurn(t *testing.T) {
	var many []receipt.Change
	for range 25 {
		many = append(many, receipt.Change{Path: "f", Kind: receipt.Added, By: receipt.BySilent})
	}
	for _, test := range []struct {
		name string
		r    bridge.TurnRecord
		want string
	}{
		{"nothing", bridge.TurnRecord{}, ""},
		{"a file and a check", bridge.TurnRecord{
			Changes: []receipt.Change{{Path: "a\x1b[2J", Kind: receipt.Modified, By: receipt.ByMediated, Buffer: true}}, Changed: 1, Undoable: true,
			Verifier: []receipt.Verdict{{Name: "tests", Outcome: receipt.Failed, Why: "exit status 1"}},
		}, "check tests: failed, exit status 1\n1 file changed:\n  a␛[2J  modified, mediated, in an open document\nundo: sallyport undo t-1\n"},
		{"many files", bridge.TurnRecord{Changes: many, Changed: 1030},
			"1030 files changed:\n" + strings.Repeat("  f  added, silent\n", 20) + "  … and 1010 more: sallyport show t-1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			terminal.Changed(&terminal.Terminal{Out: &b}, bridge.TurnResult{Turn: "t-1", TurnRecord: test.r})
			if b.String() != test.want {
				t.Errorf("got\n%swant\n%s", &b, test.want)
			}
		})
	}
}
