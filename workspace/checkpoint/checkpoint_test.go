package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// project is a folder with a store beside it.
type project struct {
	testing.TB
	dir   string
	store *Store
	now   Options
}

func newProject(t testing.TB) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{TB: t, dir: filepath.Join(base, "p"), store: open(t, filepath.Join(base, "state"))}
	p.mkdir(".")
	return p
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (p *project) at(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *project) mkdir(name string) { p.Helper(); p.must(os.MkdirAll(p.at(name), 0o755)) }

func (p *project) write(name, text string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	p.must(os.WriteFile(p.at(name), []byte(text), 0o644))
}

func (p *project) remove(name string)          { p.Helper(); p.must(os.RemoveAll(p.at(name))) }
func (p *project) link(target, name string)    { p.Helper(); p.must(os.Symlink(target, p.at(name))) }
func (p *project) chmod(name string, m uint32) { p.Helper(); p.must(os.Chmod(p.at(name), fileMode(m))) }

func (p *project) take() *Checkpoint {
	p.Helper()
	c, err := p.store.Take(context.Background(), []string{p.dir}, p.now)
	p.must(err)
	return c
}

// restore takes a turn back and wants no conflict.
func (p *project) restore(before, after *Checkpoint) *Result {
	p.Helper()
	r := p.restoreSome(before, after, RestoreOptions{})
	if len(r.Conflicts) > 0 {
		p.Fatalf("conflicts: %+v", r.Conflicts)
	}
	return r
}

func (p *project) restoreSome(before, after *Checkpoint, o RestoreOptions) *Result {
	p.Helper()
	plan, err := p.store.Plan(context.Background(), before, after, o)
	p.must(err)
	r, err := p.store.Restore(context.Background(), plan)
	p.must(err)
	return r
}

// files describes everything in a folder, by slashed path: kind, mode and content.
func (p *project) files() map[string]string { p.Helper(); return describe(p, p.dir) }

func describe(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || rel == "." {
			return err
		}
		info, err := d.Info()
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
			text += " " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if len(data) > 100 {
				text += fmt.Sprintf(" %d bytes, %s", len(data), sum(data))
			} else {
				text += " " + string(data)
			}
		}
		out[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (p *project) want(want map[string]string) {
	p.Helper()
	if d := cmp.Diff(want, p.files()); d != "" {
		p.Errorf("files (-want +got):\n%s", d)
	}
}

func (p *project) changes(before, after *Checkpoint) []string {
	p.Helper()
	list, err := p.store.Compare(context.Background(), before, after)
	p.must(err)
	var out []string
	for _, c := range list {
		out = append(out, string(c.Kind)+" "+c.Path)
	}
	return out
}

func reasonsOf(list []Skipped) string {
	m := map[string]string{}
	for _, s := range list {
		m[s.Path] = s.Reason.String()
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+": "+m[k])
	}
	return strings.Join(out, ", ")
}

func TestCompareAndRestore(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\n")
	p.write("d/b.bin", "\x00\xff\r\n")
	p.write("d/run.sh", "#!/bin/sh\n")
	p.write("gone/deep/f", "f")
	p.mkdir("empty")
	p.link("a.txt", "l")
	p.link("nowhere", "dangling")
	p.mkdir("private")
	p.chmod("private", 0o700)
	was := p.files()
	before := p.take()
	p.write("a.txt", "two\n")
	p.chmod("d/run.sh", 0o755)
	p.remove("gone")
	p.remove("empty")
	p.remove("l")
	p.link("d", "l")
	p.remove("dangling")
	p.write("dangling", "a file now")
	p.chmod("private", 0o755)
	p.write("new/x/y", "y")
	is := p.files()
	after := p.take()
	want := []string{"modified a.txt", "mode d/run.sh", "type dangling", "deleted empty", "deleted gone", "deleted gone/deep", "deleted gone/deep/f", "modified l", "added new", "added new/x", "added new/x/y", "mode private"}
	if d := cmp.Diff(want, p.changes(before, after)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	plan, err := p.store.Plan(t.Context(), before, after, RestoreOptions{})
	p.must(err)
	if len(plan.Steps) != len(want) || len(plan.Conflicts) > 0 {
		t.Errorf("plan has %d steps and conflicts %v, want %d and none", len(plan.Steps), plan.Conflicts, len(want))
	}
	p.want(is) // a plan changes nothing
	for range 2 {
		if r := p.restore(before, after); len(r.Done) != len(want) {
			t.Errorf("undo did %d, want %d", len(r.Done), len(want))
		}
		p.want(was)
		p.restore(after, before)
		p.want(is)
	}
}

func TestWarmTakeReadsWhatChanged(t *testing.T) {
	p := newProject(t)
	for i := range 50 {
		p.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint("text ", i))
	}
	p.settle()
	first := p.take()
	second := p.take()
	if second.ID != first.ID || second.Stats.Read != 0 || second.Stats.Stored != 0 || second.Stats.Files != 50 {
		t.Errorf("nothing changed: got %+v", second)
	}
	info, err := os.Stat(p.at("d1/f1"))
	p.must(err)
	p.write("d1/f1", "TEXT 1") // as long as before
	p.must(os.Chtimes(p.at("d1/f1"), info.ModTime(), info.ModTime()))
	third := p.take()
	if third.Stats.Read != 1 || third.ID == first.ID {
		t.Errorf("an edit that restores the mtime: got %+v", third)
	}
	p.must(p.store.Close())
	p.store = open(t, p.store.dir)
	if c := p.take(); c.Stats.Read > 1 { // the last one may have been racy
		t.Errorf("after a restart: got %+v", c.Stats)
	}
}

// settle makes all files old enough for the index to trust their times.
func (p *project) settle() {
	p.Helper()
	for {
		c := p.take()
		if c.Stats.Read == 0 {
			return
		}
	}
}

// An empty folder that only holds a place while an agent is fenced off comes and goes unseen; one with something in it does
// not, nor one that is not directly in the root.
func TestPlaceholders(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	p.write("sub/b", "b")
	before := p.take()
	for _, name := range []string{".idea", ".vscode", "sub/.idea"} {
		p.mkdir(name)
	}
	p.write(".vscode/tasks.json", "{}")
	want := []string{"added .vscode", "added .vscode/tasks.json", "added sub/.idea"}
	if got := p.changes(before, p.take()); !slices.Equal(got, want) {
		t.Errorf("changes are %q, want %q", got, want)
	}
}
