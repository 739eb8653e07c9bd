package turns

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

// opened is a project with one document, open in an editor.
type opened struct {
	*bench
	editor *workspacetest.Editor
	path   string
}

func newOpened(t *testing.T, content string) *opened {
	t.Helper()
	o := &opened{bench: newBench(t), editor: workspacetest.New()}
	o.path = o.at("a.txt")
	o.write("a.txt", content)
	o.must(o.editor.Load(o.path))
	return o
}

func (o *opened) typed(old, new string) { o.Helper(); o.must(o.editor.Type(o.path, old, new)) }

// buffer writes into the document as through us.
func (o *opened) buffer(r *Running, old, new string) {
	o.Helper()
	was := o.editor.Content(o.path)
	o.typed(old, new)
	r.Access(receipt.Access{Kind: "write", Path: o.path, Source: "buffer", Before: text.Hash(was), After: text.Hash(o.editor.Content(o.path))})
}

func (o *opened) want(disk, document string, dirty bool) {
	o.Helper()
	if got, want := o.tree()["a.txt"], "-rw-r--r-- "+disk; got != want {
		o.Errorf("the file: got %q, want %q", got, want)
	}
	d, _ := o.editor.Get(o.path)
	if d.Text != document || d.Dirty != dirty {
		o.Errorf("the document: got %q, dirty %v, want %q, %v", d.Text, d.Dirty, document, dirty)
	}
}

func (o *opened) begin() *Running { o.Helper(); return o.bench.begin(dirty(o.editor)...) }

func (o *opened) end(r *Running) string {
	o.Helper()
	return o.bench.end(r, Declared{}, dirty(o.editor)...)
}

