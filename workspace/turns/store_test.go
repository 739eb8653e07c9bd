package turns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

func (b *bench) rows() []Row {
	b.Helper()
	rows, err := b.store.List(b.Context(), b.dir, 0)
	b.must(err)
	return rows
}

// listed shows rows as "id kind state".
func (b *bench) listed() string {
	b.Helper()
	names := map[string]string{} // ids of undos are made up
	var out []string
	rows := b.rows()
	for i, r := range rows {
		name := r.Turn
		if r.Kind != receipt.Turn {
			name = fmt.Sprintf("%s%d", r.Kind, len(rows)-i)
		}
		names[r.Turn] = name
	}
	for _, r := range rows {
		line := names[r.Turn]
		if r.Of != "" {
			line += " of " + names[r.Of]
		}
		for _, s := range []struct {
			is   bool
			what string
		}{{r.Running, "running"}, {r.Interrupted, "interrupted"}, {r.Undone, "undone"}, {r.Undoable, "undoable"}} {
			if s.is {
				line += " " + s.what
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

func TestList(t *testing.T) {
	b := newBench(t)
	want := func(want string) {
		t.Helper()
		if got := b.listed(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	want("")
	b.turn(func(r *Running) { b.write("a", "1") })
	b.turn(func(r *Running) { b.write("a", "2") })
	b.turn(func(r *Running) {})
	want("t-0003, t-0002 undoable, t-0001 undoable")
	b.undo(Undo{})
	want("undo4 of t-0002 undoable, t-0003, t-0002 undone, t-0001 undoable")
	b.undo(Undo{})
	want("undo5 of t-0001 undoable, undo4 of t-0002 undoable, t-0003, t-0002 undone, t-0001 undone")
	b.want(map[string]string{})
	b.redo()
	want("redo6 of t-0001 undoable, undo5 of t-0001 undone, undo4 of t-0002 undoable, t-0003, t-0002 undone, t-0001 undoable")
	b.redo()
	want("redo7 of t-0002 undoable, redo6 of t-0001 undoable, undo5 of t-0001 undone, undo4 of t-0002 undone, t-0003, t-0002 undoable, t-0001 undoable")
	b.want(map[string]string{"a": "-rw-r--r-- 2"})
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Redo: true}); !errors.Is(err, ErrNotUndone) {
		t.Errorf("a redo of nothing: %v", err)
	}
	if rows, err := b.store.List(t.Context(), "", 2); err != nil || len(rows) != 2 || rows[0].Kind != receipt.Redo {
		t.Errorf("two of all projects: %+v, %v", rows, err)
	}
	if rows, err := b.store.List(t.Context(), filepath.Join(b.base, "other"), 0); err != nil || len(rows) != 0 {
		t.Errorf("another project: %+v, %v", rows, err)
	}
	r := b.begin()
	if got := b.rows()[0]; !got.Running || got.Undoable || got.Turn != r.begun.Turn {
		t.Errorf("a turn that runs: %+v", got)
	}
	b.end(r, Declared{})
}

func TestFind(t *testing.T) {
	b := newBench(t)
	if _, err := b.store.Find(t.Context(), b.dir, ""); !errors.Is(err, ErrNothing) {
		t.Errorf("of nothing: %v", err)
	}
	for range 2 {
		b.turn(func(r *Running) { b.write("a", r.begun.Turn) })
	}
	tests := []struct {
		ref, want string
		err       error
	}{
		{"t-0001", "t-0001", nil},
		{"0001", "t-0001", nil},
		{"t-0", "", ErrAmbiguous},
		{"t-00012", "", ErrNotFound},
		{"", "t-0002", nil},
	}
	for _, tt := range tests {
		got, err := b.store.Find(t.Context(), b.dir, tt.ref)
		if got.Turn != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q: got %q, %v, want %q, %v", tt.ref, got.Turn, err, tt.want, tt.err)
		}
	}
	b.undo(Undo{Turn: "0001", Force: true})
	if got, err := b.store.FindUndone(t.Context(), b.dir, ""); err != nil || got.Turn != "t-0001" {
		t.Errorf("undone: got %q, %v", got.Turn, err)
	}
	if _, err := b.store.FindUndone(t.Context(), b.dir, "t-0002"); !errors.Is(err, ErrNotUndone) {
		t.Errorf("a redo of what was not taken back: %v", err)
	}
}

func TestUndoOfAnUndo(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	before := b.tree()
	id := b.turn(func(r *Running) { b.write("a", "2") })
	after := b.tree()
	u := b.undo(Undo{})
	b.want(before)
	again := b.undo(Undo{Turn: u.Turn})
	b.want(after)
	if again.Of != u.Turn {
		t.Errorf("of %q, want %q", again.Of, u.Turn)
	}
	b.redo() // takes back that the undo was taken back
	b.want(before)
	if got := b.tryUndo(Undo{Redo: true, Turn: id}); len(got.Done) != 1 || got.Of != id {
		t.Errorf("redo by the id of the turn: %+v", got)
	}
	b.want(after)
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Turn: u.Turn}); err == nil {
		t.Error("what was taken back is taken back again")
	}
}

// The user has taken a turn back by hand: the next undo is of the turn before.
func TestBackAlready(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	b.turn(func(r *Running) { b.write("b", "b") })
	b.turn(func(r *Running) { b.write("a", "2") })
	b.write("a", "1")
	got := b.undo(Undo{})
	if len(got.Done) != 0 || len(got.Already) != 1 || got.Of != "t-0002" || got.Turn == "" {
		t.Errorf("got %+v", got)
	}
	if got := b.undo(Undo{}); got.Of != "t-0001" {
		t.Errorf("then: got %+v", got)
	}
	b.want(map[string]string{"a": "-rw-r--r-- 1"})
	if got := b.redo(); got.Of != "t-0001" {
		t.Errorf("redo: got %+v", got)
	}
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Redo: true}); !errors.Is(err, ErrNotUndone) {
		t.Errorf("a redo of nothing: %v", err)
	}
}

