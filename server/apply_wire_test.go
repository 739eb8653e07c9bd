package server_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/server/servertest"
)

// The editor's didChange comes after its answer, one by one.
func TestApplyAnnouncedLate(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		uri, path := r.open("a.py", "\n")
		r.ed.SetHabits(func(h *servertest.Habits) {
			h.Edits = servertest.Late
			h.Format = func(s string) string { return strings.ReplaceAll(s, "a=1", "a = 1") }
		})
		a := r.edit(path, "a=1\n")
		a.Save = true
		want := "a=1\n" // LSP saves nothing, so nothing is formatted
		if r.ed.Plugin != nil {
			want = "a = 1\n"
		}
		got, err := r.ss.Editor.Apply(r.ctx, a)
		if err != nil || got.Document.Text != want || r.ed.Text(uri) != want {
			t.Errorf("Apply gave %q, %v, and the buffer is %q; want %q", got.Document.Text, err, r.ed.Text(uri), want)
		}
	})
}

// C6: positions refer to the text before the edits; the list goes last to
// first and does not overlap.
func TestC6_OrderOfEdits(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		uri, path := r.open("a.txt", "a\nb\nc\nd\n")
		if _, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "A1\nA2\nb\nC\nd\n")); err != nil {
			t.Fatal(err)
		}
		if got := r.ed.Text(uri); got != "A1\nA2\nb\nC\nd\n" {
			t.Errorf("the buffer is %q", got)
		}
		r.ed.Look(func(s *servertest.Seen) {
			edits := s.Edits[0]
			if len(edits) != 2 || edits[0].Range.Start.Line <= edits[1].Range.End.Line {
				t.Errorf("edits %+v, want two, last to first", edits)
			}
		})
	})
}

// C1: columns count code units of what was negotiated.
func TestC1_Columns(t *testing.T) {
	for _, test := range []struct {
		offered []string
		want    int
	}{{nil, 7}, {[]string{"utf-16"}, 7}, {[]string{"utf-8"}, 9}, {[]string{"utf-32"}, 6}} {
		t.Run(fmt.Sprint(test.offered), func(t *testing.T) {
			r := plugin(t)
			r.ed.Encodings = test.offered
			r.start()
			uri, path := r.open("a.txt", "🎉 x = 1\n")
			if _, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "🎉 x = 2\n")); err != nil {
				t.Fatal(err)
			}
			r.ed.Look(func(s *servertest.Seen) {
				if e := s.Edits[0]; len(e) != 1 || e[0].Range.Start.Character != test.want {
					t.Errorf("edits %+v, want column %d", e, test.want)
				}
			})
			if got := r.ed.Text(uri); got != "🎉 x = 2\n" {
				t.Errorf("the buffer is %q", got)
			}
		})
	}
}
