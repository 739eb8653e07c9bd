package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sallyport/server/servertest"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// edit is the workspace.Apply that brings a document to want.
func (r *rig) edit(path, want string) workspace.Apply {
	r.Helper()
	doc, ok := r.ss.Docs.Get(path)
	if !ok {
		r.Fatalf("%s is not open", path)
	}
	return workspace.Apply{Document: doc, Edits: text.Diff(doc.Text, want), Label: "agent's edit"}
}

// editors are the two ways an edit goes: by our request and by LSP's.
func editors(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Run("plugin", func(t *testing.T) { f(t, plugin(t)) })
	t.Run("plain", func(t *testing.T) { f(t, plain(t)) })
	t.Run("plain without versions", func(t *testing.T) {
		r := plain(t)
		r.ed.Versioned = false
		f(t, r)
	})
}

func TestApply(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		for _, enc := range []string{"utf-8", "utf-16"} {
			t.Run(enc, func(t *testing.T) {
				r := &rig{T: t, ed: r.ed, ss: r.ss, srv: r.srv, ctx: r.ctx, exit: make(chan int, 1)}
				r.ed = &servertest.Editor{Setup: r.ed.Setup}
				r.ed.Encodings = []string{enc}
				r.start()
				uri, path := r.open("a b#%.txt", "🎉 x = 1\nb\n")
				const want = "🎉 x = 2\nb\nc\n"
				got, err := r.ss.Editor.Apply(r.ctx, r.edit(path, want))
				if err != nil {
					t.Fatal(err)
				}
				if r.ed.Text(uri) != want {
					t.Errorf("the buffer is %q, want %q", r.ed.Text(uri), want)
				}
				if got.Document.Text != want || !got.Landed || got.Document.Version != 2 {
					t.Errorf("Apply gave %+v, want version 2 of %q", got, want)
				}
			})
		}
	})
}

// The user typed while the edit was on its way.
func TestApplyWhileTyping(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		uri, path := r.open("a.txt", "one\ntwo\nthree\n")
		typed := false
		r.ed.SetHabits(func(h *servertest.Habits) {
			h.BeforeEdit = func() {
				if !typed {
					typed = true
					_ = r.ed.Type(uri, 0, 0, "zero\n")
				}
			}
		})
		_, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "one\ntwo\nTHREE\n"))
		if strings.Contains(t.Name(), "without_versions") {
			// The edit went beside the text: it must not be called a success.
			if err == nil {
				t.Errorf("no error, and the buffer is %q", r.ed.Text(uri))
			}
			return
		}
		if !errors.Is(err, workspace.ErrStale) {
			t.Errorf("error %v, want stale", err)
		}
		if got := r.ed.Text(uri); got != "zero\none\ntwo\nthree\n" {
			t.Errorf("the buffer is %q: the edit was applied to a newer text", got)
		}
	})
}

// The user typed right after the edit; both are there.
func TestApplyThenTyping(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		uri, path := r.open("a.txt", "one\ntwo\nthree\n")
		x := r.ss.Docs.Expect(path, func(d workspace.Document) bool {
			if strings.Contains(d.Text, "THREE") && !strings.Contains(d.Text, "zero") {
				go func() { _ = r.ed.Type(uri, 0, 0, "zero\n") }()
			}
			return strings.Contains(d.Text, "zero")
		})
		defer x.Stop()
		got, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "one\ntwo\nTHREE\n"))
		if err != nil || !got.Landed {
			t.Errorf("Apply gave %+v, %v", got, err)
		}
		if _, err := x.Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
		if got := r.ed.Text(uri); got != "zero\none\ntwo\nTHREE\n" {
			t.Errorf("the buffer is %q", got)
		}
	})
}

func TestApplyRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		plugin bool
		habit  servertest.Edits
		want   error // nil: any
		text   string
	}{
		{"A11 applied false", false, servertest.Refuses, workspace.ErrNotApplied, "abc\n"},
		{"A11 a false true", false, servertest.Drops, nil, "abc\n"},
		{"an error", false, servertest.Rude, workspace.ErrNotApplied, "abc\n"},
		{"plugin says stale", true, servertest.Refuses, workspace.ErrStale, "abc\n"},
		{"plugin lies", true, servertest.Drops, nil, "abc\n"},
		{"plugin errs", true, servertest.Rude, workspace.ErrNotApplied, "abc\n"},
		{"plugin read-only", true, servertest.ReadOnly, workspace.ErrReadOnly, "abc\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			if test.plugin {
				r.ed.Plugin = servertest.Everything()
			}
			r.start()
			uri, path := r.open("a.txt", "abc\n")
			r.ed.SetHabits(func(h *servertest.Habits) { h.Edits = test.habit })
			_, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "xyz\n"))
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if test.want == nil && errors.Is(err, workspace.ErrStale) {
				t.Errorf("error %v: a lie about a text that did not move must not be tried again", err)
			}
			if got := r.ed.Text(uri); got != test.text {
				t.Errorf("the buffer is %q, want %q", got, test.text)
			}
		})
	}
}

// C3: the user was faster, and the editor drops the edit.
func TestC3_EditForAnOldVersion(t *testing.T) {
	for _, test := range []struct {
		name  string
		habit servertest.Edits
	}{{"applied false", servertest.Refuses}, {"a false applied true", servertest.Drops}} {
		for _, versioned := range []bool{true, false} {
			name := test.name
			if !versioned {
				name += ", no versions"
			}
			t.Run(name, func(t *testing.T) {
				r := plain(t)
				r.ed.Versioned = versioned
				r.start()
				uri, path := r.open("a.txt", "red\ngreen")
				r.ed.SetHabits(func(h *servertest.Habits) {
					h.Edits = test.habit
					h.BeforeEdit = func() { _ = r.ed.Type(uri, 0, 0, "\n") }
				})
				_, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "ZZZ\ngreen"))
				stale := errors.Is(err, workspace.ErrStale)
				switch {
				case err == nil:
					t.Errorf("a success, and the buffer is %q", r.ed.Text(uri))
				case test.habit == servertest.Refuses && !stale:
					t.Errorf("error %v, want stale: it can be rebuilt on the new text", err)
				case test.habit == servertest.Drops && stale != versioned:
					t.Errorf("error %v, stale %v: it may be tried again only where versions are checked", err, stale)
				}
				if got := r.ed.Text(uri); got != "\nred\ngreen" {
					t.Errorf("the buffer is %q", got)
				}
			})
		}
	}
}

// An editor that says no and has done it all the same.
func TestApplyMuttered(t *testing.T) {
	r := plain(t).start()
	_, path := r.open("a.txt", "abc\n")
	r.ed.SetHabits(func(h *servertest.Habits) { h.Edits = servertest.Mutters })
	got, err := r.ss.Editor.Apply(r.ctx, r.edit(path, "xyz\n"))
	if err != nil || got.Document.Text != "xyz\n" {
		t.Errorf("Apply gave %q, %v; the mirror shows the edit", got.Document.Text, err)
	}
}

func TestApplyDeaf(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		_, path := r.open("a.txt", "abc\n")
		r.ed.SetHabits(func(h *servertest.Habits) { h.Edits = servertest.Deaf })
		ctx, cancel := context.WithCancel(r.ctx)
		done := make(chan error, 1)
		go func() {
			_, err := r.ss.Editor.Apply(ctx, r.edit(path, "xyz\n"))
			done <- err
		}()
		cancel()
		if err := <-done; err == nil {
			t.Error("no error from an editor that never answers")
		}
	})
}

func TestApplyClosedOrChanged(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		r.start()
		uri, path := r.open("a.txt", "abc\n")
		a := r.edit(path, "xyz\n")
		if err := r.ed.Type(uri, 0, 0, "x"); err != nil {
			t.Fatal(err)
		}
		r.sync()
		if _, err := r.ss.Editor.Apply(r.ctx, a); !errors.Is(err, workspace.ErrStale) {
			t.Errorf("after a change: %v, want stale", err)
		}
		if err := r.ed.Close(uri); err != nil {
			t.Fatal(err)
		}
		r.sync()
		if _, err := r.ss.Editor.Apply(r.ctx, a); !errors.Is(err, workspace.ErrClosed) {
			t.Errorf("after closing: %v, want closed", err)
		}
	})
}