func TestOlderTurn(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	b.write("b", "1")
	first := b.turn(func(r *Running) {
		b.write("a", "2")
		b.write("b", "2")
	})
	b.turn(func(r *Running) {
		b.write("b", "3")
		b.write("c", "3")
	})
	got := b.tryUndo(Undo{Turn: first})
	if len(got.Done) != 1 || got.Done[0].Path != "a" || len(got.Conflicts) != 1 || got.Conflicts[0].Path != "b" {
		t.Errorf("got %+v", got)
	}
	b.want(map[string]string{"a": "-rw-r--r-- 1", "b": "-rw-r--r-- 3", "c": "-rw-r--r-- 3"})
	if row, err := b.store.Find(t.Context(), b.dir, first); err != nil || row.Undone || !row.Undoable {
		t.Errorf("of which something is left: %+v, %v", row, err)
	}
	b.redo()
	b.want(map[string]string{"a": "-rw-r--r-- 2", "b": "-rw-r--r-- 3", "c": "-rw-r--r-- 3"})
}

func TestPaths(t *testing.T) {
	b := newBench(t)
	b.write("d/e/f", "1")
	b.write("d/e/g", "1")
	b.must(os.Chmod(b.at("d/e"), 0o700))
	b.write("h", "1")
	b.turn(func(r *Running) {
		b.remove("d")
		b.write("h", "2")
		b.write("n/new", "n")
	})
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Paths: []string{"other"}}); err == nil {
		t.Error("a path that did not change is taken back")
	}
	b.undo(Undo{Paths: []string{"d/e/f"}})
	b.want(map[string]string{"d": "drwxr-xr-x", "d/e": "drwx------", "d/e/f": "-rw-r--r-- 1", "h": "-rw-r--r-- 2", "n": "drwxr-xr-x", "n/new": "-rw-r--r-- n"})
	b.undo(Undo{Turn: "t-0001", Paths: []string{b.at("h"), "n/new"}})
	b.want(map[string]string{"d": "drwxr-xr-x", "d/e": "drwx------", "d/e/f": "-rw-r--r-- 1", "h": "-rw-r--r-- 1", "n": "drwxr-xr-x"})
	b.undo(Undo{})
	b.want(map[string]string{"d": "drwxr-xr-x", "d/e": "drwx------", "d/e/f": "-rw-r--r-- 1", "d/e/g": "-rw-r--r-- 1", "h": "-rw-r--r-- 1"})
	if row := b.rows()[len(b.rows())-1]; !row.Undone {
		t.Errorf("after all was taken back in parts: %+v", row)
	}
}

