package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// patience is how long an event may take on a busy machine.
const patience = 30 * time.Second

// rig watches a folder of its own.
type rig struct {
	*testing.T
	dir string
	w   *Watcher
}

// watching begins to watch and waits until it has begun. Names are below the folder.
func watching(t *testing.T, trees, flat []string, o Options, names ...string) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, dir: dir}
	for _, name := range names {
		r.put(name, "old")
	}
	for _, tree := range trees {
		o.Trees = append(o.Trees, r.path(tree))
	}
	for _, folder := range flat {
		o.Flat = append(o.Flat, r.path(folder))
	}
	r.w = New(o)
	t.Cleanup(r.w.Close)
	if e := r.next(); !e.Overflow {
		t.Fatalf("first came %+v, want an overflow", e)
	}
	return r
}

func (r *rig) set(names ...string) {
	var list []string
	for _, name := range names {
		list = append(list, r.path(name))
	}
	r.w.Set(list)
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// put writes a file, and the folders above it.
func (r *rig) put(name, content string) {
	r.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.must(os.WriteFile(r.path(name), []byte(content), 0o644))
}

// save replaces a file as editors do.
func (r *rig) save(name, content string) {
	r.Helper()
	r.put(name+"~", content)
	r.must(os.Rename(r.path(name+"~"), r.path(name)))
}

func (r *rig) next() Event {
	r.Helper()
	select {
	case e, open := <-r.w.Events():
		if !open {
			r.Fatal("the events have ended")
		}
		return e
	case <-time.After(patience):
		r.Fatal("no event came")
		panic("unreachable")
	}
}

// tells waits until a path is told, by its name or as anything.
func (r *rig) tells(name string) {
	r.Helper()
	for {
		if e := r.next(); e.Overflow || slices.Contains(e.Paths, r.path(name)) {
			return
		}
	}
}

// names waits until a path is told by its name, and that nothing of another was.
func (r *rig) names(name, never string) {
	r.Helper()
	for {
		e := r.next()
		if slices.Contains(e.Paths, r.path(never)) || e.Overflow {
			r.Errorf("told of %+v, which is none of ours", e)
		}
		if slices.Contains(e.Paths, r.path(name)) {
			return
		}
	}
}

// A file that is saved by a rename is told each time: its folder is watched.
func TestN1_RenameOver(t *testing.T) {
	for kind, r := range map[string]*rig{
		"tree": watching(t, []string{"p"}, nil, Options{}, "p/a.txt"),
		"flat": watching(t, nil, []string{"p"}, Options{}, "p/a.txt"),
	} {
		t.Run(kind, func(t *testing.T) {
			r.T = t
			for i := range 3 {
				r.save("p/a.txt", fmt.Sprint(i))
				r.tells("p/a.txt")
			}
		})
	}
}

func TestTreesGrow(t *testing.T) {
	r := watching(t, []string{"p"}, nil, Options{}, "p/a.txt")
	r.put("p/d/e/f/deep.txt", "new") // made before we can look into any of them
	r.tells("p/d/e/f/deep.txt")
	r.put("p/d/e/f/deep.txt", "newer")
	r.tells("p/d/e/f/deep.txt")
	r.must(os.Rename(r.path("p/d"), r.path("p/moved")))
	r.tells("p/moved")
	r.put("p/moved/e/f/deep.txt", "moved")
	r.tells("p/moved/e/f/deep.txt")
	r.must(os.RemoveAll(r.path("p/moved")))
	r.tells("p/moved")
	r.put("p/moved/e/f/deep.txt", "again")
	r.tells("p/moved/e/f/deep.txt")
}

func TestSkipped(t *testing.T) {
	skip := func(folder string) bool { return filepath.Base(folder) == "node_modules" }
	names := []string{"p/.git/HEAD", "p/sub/.git/objects/x", "p/node_modules/m/x", "p/d/x", "q/x"}
	r := watching(t, []string{"p"}, nil, Options{Skip: skip}, names...)
	r.must(os.Symlink(r.path("q"), r.path("p/link")))
	r.tells("p/link")
	for _, name := range append(names[:3:3], "q/x", "p/node_modules/new/x", "p/.git/new/x") {
		r.put(name, "new")
		r.put("p/d/x", name)
		r.names("p/d/x", name)
	}
}

// A flat folder is watched, and nothing below it; one that is no longer wished is not.
func TestFlat(t *testing.T) {
	r := watching(t, nil, []string{"p"}, Options{}, "p/a.txt", "p/d/x", "q/y")
	r.put("p/d/x", "new")
	r.put("p/a.txt", "new")
	r.names("p/a.txt", "p/d/x")
	r.set("q")
	for !r.next().Overflow {
	}
	r.put("p/a.txt", "newer")
	r.put("q/y", "new")
	r.names("q/y", "p/a.txt")
}

// What goes and comes back is watched again: the root itself and what is above it.
func TestN2_RootRemovedAndMadeAgain(t *testing.T) {
	for kind, roots := range map[string][2][]string{"tree": {{"top/p"}, nil}, "flat": {nil, {"top/p"}}} {
		for _, gone := range []string{"top/p", "top"} {
			t.Run(kind+", "+gone, func(t *testing.T) {
				r := watching(t, roots[0], roots[1], Options{}, "top/p/a.txt")
				for range 3 {
					r.must(os.RemoveAll(r.path(gone)))
					r.tells("top/p")
					r.put("top/p/a.txt", "again")
					r.tells("top/p/a.txt")
					for len(r.w.told) > 0 {
						r.next()
					}
					r.save("top/p/a.txt", "and changed")
					r.tells("top/p/a.txt")
				}
			})
		}
	}
}

func TestRootThatComesLater(t *testing.T) {
	r := watching(t, []string{"a/b/c"}, []string{"x/y"}, Options{})
	r.must(os.Mkdir(r.path("a"), 0o755))
	r.put("a/b/c/d/file", "new")
	r.tells("a/b/c/d/file")
	r.put("a/b/c/d/file", "newer")
	r.tells("a/b/c/d/file")
	r.put("x/y/file", "new")
	r.tells("x/y/file")
	r.put("x/y/file", "newer")
	r.tells("x/y/file")
}

// A project has more folders than the system has places: it is said once, and what is near
// the top is watched.
func TestN2_NoPlaceForMore(t *testing.T) {
	for kind, o := range map[string]Options{
		"the system's limit": {open: func() (source, error) { return small(8) }},
		"ours":               {MaxFolders: 8},
	} {
		t.Run(kind, func(t *testing.T) {
			var names []string
			for i := range 1000 {
				names = append(names, fmt.Sprintf("p/d%03d/x", i))
			}
			limits := make(chan error, 100)
			o.Limited = func(err error) { limits <- err }
			r := watching(t, []string{"p"}, nil, o, names...)
			r.put("p/new", "new")
			r.tells("p/new")
			for i := range 5 {
				r.put(fmt.Sprintf("p/more%d/x", i), "new")
				r.tells(fmt.Sprintf("p/more%d", i))
			}
			r.w.Close()
			if err := <-limits; !errors.Is(err, ErrMaxFolders) && !isFull(err) {
				t.Errorf("the limit is %v", err)
			}
			if len(limits) > 0 {
				t.Errorf("it was told %d more times", len(limits))
			}
		})
	}
}

// No watcher can be had at all.
func TestN2_NoWatcher(t *testing.T) {
	limits := make(chan error, 10)
	w := New(Options{
		Trees: []string{t.TempDir()}, Limited: func(err error) { limits <- err },
		open: func() (source, error) { return nil, errors.ErrUnsupported },
	})
	if err := <-limits; !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the limit is %v", err)
	}
	w.Set([]string{t.TempDir()})
	w.Close()
	if _, open := <-w.Events(); open || len(limits) > 0 {
		t.Errorf("an event came: %t; told more: %d", open, len(limits))
	}
}

// Whatever happens, nothing is left after Close.
func TestCloseAtAnyMoment(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 50 {
		dir := t.TempDir()
		w := New(Options{Trees: []string{dir}})
		if i%2 == 0 {
			<-w.Events()
		}
		for n := range i {
			if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		w.Close()
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}