func TestDocuments(t *testing.T) {
	tests := []struct {
		name  string
		turn  func(o *opened, r *Running)
		first func(o *opened) // before the turn
		want  string
		after func(o *opened) // after it
		done  string          // what the undo does: paths, conflicts with their reasons
		check func(o *opened)
	}{
		{
			name:  "unsaved and untouched",
			first: func(o *opened) { o.typed("one", "mine") },
			turn:  func(o *opened, r *Running) { o.write("b", "b") },
			want:  "b added silent", done: "b",
			check: func(o *opened) { o.want("one\ntwo\nthree\n", "mine\ntwo\nthree\n", true) },
		},
		{
			name: "the user types during the turn",
			turn: func(o *opened, r *Running) { o.typed("one", "mine") },
			want: "",
		},
		{
			name:  "a direct write, brought in before the turn's end",
			first: func(o *opened) { o.typed("one", "mine") },
			turn: func(o *opened, r *Running) {
				o.write("a.txt", "one\ntwo\n3\n")
				o.typed("three", "3")
			},
			want: "a.txt modified silent, a.txt modified silent buffer", done: "a.txt buffer, a.txt",
			check: func(o *opened) { o.want("one\ntwo\nthree\n", "mine\ntwo\nthree\n", true) },
		},
		{
			name:  "a direct write, brought in while the user types",
			first: func(o *opened) { o.typed("one", "mine") },
			turn: func(o *opened, r *Running) {
				o.write("a.txt", "one\ntwo\n3\n")
				o.typed("three", "3")
				o.typed("mine", "mine too")
			},
			want: "a.txt modified silent, a.txt modified unsure buffer",
			done: "a.txt buffer: may be the user's own change (forceable), a.txt: its open document changed since (forceable)",
			check: func(o *opened) {
				o.want("one\ntwo\n3\n", "mine too\ntwo\n3\n", true)
				o.undo(Undo{Turn: "t-0001", Editor: o.editor, Force: true})
				o.want("one\ntwo\nthree\n", "mine\ntwo\nthree\n", true)
				o.undo(Undo{Redo: true, Editor: o.editor})
				o.want("one\ntwo\n3\n", "mine too\ntwo\n3\n", true)
			},
		},
		{
			name: "the user types between two writes",
			turn: func(o *opened, r *Running) {
				o.buffer(r, "two", "2")
				o.typed("one", "mine")
				o.buffer(r, "three", "3")
			},
			want: "a.txt modified unsure buffer", done: "a.txt buffer: may be the user's own change (forceable)",
		},
		{
			name:  "the user types after the turn",
			turn:  func(o *opened, r *Running) { o.buffer(r, "two", "2") },
			want:  "a.txt modified mediated buffer",
			after: func(o *opened) { o.typed("one", "mine") },
			done:  "a.txt buffer: its text changed since (forceable)",
			check: func(o *opened) {
				o.undo(Undo{Turn: "t-0001", Editor: o.editor, Force: true})
				o.want("one\ntwo\nthree\n", "one\ntwo\nthree\n", false)
				o.undo(Undo{Redo: true, Editor: o.editor})
				o.want("one\ntwo\nthree\n", "mine\n2\nthree\n", true)
			},
		},
		{
			name:  "the user saves after the turn",
			turn:  func(o *opened, r *Running) { o.buffer(r, "two", "2") },
			want:  "a.txt modified mediated buffer",
			after: func(o *opened) { o.must(o.editor.SaveFile(o.path)) },
			done:  "a.txt buffer",
			check: func(o *opened) { o.want("one\ntwo\nthree\n", "one\ntwo\nthree\n", false) },
		},
		{
			name:  "closed after the turn",
			turn:  func(o *opened, r *Running) { o.buffer(r, "two", "2") },
			want:  "a.txt modified mediated buffer",
			after: func(o *opened) { o.editor.CloseFile(o.path) },
			done:  "",
		},
		{
			name:  "dirty, and closed after the turn",
			first: func(o *opened) { o.typed("one", "mine") },
			turn:  func(o *opened, r *Running) { o.buffer(r, "two", "2") },
			want:  "a.txt modified mediated buffer",
			after: func(o *opened) { o.editor.CloseFile(o.path) },
			done:  "a.txt buffer: it was unsaved in an editor, and is not open here",
		},
		{
			name:  "dirty, written and saved",
			first: func(o *opened) { o.typed("one", "mine") },
			turn: func(o *opened, r *Running) {
				o.buffer(r, "two", "2")
				o.must(o.editor.SaveFile(o.path))
				r.Saved(o.path, text.Hash("mine\n2\nthree\n"))
			},
			want: "a.txt modified mediated, a.txt modified mediated buffer", done: "a.txt buffer, a.txt",
			check: func(o *opened) {
				o.want("one\ntwo\nthree\n", "mine\ntwo\nthree\n", true)
				o.undo(Undo{Redo: true, Editor: o.editor})
				o.want("mine\n2\nthree\n", "mine\n2\nthree\n", false)
			},
		},
		{
			name:  "the editor does not answer",
			turn:  func(o *opened, r *Running) { o.write("a.txt", "2") },
			want:  "a.txt modified silent",
			after: func(o *opened) { o.editor.Deaf = errors.New("deaf") },
			done:  "a.txt: the editor does not tell its text",
		},
		{
			name:  "the editor takes nothing",
			turn:  func(o *opened, r *Running) { o.buffer(r, "two", "2") },
			want:  "a.txt modified mediated buffer",
			after: func(o *opened) { o.editor.Fault = workspacetest.ReadOnly },
			done:  "a.txt buffer: its document is read-only in the editor",
		},
		{
			name:  "a clean document that is not changed is behind",
			turn:  func(o *opened, r *Running) { o.write("a.txt", "2") },
			want:  "a.txt modified silent",
			after: func(o *opened) { o.must(o.editor.Set(o.path, "2")); o.editor.Fault = workspacetest.ReadOnly },
			done:  "a.txt",
			check: func(o *opened) {
				if d, _ := o.editor.Get(o.path); d.Dirty || !d.Loaded.Behind {
					o.Errorf("got %+v", d)
				}
			},
		},
		{
			name: "line endings of the editor's own",
			first: func(o *opened) {
				o.write("a.txt", "one\r\ntwo\nthree\n")
				o.must(o.editor.Show(o.path, "one\ntwo\nthree\n"))
			},
			turn: func(o *opened, r *Running) {
				o.write("a.txt", "one\r\n2\nthree\n")
				o.must(o.editor.Set(o.path, "one\n2\nthree\n"))
			},
			want: "a.txt modified silent", done: "a.txt",
			check: func(o *opened) { o.want("one\r\ntwo\nthree\n", "one\ntwo\nthree\n", false) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOpened(t, "one\ntwo\nthree\n")
			if tt.first != nil {
				tt.first(o)
			}
			r := o.begin()
			tt.turn(o, r)
			if got := o.end(r); got != tt.want {
				t.Fatalf("got %s, want %s", got, tt.want)
			}
			if tt.want == "" {
				return
			}
			if tt.after != nil {
				tt.after(o)
			}
			dry := o.tryUndo(Undo{Editor: o.editor, DryRun: true})
			if len(dry.Diffs) != len(dry.Done) {
				t.Errorf("a dry run shows %d differences of %d paths", len(dry.Diffs), len(dry.Done))
			}
			if got := did(o.tryUndo(Undo{Editor: o.editor})); got != tt.done {
				t.Errorf("undo: got %s, want %s", got, tt.done)
			}
			if tt.check != nil {
				tt.check(o)
			}
		})
	}
}