func TestDryRun(t *testing.T) {
	b := newBench(t)
	b.write("a", "1\n")
	b.write("b", "1\n")
	b.turn(func(r *Running) {
		b.write("a", "2\n")
		b.write("b", "2\n")
		b.write("c", "\x00")
	})
	b.write("b", "3\n")
	before, rows := b.tree(), b.listed()
	got := b.tryUndo(Undo{DryRun: true})
	if len(got.Done) != 2 || len(got.Conflicts) != 1 || len(got.Diffs) != 2 || !got.DryRun || got.Turn != "" {
		t.Errorf("got %+v", got)
	}
	if want := "--- a\n+++ a\n@@ -1 +1 @@\n-2\n+1\n"; got.Diffs[0].Unified != want {
		t.Errorf("got %q, want %q", got.Diffs[0].Unified, want)
	}
	if d := got.Diffs[1]; !d.Binary || d.Kind != "deleted" {
		t.Errorf("got %+v", d)
	}
	got = b.tryUndo(Undo{DryRun: true, Force: true})
	if len(got.Diffs) != 3 || !strings.Contains(got.Diffs[1].Unified, "-3\n+1\n") {
		t.Errorf("with force: %+v", got.Diffs)
	}
	b.want(before)
	if now := b.listed(); now != rows {
		t.Errorf("got %s, want %s", now, rows)
	}
}

func TestDiff(t *testing.T) {
	b := newBench(t)
	b.write("a", "1\n")
	b.write("bin", "\x00")
	b.write("gone", "g\n")
	b.write("mode", "m")
	b.write("large", strings.Repeat("x\n", maxShown))
	b.must(os.Symlink("a", b.at("link")))
	id := b.turn(func(r *Running) {
		b.write("a", "2\n")
		b.write("bin", "\x01")
		b.remove("gone")
		b.must(os.Chmod(b.at("mode"), 0o755))
		b.write("large", "small")
		b.remove("link")
		b.must(os.Symlink("b", b.at("link")))
		b.write("new/n", "n\n")
	})
	got, err := b.store.Diff(t.Context(), b.dir, id)
	b.must(err)
	file := func(size int64) Side { return Side{Kind: "file", Mode: "0644", Size: size} }
	absent := Side{Kind: "absent"}
	by := receipt.BySilent
	want := []FileDiff{
		{Path: "a", Kind: "modified", By: by, Before: file(2), After: file(2), Shown: Shown{Unified: "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n"}},
		{Path: "bin", Kind: "modified", By: by, Before: file(1), After: file(1), Shown: Shown{Binary: true}},
		{Path: "gone", Kind: "deleted", By: by, Before: file(2), After: absent, Shown: Shown{Unified: "--- gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"}},
		{Path: "large", Kind: "modified", By: by, Before: file(2 * maxShown), After: file(5), Shown: Shown{Omitted: "too large to show"}},
		{Path: "link", Kind: "modified", By: by, Before: Side{Kind: "link", Target: "a"}, After: Side{Kind: "link", Target: "b"}},
		{Path: "mode", Kind: "mode", By: by, Before: file(1), After: Side{Kind: "file", Mode: "0755", Size: 1}},
		{Path: "new", Kind: "added", By: by, Before: absent, After: Side{Kind: "folder", Mode: "0755"}},
		{Path: "new/n", Kind: "added", By: by, Before: absent, After: file(2), Shown: Shown{Unified: "--- /dev/null\n+++ new/n\n@@ -0,0 +1 @@\n+n\n"}},
	}
	for i := range want {
		want[i].Root = b.dir
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err := b.store.Diff(t.Context(), b.dir, ""); err != nil || len(got) != len(want) {
		t.Errorf("of the newest turn: %d, %v", len(got), err)
	}
}

func TestTwoTurnsAtOnce(t *testing.T) {
	b := newBench(t)
	other := openStore(t, filepath.Join(b.base, "state"), nil)
	defer other.Close()
	b.write("a", "1")
	first := b.begin()
	second, err := other.Begin(t.Context(), Start{Turn: "t-second", Folder: b.at("sub"), Roots: []string{b.dir}})
	b.must(err)
	elsewhere, err := other.Begin(t.Context(), Start{Turn: "t-elsewhere", Folder: t.TempDir()})
	b.must(err)
	b.write("a", "2")
	b.write("said", "s")
	b.mediated(first, "ours", "o")
	busy := (*BusyError)(nil)
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Turn: first.begun.Turn}); !errors.As(err, &busy) || busy.Turn != first.begun.Turn {
		t.Errorf("undo of a turn that runs: %v", err)
	}
	if got, want := b.end(first, Declared{Paths: []string{"said"}}), "a modified unsure, ours added mediated, said added declared"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir}); !errors.As(err, &busy) || busy.Turn != "t-second" {
		t.Errorf("undo while another session's turn runs: %v", err)
	}
	_, err = elsewhere.End(t.Context(), receipt.End{}, nil, nil)
	b.must(err)
	_, err = second.End(t.Context(), receipt.End{}, nil, nil)
	b.must(err)
	got := b.tryUndo(Undo{Turn: first.begun.Turn})
	if len(got.Done) != 2 || len(got.Conflicts) != 1 || got.Conflicts[0].Path != "a" || !got.Conflicts[0].Forceable {
		t.Errorf("got %+v", got)
	}
	b.undo(Undo{Turn: first.begun.Turn, Force: true})
	b.want(map[string]string{"a": "-rw-r--r-- 1"})
}

