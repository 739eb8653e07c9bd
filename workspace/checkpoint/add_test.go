package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (p *project) add(c *Checkpoint, name string) *Checkpoint {
	p.Helper()
	out, err := p.store.Add(p.Context(), c, p.at(name))
	p.must(err)
	return out
}

func (p *project) state(c *Checkpoint, name string) State {
	p.Helper()
	s, err := p.store.StateOf(p.Context(), c, p.dir, name)
	p.must(err)
	return s
}

func TestAdd(t *testing.T) {
	p := newProject(t)
	p.write("f", "f")
	p.write("d/e/g", "g")
	p.write("d/other", "o")
	p.link("f", "d/l")
	p.mkdir("d/sub")
	was := p.files()
	p.now.Limit = time.Nanosecond
	none := p.take()
	p.now.Limit = 0
	c := none
	for _, name := range []string{"f", "d/e/g", "d/new", "d/l", "d/e/x/y"} {
		next := p.add(c, name)
		if next.ID == c.ID {
			t.Errorf("%s was not taken up", name)
		}
		if again := p.add(next, name); again != next {
			t.Errorf("%s was taken up twice", name)
		}
		c = next
	}
	for _, name := range []string{"d", "d/sub", "f/none"} {
		if next := p.add(c, name); next != c {
			t.Errorf("%s was taken up", name)
		}
	}
	if got := reasonsOf(c.Skipped); got != "d: time limit" {
		t.Errorf("left out %s", got)
	}
	c, err := p.store.Load(c.ID)
	p.must(err)
	for name, want := range map[string]string{"f": "file", "d": "left out", "d/other": "left out", "d/e": "left out", "d/e/g": "file", "d/new": "absent", "d/l": "link", "d/e/x/y": "absent", "f/none": "absent", "none": "absent"} {
		if got := p.state(c, name); got.Kind.String() != want {
			t.Errorf("%s is %s, want %s", name, got.Kind, want)
		}
	}

	p.write("f", "F")
	p.write("d/e/g", "G")
	p.write("d/other", "O")
	p.write("d/new", "new")
	p.write("d/e/x/y", "y")
	p.remove("d/l")
	after := p.take()
	want := []string{"unknown d", "unknown d/e", "modified d/e/g", "unknown d/e/x", "added d/e/x/y", "deleted d/l", "added d/new", "modified f"}
	if d := cmp.Diff(want, p.changes(c, after)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	p.restoreSome(c, after, RestoreOptions{})
	was["d/other"] = "-rw-r--r-- O"
	was["d/e/x"] = "drwxr-xr-x" // it is not known whether it was there
	p.want(was)
	if _, err := p.store.Add(t.Context(), c, filepath.Dir(p.dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("outside: got %v", err)
	}
	if got, err := p.store.LeftOut(t.Context(), c); err != nil || reasonsOf(got) != "d: time limit, d/e: time limit, d/e/x: time limit" {
		t.Errorf("left out %v, %v", got, err)
	}
}

func TestTextsAndContent(t *testing.T) {
	p := newProject(t)
	p.write("f", "saved")
	first := p.take()
	p.now.Texts = map[string][]byte{p.at("f"): []byte("unsaved"), p.at("new"): {}}
	second := p.take()
	if second.ID == first.ID {
		t.Error("texts make another checkpoint")
	}
	if third := p.take(); third.ID != second.ID {
		t.Error("the same texts are the same checkpoint")
	}
	if _, err := p.store.Prune(t.Context(), PruneOptions{MaxBytes: 1, Needed: []string{second.ID}}); err != nil {
		t.Fatal(err)
	}
	got, err := p.store.Load(second.ID)
	p.must(err)
	if d := cmp.Diff(second.Texts, got.Texts); d != "" || len(got.Texts) != 2 {
		t.Errorf("texts (-taken +loaded):\n%s", d)
	}
	for name, want := range map[string]string{"f": "unsaved", "new": ""} {
		if text := p.content(got.Texts[p.at(name)]); text != want {
			t.Errorf("text of %s: got %q", name, text)
		}
	}
	if text := p.content(p.state(got, "f").Hash); text != "saved" {
		t.Errorf("content: got %q", text)
	}
	if _, err := p.store.Content(t.Context(), Hash{1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a content that is not there: got %v", err)
	}
}

func (p *project) content(h Hash) string {
	p.Helper()
	r, err := p.store.Content(p.Context(), h)
	p.must(err)
	data, err := io.ReadAll(r)
	p.must(errors.Join(err, r.Close(), r.Close()))
	return string(data)
}

// A prune waits for whoever reads a content, also a large one that is read piece by piece.
func TestContentDuringPrune(t *testing.T) {
	p := newProject(t)
	body := make([]byte, 3<<20)
	for i := range body {
		body[i] = byte(i >> 10)
	}
	p.write("large", string(body))
	c := p.take()
	r, err := p.store.Content(t.Context(), p.state(c, "large").Hash)
	p.must(err)
	pruned := make(chan error, 1)
	go func() {
		_, err := open(t, p.store.dir).Prune(t.Context(), PruneOptions{MaxAge: time.Nanosecond})
		pruned <- err
	}()
	data, err := io.ReadAll(r)
	p.must(errors.Join(err, r.Close(), <-pruned))
	if !slices.Equal(data, body) {
		t.Error("got another content")
	}
}
