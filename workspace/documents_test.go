package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/workspace/text"
)

// tempFile makes a file whose time is past, so that its stamp is trusted at once.
func tempFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	putOld(t, path, content)
	return path
}

func putOld(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func opening(t testing.TB, path, content string) *Documents {
	t.Helper()
	d := NewDocuments()
	if err := d.Open(URIOf(path), "plaintext", 1, content); err != nil {
		t.Fatal(err)
	}
	return d
}

func whole(content string) []text.Change { return []text.Change{{Text: content}} }

func change(t testing.TB, d *Documents, path string, version int32, changes ...text.Change) {
	t.Helper()
	if err := d.Change(URIOf(path), version, changes, text.UTF16); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, d *Documents, path string) Document {
	t.Helper()
	doc, open := d.Get(path)
	if !open {
		t.Fatalf("%s is not open", path)
	}
	return doc
}

// What the disk holds, what the editor opens, what happens then, and what that is.
func TestDirty(t *testing.T) {
	const absent = "\x00"
	tests := []struct {
		name, disk, open string
		then             func(t *testing.T, d *Documents, path string)
		dirty, behind    bool
		loaded           string
	}{
		{"as loaded", "a\n", "a\n", nil, false, false, "a\n"},
		{"typed", "a\n", "a\n", func(t *testing.T, d *Documents, path string) { change(t, d, path, 2, whole("b\n")...) }, true, false, "a\n"},
		{"typed and taken back", "a\n", "a\n", func(t *testing.T, d *Documents, path string) {
			change(t, d, path, 2, whole("b\n")...)
			change(t, d, path, 3, whole("a\n")...)
		}, false, false, "a\n"},
		{"typed and saved", "a\n", "a\n", func(t *testing.T, d *Documents, path string) {
			change(t, d, path, 2, whole("b\n")...)
			put(t, path, "b\n")
			d.Save(URIOf(path), nil)
		}, false, false, "b\n"},
		{"saved as another text", "a\n", "a\n", func(t *testing.T, d *Documents, path string) {
			put(t, path, "b\n")
			content := "b\n"
			d.Save(URIOf(path), &content)
		}, true, false, "b\n"},
		{"unsaved since an earlier day", "a\n", "draft\n", nil, true, false, "a\n"},
		{"A3 not on disk", absent, "draft\n", nil, true, false, ""},
		{"new and empty", absent, "", nil, false, false, ""},
		{"new and empty in an editor that adds the last newline", absent, "\n", nil, false, false, "\n"},
		{"A1 newer on disk", "a\n", "a\n", func(t *testing.T, _ *Documents, path string) { put(t, path, "new\n") }, false, true, "a\n"},
		{"A1 newer on disk, same length", "a\n", "a\n", func(t *testing.T, _ *Documents, path string) { put(t, path, "b\n") }, false, true, "a\n"},
		{"typed, and newer on disk", "a\n", "a\n", func(t *testing.T, d *Documents, path string) {
			change(t, d, path, 2, whole("b\n")...)
			put(t, path, "c\n")
		}, true, false, "a\n"},
		{"newer on disk and loaded again", "a\n", "a\n", func(t *testing.T, d *Documents, path string) {
			put(t, path, "new\n")
			change(t, d, path, 2, whole("new\n")...)
		}, false, false, "new\n"},
		{"deleted", "a\n", "a\n", func(t *testing.T, _ *Documents, path string) { os.Remove(path) }, false, false, "a\n"},
		{"touched", "a\n", "a\n", func(t *testing.T, _ *Documents, path string) { put(t, path, "a\n") }, false, false, "a\n"},
		{"byte order mark dropped", mark + "a\n", "a\n", nil, false, false, "a\n"},
		{"byte order mark kept", mark + "a\n", mark + "a\n", nil, false, false, mark + "a\n"},
		{"endings made the same", "a\r\nb\n", "a\r\nb\r\n", nil, false, false, "a\r\nb\r\n"},
		{"last newline added", "a", "a\n", nil, false, false, "a\n"},
		{"endings changed by the user", "a\n", "a\n", func(t *testing.T, d *Documents, path string) { change(t, d, path, 2, whole("a\r\n")...) }, true, false, "a\n"},
		{"endings changed on disk", "a\n", "a\n", func(t *testing.T, _ *Documents, path string) { put(t, path, "a\r\n") }, false, true, "a\n"},
		{"B7 decoded by the editor", "caf\xe9\n", "café\n", nil, false, false, "café\n"},
		{"B7 decoded and typed", "caf\xe9\n", "café\n", func(t *testing.T, d *Documents, path string) { change(t, d, path, 2, whole("thé\n")...) }, true, false, "café\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tempFile(t, "a.txt", tt.disk)
			if tt.disk == absent {
				os.Remove(path)
			}
			d := opening(t, path, tt.open)
			if tt.then != nil {
				tt.then(t, d, path)
			}
			for range 2 { // the second time, what was found out is remembered
				doc := get(t, d, path)
				if doc.Dirty != tt.dirty || doc.Loaded.Behind != tt.behind || doc.Loaded.Text != tt.loaded {
					t.Errorf("dirty %t, behind %t, loaded %q; want %t, %t, %q", doc.Dirty, doc.Loaded.Behind, doc.Loaded.Text, tt.dirty, tt.behind, tt.loaded)
				}
			}
			if got := len(d.Dirty()) == 1; got != tt.dirty {
				t.Errorf("Dirty has it: %t; want %t", got, tt.dirty)
			}
		})
	}
}