// A turn that begins while an undo runs waits for it.
func TestBeginWaitsForUndo(t *testing.T) {
	b := newBench(t)
	b.turn(func(r *Running) { b.write("a", "1") })
	began := make(chan error, 1)
	var once sync.Once
	in := openStore(t, filepath.Join(b.base, "state"), func(step string) {
		if step != "remove" { // of the restore
			return
		}
		once.Do(func() {
			go func() {
				r, err := b.store.Begin(context.WithoutCancel(t.Context()), Start{Turn: "t-late", Folder: b.dir})
				if err == nil {
					if _, absent := os.Lstat(b.at("a")); absent == nil {
						err = errors.New("the turn began within the undo")
					}
					_, end := r.End(context.WithoutCancel(t.Context()), receipt.End{}, nil, nil)
					err = errors.Join(err, end)
				}
				began <- err
			}()
		})
	})
	defer in.Close()
	if _, err := in.Undo(t.Context(), Undo{Folder: b.dir}); err != nil {
		t.Fatal(err)
	}
	b.must(<-began)
}

func TestNotesOnTheReceipt(t *testing.T) {
	b := newBench(t)
	r := b.begin()
	r.Permission(receipt.Permission{Asked: receipt.Asked{Tool: "Bash", Kind: "command", Target: "ls"}, Settled: receipt.Settled{Outcome: "allowed", By: "user"}})
	r.Access(receipt.Access{Kind: "read", Path: b.at("a")})
	r.Refusal(receipt.Refusal{Fence: "region", Access: "write", Path: "/etc/passwd"})
	r.Taint(receipt.Taint{Kind: "fetch", Source: "https://example.com"})
	r.Alarm("look")
	r.Posture(receipt.Posture{Writes: receipt.Observed})
	got, err := r.End(t.Context(), receipt.End{StopReason: "end_turn"}, nil, []receipt.Verdict{{Name: "tests", Outcome: receipt.Passed}})
	b.must(err)
	r.Alarm("after the end")
	if got.Did.Permissions.Total != 1 || got.Did.Accesses.Total != 1 || got.Did.Refusals.Total != 1 || len(got.Taint) != 1 ||
		got.Did.Alarms.Total != 1 || len(got.Held.Changes) != 1 || len(got.Verifier) != 1 || got.Tokens != nil || got.Cover.After == "" {
		t.Errorf("got %+v", got)
	}
	if _, err := r.End(t.Context(), receipt.End{}, nil, nil); !errors.Is(err, errOver) {
		t.Errorf("a second end: %v", err)
	}
	if _, err := b.store.Begin(t.Context(), Start{Turn: "../x", Folder: b.dir}); err == nil {
		t.Error("a path is taken for an id")
	}
}

