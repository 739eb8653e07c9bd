package turns

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// bench is a project and the state beside it.
type bench struct {
	testing.TB
	base  string // holds p and state
	dir   string // of the project
	store *Store
	count int
	clock atomic.Int64 // ns that the store's clock is ahead
	keep  checkpoint.PruneOptions
}

func newBench(t testing.TB) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{TB: t, base: base, dir: filepath.Join(base, "p")}
	b.must(os.MkdirAll(b.dir, 0o755))
	b.reopen()
	return b
}

// reopen opens the store anew.
func (b *bench) reopen() {
	b.Helper()
	b.close()
	b.store = openWith(b, Config{
		State: filepath.Join(b.base, "state"), Retention: b.keep,
		Now: func() time.Time { return time.Now().Add(time.Duration(b.clock.Load())) },
	})
	b.Cleanup(b.close)
}

func (b *bench) close() {
	if b.store != nil {
		b.must(b.store.Close())
		b.store = nil
	}
}

func openStore(t testing.TB, state string, step func(string)) *Store {
	t.Helper()
	return openWith(t, Config{State: state, Step: step})
}

func openWith(t testing.TB, c Config) *Store {
	t.Helper()
	c.Log = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) at(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) write(name, content string) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.at(name)), 0o755))
	b.must(os.WriteFile(b.at(name), []byte(content), 0o644))
}

func (b *bench) remove(name string) {
	b.Helper()
	b.must(os.RemoveAll(b.at(name)))
}

func (b *bench) move(from, to string) {
	b.Helper()
	b.must(os.Rename(b.at(from), b.at(to)))
}

// tree describes everything in the project, .git left out unless all.
func (b *bench) tree() map[string]string {
	b.Helper()
	return describe(b, b.dir)
}

func describe(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			text = "-> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		out[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// begin begins a turn.
func (b *bench) begin(docs ...Buffer) *Running {
	b.Helper()
	b.count++
	r, err := b.store.Begin(b.Context(), Start{Turn: fmt.Sprintf("t-%04d", b.count), Session: "s-1", Folder: b.dir, Documents: docs})
	b.must(err)
	if why := r.Uncovered(); why != "" {
		b.Fatalf("not covered: %s", why)
	}
	return r
}

// end compares and ends a turn, and gives what changed, as "path kind by".
func (b *bench) end(r *Running, d Declared, docs ...Buffer) string {
	b.Helper()
	changes, err := r.Compare(b.Context(), d, docs)
	b.must(err)
	_, err = r.End(b.Context(), receipt.End{StopReason: "end_turn"}, nil, nil)
	b.must(err)
	return shown(changes)
}

func shown(changes []receipt.Change) string {
	var out []string
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s", c.Path, c.Kind, c.By)
		if c.Buffer {
			line += " buffer"
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

// turn runs a whole turn and returns its id.
func (b *bench) turn(do func(r *Running)) string {
	b.Helper()
	r := b.begin()
	do(r)
	b.end(r, Declared{})
	return r.begun.Turn
}

// mediated writes as through us.
func (b *bench) mediated(r *Running, name, content string) {
	b.Helper()
	before := ""
	if data, err := os.ReadFile(b.at(name)); err == nil {
		before = text.Hash(string(data))
	}
	b.write(name, content)
	r.Access(receipt.Access{Kind: "write", Path: b.at(name), Source: "disk", Before: before, After: text.Hash(content), Created: before == ""})
}

func TestAttribution(t *testing.T) {
	tests := []struct {
		name     string
		before   map[string]string
		do       func(b *bench, r *Running)
		declared []string
		want     string
	}{
		{"silent", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.write("a", "2")
			b.write("d/n", "n")
		}, nil, "a modified silent, d added silent, d/n added silent"},
		{"declared", map[string]string{"a": "1"}, func(b *bench, r *Running) { b.write("a", "2") }, []string{"a"}, "a modified declared"},
		{"mediated", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.mediated(r, "a", "2")
			b.mediated(r, "d/e/f", "f")
		}, []string{"a"}, "a modified mediated, d added mediated, d/e added mediated, d/e/f added mediated"},
		{"mediated with a byte order mark", map[string]string{"a": "\uFEFF1"}, func(b *bench, r *Running) {
			b.write("a", "\uFEFF2")
			r.Access(receipt.Access{Kind: "write", Path: b.at("a"), Before: text.Hash("1"), After: text.Hash("2")})
		}, nil, "a modified mediated"},
		{"mediated and then past us", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.mediated(r, "a", "2")
			b.write("a", "3")
		}, nil, "a modified silent"},
		{"user", map[string]string{"a": "1", "b": "1"}, func(b *bench, r *Running) {
			b.write("a", "2")
			r.Saved(b.at("a"), text.Hash("2"))
			b.write("n/n", "n")
			r.Saved(b.at("n/n"), text.Hash("n"))
			b.write("b", "2")
		}, nil, "a modified user, b modified silent, n added user, n/n added user"},
		{"user, and something after", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.write("a", "3")
			r.Saved(b.at("a"), text.Hash("2"))
		}, nil, "a modified unsure"},
		{"both", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.mediated(r, "a", "2")
			b.write("a", "3")
			r.Saved(b.at("a"), text.Hash("3"))
		}, nil, "a modified unsure"},
		{"a save of what was found", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.write("a", "2")
			r.Found(b.at("a"), text.Hash("2"))
			r.Saved(b.at("a"), text.Hash("2"))
		}, nil, "a modified silent"},
		{"a save on top of what was found", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.write("a", "2")
			r.Found(b.at("a"), text.Hash("2"))
			b.write("a", "2 and mine")
			r.Saved(b.at("a"), text.Hash("2 and mine"))
		}, nil, "a modified unsure"},
		{"a save of a file that was as before", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			r.Found(b.at("a"), text.Hash("1"))
			b.write("a", "mine")
			r.Saved(b.at("a"), text.Hash("mine"))
		}, nil, "a modified user"},
		{"our own save", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.mediated(r, "a", "2")
			r.Saved(b.at("a"), text.Hash("2"))
		}, nil, "a modified mediated"},
		{"mode", map[string]string{"a": "1"}, func(b *bench, r *Running) { b.must(os.Chmod(b.at("a"), 0o755)) }, []string{"a"}, "a mode silent"},
		{"type", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.remove("a")
			b.must(os.Symlink("x", b.at("a")))
		}, []string{"a"}, "a type declared"},
		{"deleted", map[string]string{"d/a": "1"}, func(b *bench, r *Running) { b.remove("d") }, []string{"d/a"}, "d deleted declared, d/a deleted declared"},
		{"nothing", map[string]string{"a": "1"}, func(b *bench, r *Running) {
			b.mediated(r, "a", "2")
			b.mediated(r, "a", "1")
		}, []string{"a"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			for name, content := range tt.before {
				b.write(name, content)
			}
			r := b.begin()
			tt.do(b, r)
			if got := b.end(r, Declared{Paths: tt.declared}); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
