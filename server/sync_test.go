package server_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/workspace"
)

// change sends a didChange of raw content changes.
func (r *rig) change(uri, changes string) {
	r.Helper()
	p := rpc.RawJSON(`{"textDocument":{"uri":"` + uri + `","version":2},"contentChanges":` + changes + `}`)
	if err := r.ed.Notify("textDocument/didChange", p); err != nil {
		r.Fatal(err)
	}
	r.sync()
}

func TestDidChange(t *testing.T) {
	for _, test := range []struct{ name, before, changes, want string }{
		{"C5 past the line's end", "foo\nbar\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":100}},"text":"baz"}]`, "baz\nbar\n"},
		{"C6 in their order", "ab\n", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"x\n"},{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":1}},"text":"y"}]`, "x\nyb\n"},
		{"the whole text", "a", `[{"text":"b"}]`, "b"},
		{"a length that is deprecated", "abc", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"rangeLength":1,"text":""}]`, "bc"},
		{"none", "a", `[]`, "a"},
		{"UTF-16 columns", "🎉a", `[{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":3}},"text":"b"}]`, "🎉b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t).start()
			uri, path := r.open("a.txt", test.before)
			r.change(uri, test.changes)
			doc, open, err := r.ss.Editor.Text(r.ctx, path)
			if err != nil || !open || doc.Text != test.want || doc.Version != 2 {
				t.Errorf("%q became %q (version %d), %v; want %q", test.before, doc.Text, doc.Version, err, test.want)
			}
		})
	}
}

// A change that cannot be followed makes the document lost: no stale text is
// read, nothing is written, until the editor sends the whole text.
func TestLostDocument(t *testing.T) {
	for _, test := range []struct{ name, changes string }{
		{"no text", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}}]`},
		{"a negative line", `[{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":1}},"text":"x"}]`},
		{"a line past the end", `[{"range":{"start":{"line":90,"character":0},"end":{"line":80,"character":1}},"text":"x"}]`},
		{"no array", `{}`},
		{"a text that is none", `[{"text":7}]`},
		{"a text twice", `[{"text":"a","text":"b"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t).start()
			uri, path := r.open("a.txt", "abc\n")
			a := r.edit(path, "xyz\n")
			r.change(uri, test.changes)
			if doc, _, err := r.ss.Editor.Text(r.ctx, path); !errors.Is(err, workspace.ErrOutOfStep) {
				t.Errorf("reading gives %q, %v; want out of step", doc.Text, err)
			}
			if _, err := r.ss.Editor.Apply(r.ctx, a); err == nil {
				t.Error("writing gives no error")
			}
			r.until("the user is told", func(s *servertest.Seen) bool {
				return slices.ContainsFunc(s.Messages, func(m string) bool { return strings.Contains(m, "lost track") })
			})
			r.change(uri, `[{"text":"whole\n"}]`)
			if doc, _, err := r.ss.Editor.Text(r.ctx, path); err != nil || doc.Text != "whole\n" {
				t.Errorf("after the whole text: %q, %v", doc.Text, err)
			}
		})
	}
}

// A change of a document that we never got must not let the disk be read in
// its place.
func TestA7_ChangeOfAnUnknownDocument(t *testing.T) {
	r := plain(t).start()
	path := filepath.Join(r.ed.Folder, "big.txt")
	r.change(workspace.URIOf(path), `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"x"}]`)
	if _, open, err := r.ss.Editor.Text(r.ctx, path); !open || !errors.Is(err, workspace.ErrOutOfStep) {
		t.Errorf("open %v, error %v; want an open document that is out of step", open, err)
	}
}

// A3: untitled documents and files that do not exist are documents.
func TestA3_UnsavedDocuments(t *testing.T) {
	r := plain(t).start()
	_, path := r.open("new.txt", "draft\n")
	if err := r.ed.Open("untitled:Untitled-1", "note\n"); err != nil {
		t.Fatal(err)
	}
	r.sync()
	if doc, open, err := r.ss.Editor.Text(r.ctx, path); err != nil || !open || doc.Text != "draft\n" {
		t.Errorf("new file: %q %v %v", doc.Text, open, err)
	}
	if doc, open := r.ss.Docs.Get("untitled:Untitled-1"); !open || doc.Text != "note\n" || doc.Path != "" {
		t.Errorf("untitled: %+v %v", doc, open)
	}
	if _, err := r.ss.Editor.Apply(r.ctx, r.edit("untitled:Untitled-1", "NOTE\n")); err != nil {
		t.Error(err)
	}
	if got := r.ed.Text("untitled:Untitled-1"); got != "NOTE\n" {
		t.Errorf("untitled is %q", got)
	}
}

func TestSaveAndClose(t *testing.T) {
	r := plain(t).start()
	uri, path := r.open("a.txt", "abc\n")
	if err := r.ed.Type(uri, 0, 1, "x"); err != nil {
		t.Fatal(err)
	}
	r.sync()
	if doc, _ := r.ss.Docs.Get(path); !doc.Dirty {
		t.Error("typed, and not dirty")
	}
	if err := r.ed.Save(uri); err != nil {
		t.Fatal(err)
	}
	r.sync()
	if doc, _ := r.ss.Docs.Get(path); doc.Dirty {
		t.Error("saved, and still dirty")
	}
	if err := r.ed.Close(uri); err != nil {
		t.Fatal(err)
	}
	r.sync()
	if _, open := r.ss.Docs.Get(path); open {
		t.Error("closed, and still open")
	}
}