func TestTakenUpBeforeAWrite(t *testing.T) {
	b := newBench(t)
	b.write("f", "1")
	r, err := b.store.Begin(t.Context(), Start{Turn: "t-1", Folder: b.dir, Options: checkpoint.Options{Limit: time.Nanosecond}})
	b.must(err)
	if len(r.LeftOut()) == 0 {
		t.Skip("nothing was left out")
	}
	b.must(r.BeforeWrite(t.Context(), b.at("f")))
	b.must(r.BeforeWrite(t.Context(), filepath.Join(b.base, "outside")))
	if got := r.LeftOut(); len(got) != 0 {
		t.Errorf("still left out: %v", got)
	}
	b.mediated(r, "f", "2")
	r.mu.Lock()
	r.options.Limit = 0 // the machine is quicker now
	r.mu.Unlock()
	if got := b.end(r, Declared{}); got != "f modified mediated" {
		t.Errorf("got %s", got)
	}
	b.undo(Undo{})
	b.want(map[string]string{"f": "-rw-r--r-- 1"})
}

func TestPrune(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.turn(func(r *Running) { b.write("a", fmt.Sprint(i)) })
	}
	running := b.begin()
	b.clock.Store(int64(31 * 24 * time.Hour))
	p, err := b.store.Prune(t.Context())
	b.must(err)
	if len(p.Turns) != 3 {
		t.Errorf("got %+v, want all turns", p)
	}
	b.clock.Store(0)
	for _, row := range b.rows()[1:] {
		if row.Undoable || row.Why != "its checkpoints are no longer kept" {
			t.Errorf("got %+v", row)
		}
	}
	b.write("a", "again")
	if got := b.end(running, Declared{}); got != "a modified silent" {
		t.Errorf("the turn that ran: %s", got)
	}
	b.undo(Undo{})
	b.want(map[string]string{"a": "-rw-r--r-- 2"})

	// The cap holds, and the youngest are kept.
	source := rand.New(rand.NewPCG(1, 1))
	random := func(n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(source.Uint32())
		}
		return string(out)
	}
	for i := range 6 {
		b.turn(func(r *Running) { b.write("a", random(100_000+i)) })
	}
	b.keep.MaxBytes = 350_000
	b.reopen()
	p, err = b.store.Prune(t.Context())
	b.must(err)
	rows := b.rows()
	if p.Bytes > 350_000 || len(p.Turns) == 0 || !rows[0].Undoable || rows[5].Undoable {
		t.Errorf("got %+v, rows %+v", p, rows)
	}
	b.undo(Undo{})
}

func TestStateThatCannotBeWritten(t *testing.T) {
	b := newBench(t)
	b.close()
	blocked := filepath.Join(b.base, "blocked")
	b.must(os.WriteFile(blocked, nil, 0o600))
	s := openStore(t, filepath.Join(blocked, "state"), nil)
	defer s.Close()
	r, err := s.Begin(t.Context(), Start{Turn: "t-1", Folder: b.dir})
	b.must(err)
	if r.Uncovered() == "" {
		t.Error("the turn is covered")
	}
	b.write("a", "1")
	if got, err := r.Compare(t.Context(), Declared{}, nil); len(got) != 0 || err != nil {
		t.Errorf("compared: %v, %v", got, err)
	}
	rec, err := r.End(t.Context(), receipt.End{StopReason: "end_turn"}, nil, nil)
	if err == nil || rec == nil || rec.Cover.None == "" {
		t.Errorf("got %+v, %v, want a receipt that cannot be written", rec, err)
	}
}

func TestClockGoesBack(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	b.turn(func(r *Running) {
		b.clock.Store(-int64(time.Hour))
		b.write("a", "2")
	})
	b.clock.Store(-int64(100 * 24 * time.Hour))
	b.turn(func(r *Running) { b.write("a", "3") })
	if got := b.listed(); got != "t-0002 undoable, t-0001 undoable" {
		t.Errorf("got %s", got)
	}
	b.undo(Undo{})
	b.undo(Undo{})
	b.want(map[string]string{"a": "-rw-r--r-- 1"})
	b.redo()
	b.want(map[string]string{"a": "-rw-r--r-- 2"})
}