// D1: one document, whatever the spelling, and the editor's own spelling for answers.
func TestD1_SpellingsOfAURI(t *testing.T) {
	d := newDocuments(windows)
	if err := d.Open("file:///c%3A/p/a.txt", "plaintext", 1, "one\n"); err != nil {
		t.Fatal(err)
	}
	if err := d.Change("file:///C:/p/a.txt", 2, whole("two\n"), text.UTF16); err != nil {
		t.Fatal(err)
	}
	doc := get(t, d, `c:\p\a.txt`)
	if doc.Text != "two\n" || doc.URI != "file:///c%3A/p/a.txt" || doc.Path != `C:\p\a.txt` {
		t.Errorf("got %+v", doc)
	}
	if n := len(d.All()); n != 1 {
		t.Errorf("%d documents; want 1", n)
	}
	d.Close("file:///C:/p/a.txt")
	if _, open := d.Get(`C:\p\a.txt`); open {
		t.Error("still open after didClose under another spelling")
	}
}

// D4 where the volume folds case, and the same by a link where it does not.
func TestD4_IdentityOfAFile(t *testing.T) {
	path := tempFile(t, "Main.go", "disk\n")
	d := opening(t, path, "dirty\n")
	other := filepath.Join(filepath.Dir(path), "link.go")
	if err := os.Symlink("Main.go", other); err != nil {
		t.Skip(err)
	}
	if doc := get(t, d, other); doc.Text != "dirty\n" || doc.Path != path {
		t.Errorf("by a link: %+v", doc)
	}
	lower := filepath.Join(filepath.Dir(path), "main.go")
	if _, err := os.Stat(lower); err != nil {
		t.Skip("this volume does not fold case")
	}
	if doc := get(t, d, lower); doc.Text != "dirty\n" || doc.Path != path {
		t.Errorf("in lower case: %+v", doc)
	}
}

// A document that was never saved is found by every name of its folder: the
// editor may have opened the project by a link (A3).
func TestA3_ThroughALinkedFolder(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err)
	}
	d := opening(t, filepath.Join(link, "new.txt"), "draft\n")
	if doc := get(t, d, filepath.Join(folder, "new.txt")); doc.Text != "draft\n" {
		t.Errorf("got %+v", doc)
	}
	if doc, open := d.Get(filepath.Join(folder, "other.txt")); open {
		t.Errorf("another file is %+v", doc)
	}
}

func TestGetUnknown(t *testing.T) {
	path := tempFile(t, "a", "")
	d := opening(t, path, "")
	for _, p := range []string{filepath.Join(filepath.Dir(path), "b"), "a", "", filepath.Dir(path)} {
		if doc, open := d.Get(p); open {
			t.Errorf("Get(%q) = %+v", p, doc)
		}
	}
}

func TestUntitled(t *testing.T) {
	d := NewDocuments()
	if err := d.Open("untitled:Untitled-1", "go", 1, ""); err != nil {
		t.Fatal(err)
	}
	if doc := get(t, d, "untitled:Untitled-1"); !doc.Untitled() || doc.Dirty || doc.LanguageID != "go" {
		t.Errorf("got %+v; want untitled and clean", doc)
	}
	if err := d.Change("untitled:Untitled-1", 2, whole("x"), text.UTF16); err != nil {
		t.Fatal(err)
	}
	if doc := get(t, d, "untitled:Untitled-1"); !doc.Dirty || doc.Text != "x" || doc.Version != 2 {
		t.Errorf("got %+v; want dirty", doc)
	}
}