// A9: a formatter runs on save; what is given back is the formatted text.
func TestA9_FormatterOnSave(t *testing.T) {
	r := plugin(t).start()
	uri, path := r.open("a.py", "\n")
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Format = func(s string) string { return strings.ReplaceAll(s, "a=1", "a = 1") }
	})
	a := r.edit(path, "a=1\n")
	a.Save = true
	got, err := r.ss.Editor.Apply(r.ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if got.Document.Text != "a = 1\n" || !got.Saved {
		t.Errorf("Apply gave %q, saved %v", got.Document.Text, got.Saved)
	}
	if r.ed.Text(uri) != "a = 1\n" {
		t.Errorf("the buffer is %q", r.ed.Text(uri))
	}
	doc, _, _ := r.ss.Editor.Text(r.ctx, path)
	if doc.Text != "a = 1\n" {
		t.Errorf("reading it back gives %q", doc.Text)
	}
}

func TestSaveOnly(t *testing.T) {
	r := plugin(t).start()
	uri, path := r.open("a.txt", "abc\n")
	if err := r.ed.Type(uri, 0, 0, "x"); err != nil {
		t.Fatal(err)
	}
	r.sync()
	a := r.edit(path, "xabc\n")
	a.Save = true
	got, err := r.ss.Editor.Apply(r.ctx, a)
	if err != nil || !got.Saved {
		t.Errorf("saving gave %+v, %v", got, err)
	}

	p := plain(t).start()
	_, path = p.open("a.txt", "abc\n")
	a = p.edit(path, "abc\n")
	a.Save = true
	if _, err := p.ss.Editor.Apply(p.ctx, a); !errors.Is(err, workspace.ErrNotApplied) {
		t.Errorf("saving in a plain editor: %v, want not applied", err)
	}
}

// Edits of one document are made one after the other, of two side by side.
func TestApplyInTurn(t *testing.T) {
	r := plugin(t).start()
	uri, path := r.open("a.txt", "abc\n")
	_, other := r.open("b.txt", "abc\n")
	hold, asked := make(chan struct{}), make(chan struct{}, 2)
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.BeforeEdit = func() { asked <- struct{}{}; <-hold }
	})
	results := make(chan error, 3)
	first := r.edit(path, "xyz\n")
	go func() { _, err := r.ss.Editor.Apply(r.ctx, first); results <- err }()
	<-asked
	second := first // made for the same text
	go func() { _, err := r.ss.Editor.Apply(r.ctx, second); results <- err }()
	third := r.edit(other, "xyz\n")
	go func() { _, err := r.ss.Editor.Apply(r.ctx, third); results <- err }()
	<-asked // the other document's: the second waits for the first
	select {
	case <-asked:
		t.Error("two edits of one document at once")
	case <-time.After(50 * time.Millisecond): // nothing may come
	}
	close(hold)
	var stale int
	for range 3 {
		if err := <-results; errors.Is(err, workspace.ErrStale) {
			stale++
		} else if err != nil {
			t.Error(err)
		}
	}
	if stale != 1 || r.ed.Text(uri) != "xyz\n" {
		t.Errorf("%d stale edits, buffer %q; want one and the first's text", stale, r.ed.Text(uri))
	}
}

func TestApplyNamesTheEditorsURI(t *testing.T) {
	r := plugin(t).start()
	odd := "file:///" + strings.TrimPrefix(r.ed.Folder, "/") + "/%61.txt" // an a, escaped for no reason
	if err := r.ed.Open(odd, "abc\n"); err != nil {
		t.Fatal(err)
	}
	r.sync()
	if _, err := r.ss.Editor.Apply(r.ctx, r.edit(r.ed.Folder+"/a.txt", "xyz\n")); err != nil {
		t.Fatal(err)
	}
	if got := r.ed.Text(odd); got != "xyz\n" {
		t.Errorf("the document %s is %q", odd, got)
	}
}