// An agent removes the whole project.
func TestFolderIsGone(t *testing.T) {
	b := newBench(t)
	b.write("d/a", "1")
	b.must(os.Chmod(b.at("d"), 0o700))
	b.write("b", "1")
	before := b.tree()
	for _, die := range []bool{false, true} {
		r := b.begin()
		b.must(os.RemoveAll(b.dir))
		want := "b deleted silent, d deleted silent, d/a deleted silent"
		if die {
			want = ""
			r.die()
			b.reopen()
			b.rows()
		} else if got := b.end(r, Declared{}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := os.Lstat(b.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is there: %v", err)
		}
		rec, err := b.store.Receipts().Find(b.dir, r.begun.Turn)
		b.must(err)
		if rec.Did.Alarms.Total != 1 {
			t.Errorf("alarms %+v", rec.Did.Alarms)
		}
		if got := b.tryUndo(Undo{DryRun: true}); len(got.Done) != 3 {
			t.Errorf("dry run: %+v", got)
		}
		b.undo(Undo{Force: die})
		b.want(before)
	}
}

func TestMissingRoot(t *testing.T) {
	b := newBench(t)
	r, err := b.store.Begin(t.Context(), Start{Turn: "t-1", Folder: b.dir, Roots: []string{filepath.Join(b.base, "none")}})
	b.must(err)
	if why := r.Uncovered(); why != "" {
		t.Errorf("not covered: %s", why)
	}
	b.write("a", "1")
	b.end(r, Declared{})
	b.undo(Undo{})
	b.want(map[string]string{})
}

func TestProject(t *testing.T) {
	b := newBench(t)
	b.write("d/e/f", "f")
	if got := b.store.Project(b.at("d/e")); got != b.at("d/e") {
		t.Errorf("without turns: %s", got)
	}
	b.turn(func(*Running) {})
	for _, from := range []string{"", "d/e", "d/none"} {
		if got := b.store.Project(b.at(from)); got != b.dir {
			t.Errorf("from %q: %s, want %s", from, got, b.dir)
		}
	}
}

// A folder above the project is turned into a link to another place, which is not written.
func TestRootBehindALink(t *testing.T) {
	for _, there := range []bool{false, true} {
		b := newBench(t)
		b.dir = filepath.Join(b.base, "a", "p")
		b.write("f", "1")
		b.turn(func(*Running) { b.remove("f") })
		b.must(os.Rename(filepath.Join(b.base, "a"), filepath.Join(b.base, "moved")))
		elsewhere := filepath.Join(b.base, "elsewhere")
		b.must(os.MkdirAll(elsewhere, 0o755))
		if there {
			b.must(os.Mkdir(filepath.Join(elsewhere, "p"), 0o755))
		}
		b.must(os.Symlink(elsewhere, filepath.Join(b.base, "a")))
		before := describe(t, elsewhere)
		for _, folder := range []string{b.dir, filepath.Join(b.base, "moved", "p")} {
			if got, err := b.store.Undo(t.Context(), Undo{Folder: folder, Turn: "t-0001", Force: true}); err == nil {
				t.Errorf("got %+v", got)
			}
		}
		e, err := b.store.find(t.Context(), "", "t-0001")
		b.must(err)
		if e.trace == nil {
			t.Fatal("there is no trace")
		}
		if got, err := b.store.undo(t.Context(), Undo{Folder: b.dir, Force: true}, e); err == nil {
			t.Errorf("got %+v", got)
		}
		if d := cmp.Diff(before, describe(t, elsewhere)); d != "" {
			t.Errorf("behind the link (-before +after):\n%s", d)
		}
	}
}

// A prune beside turns and undos takes nothing that these need.
func TestPruneBesideTurns(t *testing.T) {
	b := newBench(t)
	other := openWith(t, Config{State: filepath.Join(b.base, "state"), Retention: checkpoint.PruneOptions{MaxBytes: 1}})
	defer other.Close()
	again := make(chan struct{})
	var pruning sync.WaitGroup
	pruning.Go(func() {
		for range again {
			if _, err := other.Prune(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	defer pruning.Wait()
	defer close(again)
	for i := range 25 {
		b.write("a", fmt.Sprint("before ", i))
		select {
		case again <- struct{}{}:
		default: // the last one is not over
		}
		r := b.begin()
		b.write("a", fmt.Sprint("after ", i))
		if got := b.end(r, Declared{}); got != "a modified silent" {
			t.Fatalf("turn %d: got %s", i, got)
		}
		gone := (*GoneError)(nil)
		_, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Turn: r.begun.Turn})
		if err != nil && !errors.As(err, &gone) {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
}