// C5 and C6, through the mirror.
func TestChanges(t *testing.T) {
	at := func(l1, c1, l2, c2 int) *text.Range {
		return &text.Range{Start: text.Position{Line: l1, Character: c1}, End: text.Position{Line: l2, Character: c2}}
	}
	tests := []struct {
		name, old string
		changes   []text.Change
		want      string
	}{
		{"C5", "foo\nbar\n", []text.Change{{Range: at(0, 0, 0, 100), Text: "baz"}}, "baz\nbar\n"},
		{"C6", "ab\n", []text.Change{{Range: at(0, 0, 0, 0), Text: "x\n"}, {Range: at(1, 0, 1, 1), Text: "y"}}, "x\nyb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tempFile(t, "a", tt.old)
			d := opening(t, path, tt.old)
			change(t, d, path, 2, tt.changes...)
			if doc := get(t, d, path); doc.Text != tt.want || doc.Hash != text.Hash(tt.want) {
				t.Errorf("text %q, hash %s; want %q", doc.Text, doc.Hash, tt.want)
			}
		})
	}
}

func TestChangeErrors(t *testing.T) {
	path := tempFile(t, "a", "abc\n")
	d := opening(t, path, "abc\n")
	backwards := text.Change{Range: &text.Range{Start: text.Position{Character: 2}, End: text.Position{Character: 1}}}
	if err := d.Change(URIOf(path), 2, []text.Change{backwards}, text.UTF16); err == nil {
		t.Fatal("a range that ends before it starts was accepted")
	}
	if _, open, err := d.Text(t.Context(), path); !open || !errors.Is(err, ErrOutOfStep) {
		t.Errorf("Text = open %t, %v; want ErrOutOfStep", open, err)
	}
	change(t, d, path, 3, whole("all\n")...)
	if doc, open, err := d.Text(t.Context(), path); !open || err != nil || doc.Text != "all\n" {
		t.Errorf("after the whole text: %+v, %t, %v", doc, open, err)
	}
	if err := d.Change(URIOf(path)+"x", 2, whole("x"), text.UTF16); !errors.Is(err, ErrClosed) {
		t.Errorf("changing what is not open: %v; want ErrClosed", err)
	}
	if err := d.Open("file:///p/%zz", "", 1, ""); err == nil {
		t.Error("a malformed URI was opened")
	}
}

func TestWait(t *testing.T) {
	path := tempFile(t, "a", "one")
	d := opening(t, path, "one")
	is := func(content string) func(Document) bool {
		return func(doc Document) bool { return doc.Text == content }
	}
	if doc, err := d.Wait(t.Context(), path, is("one")); err != nil || doc.Version != 1 {
		t.Errorf("the present state: %+v, %v", doc, err)
	}
	x := d.Expect(path, is("two"))
	change(t, d, path, 2, whole("two")...)
	change(t, d, path, 3, whole("three")...)
	if doc, err := x.Wait(t.Context()); err != nil || doc.Version != 2 {
		t.Errorf("a state that is gone: %+v, %v; want version 2", doc, err)
	}
	x.Stop()

	x = d.Expect(path, is("never"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	d.Close(URIOf(path))
	if _, err := x.Wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after didClose: %v; want ErrClosed", err)
	}
	x.Stop()
	if _, err := d.Wait(t.Context(), path, is("one")); !errors.Is(err, ErrClosed) {
		t.Errorf("not open: %v; want ErrClosed", err)
	}
}

func TestWaitSurvivesOpeningAnew(t *testing.T) {
	path := tempFile(t, "a", "one")
	d := opening(t, path, "one")
	x := d.Expect(path, func(doc Document) bool { return doc.Version == 7 })
	defer x.Stop()
	if err := d.Open(URIOf(path), "", 7, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWaitBlocksUntilTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDocuments(posix)
		if err := d.Open("untitled:a", "", 1, "one"); err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := d.Wait(t.Context(), "untitled:a", func(doc Document) bool { return doc.Text == "two" })
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("Wait ended too early: %v", err)
		default:
		}
		if err := d.Change("untitled:a", 2, whole("two"), text.UTF16); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// Documents are looked at while they change; run with -race.
func TestDocumentsConcurrently(t *testing.T) {
	path := tempFile(t, "a", "")
	d := opening(t, path, "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int32(200) {
			if err := d.Change(URIOf(path), i+2, whole(strings.Repeat("x", int(i))), text.UTF16); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		doc := get(t, d, path)
		if doc.Hash != text.Hash(doc.Text) || doc.Version > 1 && len(doc.Text) != int(doc.Version-2) {
			t.Fatalf("a torn view: version %d, %d bytes", doc.Version, len(doc.Text))
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// No goroutine for a document.
func TestNoGoroutinePerDocument(t *testing.T) {
	before := runtime.NumGoroutine()
	d := NewDocuments()
	for i := range 1000 {
		if err := d.Open(fmt.Sprintf("untitled:%d", i), "", 1, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines; %d before", after, before)
	}
}

func BenchmarkGet(b *testing.B) {
	path := tempFile(b, "a", strings.Repeat("0123456789abcde\n", 1<<16))
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	d := opening(b, path, string(data))
	b.ReportAllocs()
	for b.Loop() {
		get(b, d, path)
	}
}