// did says what an undo did: documents first.
func did(u *Undone) string {
	var out []string
	for _, buffers := range []bool{true, false} {
		for _, list := range [][]PathState{u.Done, u.Conflicts} {
			for _, p := range list {
				if p.Buffer != buffers {
					continue
				}
				line := p.Path
				if p.Buffer {
					line += " buffer"
				}
				if p.Why != "" {
					line += ": " + p.Why
				}
				if p.Forceable {
					line += " (forceable)"
				}
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, ", ")
}

// A document that was left alone is brought back too, which does not make up for what is left.
func TestRestBesideADocument(t *testing.T) {
	o := newOpened(t, "one\ntwo\nthree\n")
	o.write("b", "1")
	o.typed("one", "mine")
	r := o.begin()
	o.write("a.txt", "one\ntwo\n3\n")
	o.write("b", "2")
	o.end(r)
	o.typed("three", "3") // brought in later
	o.write("b", "3")
	u := o.tryUndo(Undo{Editor: o.editor})
	if got, want := did(u), "a.txt buffer, a.txt, b: changed since (forceable)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	o.want("one\ntwo\nthree\n", "mine\ntwo\nthree\n", true)
	if row, err := o.store.Find(t.Context(), o.dir, r.begun.Turn); err != nil || row.Undone || !row.Undoable {
		t.Errorf("got %+v, %v", row, err)
	}
}

func TestDiffOfDocuments(t *testing.T) {
	o := newOpened(t, "one\n")
	r := o.begin()
	o.buffer(r, "one", "1")
	o.end(r)
	got, err := o.store.Diff(t.Context(), o.dir, "")
	o.must(err)
	if len(got) != 1 || !got[0].Buffer || got[0].Unified != "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+1\n" {
		t.Errorf("got %+v", got)
	}
}

// A turn that is ended without a comparison is compared, and documents are taken to be as they were.
func TestEndWithoutCompare(t *testing.T) {
	o := newOpened(t, "one\n")
	o.typed("one", "mine")
	r := o.begin()
	o.write("b", "b")
	rec, err := r.End(t.Context(), receipt.End{StopReason: "cancelled"}, nil, nil)
	o.must(err)
	if got := shown(rec.Did.Changes.List); got != "b added silent" {
		t.Errorf("got %s", got)
	}
	o.undo(Undo{Editor: o.editor})
	o.want("one\n", "mine\n", true)
}

func TestManyDocuments(t *testing.T) {
	b := newBench(t)
	e := workspacetest.New()
	const n = 50
	for i := range n {
		b.write(fmt.Sprint(i), fmt.Sprintf("%d\n", i))
		b.must(e.Load(b.at(fmt.Sprint(i))))
	}
	before := b.tree()
	b.turn(func(r *Running) {
		for i := range n {
			b.write(fmt.Sprint(i), "changed\n")
			b.must(e.Set(b.at(fmt.Sprint(i)), "changed\n"))
		}
	})
	b.undo(Undo{Editor: e})
	b.want(before)
	for i := range n {
		if d, _ := e.Get(b.at(fmt.Sprint(i))); d.Text != fmt.Sprintf("%d\n", i) || d.Dirty {
			t.Errorf("%d: got %q, dirty %v", i, d.Text, d.Dirty)
		}
	}
}

var _ workspace.Editor = (*workspacetest.Editor)(nil)
