package turns

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// die is as if the turn's process was killed.
func (r *Running) die() {
	close(r.stop)
	r.beats.Wait()
	r.journal.leave()
}

func TestInterruptedTurn(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	b.write("gone", "g")
	before := b.tree()
	r := b.begin()
	b.mediated(r, "m", "m")
	b.write("u", "u")
	r.Saved(b.at("u"), text.Hash("u"))
	b.write("a", "2")
	b.remove("gone")
	r.Alarm("look")
	r.die()
	b.reopen()
	after := b.tree()
	if got := b.listed(); got != "t-0001 interrupted undoable" {
		t.Errorf("got %s", got)
	}
	rec, err := b.store.Receipts().Find(b.dir, "t-0001")
	b.must(err)
	want := "a modified silent, gone deleted silent, m added mediated, u added user"
	if got := shown(rec.Did.Changes.List); got != want || !rec.End.Interrupted || rec.Did.Alarms.Total != 1 || rec.Did.Accesses.Total != 1 {
		t.Errorf("got %s and %+v, want %s", got, rec, want)
	}
	b.undo(Undo{})
	before["u"] = after["u"]
	b.want(before)
	b.redo()
	b.want(after)
}

// What changed long after the process died may be the user's.
func TestChangedAfterTheDeath(t *testing.T) {
	b := newBench(t)
	b.write("a", "1")
	r := b.begin()
	b.mediated(r, "m", "m")
	b.write("a", "2")
	r.die()
	b.close()
	past := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(r.journal.base+journalName, past, past))
	b.reopen()
	got := b.tryUndo(Undo{Turn: "t-0001"})
	if len(got.Done) != 1 || got.Done[0].Path != "m" || len(got.Conflicts) != 1 || got.Conflicts[0].By != receipt.ByUnsure || !got.Conflicts[0].Forceable {
		t.Errorf("got %+v", got)
	}
	b.undo(Undo{Turn: "t-0001", Force: true})
	b.want(map[string]string{"a": "-rw-r--r-- 1"})
}

// The verifier ran when the process died: what it made is not the turn's.
func TestInterruptedAfterCompare(t *testing.T) {
	b := newBench(t)
	r := b.begin()
	b.write("a", "1")
	_, err := r.Compare(t.Context(), Declared{Paths: []string{"a"}}, nil)
	b.must(err)
	b.write("report.xml", "of the tests")
	r.die()
	b.reopen()
	b.undo(Undo{})
	b.want(map[string]string{"report.xml": "-rw-r--r-- of the tests"})
	rec, err := b.store.Receipts().Find(b.dir, "t-0001")
	b.must(err)
	if got := shown(rec.Did.Changes.List); got != "a added declared" {
		t.Errorf("the receipt has %s", got)
	}
}

func TestOneEndsIt(t *testing.T) {
	b := newBench(t)
	for range 3 {
		r := b.begin()
		b.write(r.begun.Turn, "1")
		r.die()
	}
	b.close()
	var all sync.WaitGroup
	for range 4 {
		s := openStore(t, filepath.Join(b.base, "state"), nil)
		all.Go(func() {
			defer s.Close()
			rows, err := s.List(t.Context(), b.dir, 0)
			if err != nil || len(rows) != 3 {
				t.Errorf("got %d rows, %v", len(rows), err)
			}
			for _, row := range rows {
				if row.Running || !row.Interrupted {
					t.Errorf("got %+v", row)
				}
			}
		})
	}
	all.Wait()
	b.reopen()
	report, err := b.store.Receipts().Verify(t.Context(), "")
	if err != nil || !report.Sound() || len(b.rows()) != 3 {
		t.Errorf("got %+v, %v, rows %+v", report, err, b.rows())
	}
}

func TestJournals(t *testing.T) {
	whole := func(t *testing.T) (*bench, *Running, []byte) {
		b := newBench(t)
		b.write("a", "1")
		r := b.begin()
		r.Alarm("look")
		b.write("a", "2")
		r.die()
		data, err := os.ReadFile(r.journal.base + journalName)
		b.must(err)
		b.close()
		return b, r, data
	}
	tests := []struct {
		name   string
		change func(data []byte) []byte
		want   string
	}{
		{"whole", func(d []byte) []byte { return d }, "t-0001 interrupted undoable"},
		{"torn tail", func(d []byte) []byte { return d[:len(bytes.TrimSpace(d))-5] }, "t-0001 interrupted undoable"},
		{"torn within", func(d []byte) []byte { return append(append(d, `{"alarm":{"te`...), "\n{\"alarm\":{}}\n"...) }, "t-0001 interrupted undoable"},
		{"later version", func(d []byte) []byte { return append(d, "{\"other\":[1]}\n"...) }, "t-0001 interrupted undoable"},
		{"first line torn", func(d []byte) []byte { return d[:20] }, ""},
		{"empty", func(d []byte) []byte { return nil }, ""},
		{"of another turn", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("t-0001"), []byte("t-0002")) }, ""},
		{"garbage", func(d []byte) []byte { return []byte("\x00\xff\n{}\n") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, r, data := whole(t)
			b.must(os.WriteFile(r.journal.base+journalName, tt.change(data), 0o600))
			b.reopen()
			if got := b.listed(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if _, err := os.Lstat(r.journal.base + journalName); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the journal is still there: %v", err)
			}
		})
	}
}

func TestDamagedTrace(t *testing.T) {
	for _, content := range []string{"", "{", "{}", strings.Repeat("x", 1000), `{"version":1,"turnId":"t-0001","roots":["eA=="],"pairs":[],"changes":[{"root":"","path":"","kind":"added","by":"silent"}]}`,
		`{"version":1,"turnId":"t-0001","roots":["L3A="],"pairs":[],"changes":[],"buffers":[{"path":"L2V0Yy9wYXNzd2Q=","by":"silent"}]}`,
	} {
		b := newBench(t)
		b.turn(func(r *Running) { b.write("a", "1") })
		b.must(os.WriteFile(filepath.Join(b.store.tracesOf(b.dir), "t-0001"), []byte(content), 0o600))
		if row := b.rows()[0]; row.Undoable || row.Why == "" {
			t.Errorf("with %.20q: %+v", content, row)
		}
		if _, err := b.store.Undo(t.Context(), Undo{Folder: b.dir, Turn: "t-0001"}); err == nil {
			t.Errorf("with %.20q it is taken back", content)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte("{\"begun\":{\"kind\":\"turn\",\"turnId\":\"t\",\"roots\":[\"L3A=\"]}}\n{\"alarm\":{\"text\":\"x\"}}\n\n{\"undoing\":{}}\n"))
	f.Add([]byte("{\"begun\":null}\n"))
	f.Add([]byte("{\"access\":{\"kind\":\"write\",\"path\":\"/p/a\"}}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		base := filepath.Join(dir, "t")
		if err := os.WriteFile(base+journalName, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readJournal(base)
		first, ferr := readBegun(base)
		if (err == nil) != (ferr == nil) {
			t.Errorf("the whole: %v, its first line: %v", err, ferr)
		}
		if err == nil && (r.Turn != "t" || first.Turn != "t" || r.project().folder == "" && len(r.Roots[0]) > 0) {
			t.Errorf("got %+v", r)
		}
	})
}
