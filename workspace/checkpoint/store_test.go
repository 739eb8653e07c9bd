package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/checkpoint/checkpointtest"
	"sallyport/workspace/checkpoint/pack"
)

// whole reads everything that a checkpoint holds.
func (p *project) whole(id string) {
	p.Helper()
	c, err := p.store.Load(id)
	p.must(err)
	for _, r := range c.Roots {
		p.must(p.store.visit(context.Background(), r.Tree, "", func(path string, it item) {
			if it.Kind == File || it.Kind == Link {
				if _, err := p.store.content(it.Hash); err != nil {
					p.Errorf("checkpoint %s, %s: %v", id, path, err)
				}
			}
		}))
	}
	for path, h := range c.Texts {
		if _, err := p.store.content(h); err != nil {
			p.Errorf("checkpoint %s, text of %s: %v", id, path, err)
		}
	}
}

func (p *project) listed() []string {
	p.Helper()
	ids, err := p.store.List()
	p.must(err)
	return ids
}

func TestSeveralAtOnce(t *testing.T) {
	p := newProject(t)
	for i := range 100 {
		p.write(fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			s, err := Open(context.Background(), Config{Dir: p.store.dir})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 5 {
				c, err := s.Take(context.Background(), []string{p.dir}, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.LeftOut(context.Background(), c); err != nil && !errors.Is(err, fs.ErrNotExist) && i > 0 {
					t.Logf("pruned meanwhile: %v", err)
				}
				if i == 0 {
					if _, err := s.Prune(context.Background(), PruneOptions{MaxBytes: 1}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	c := p.take()
	before := p.files()
	p.remove("d3")
	p.restore(c, p.take())
	p.want(before)
}

func TestDamageIsSeen(t *testing.T) {
	p := newProject(t)
	p.write("a", "the content of a")
	before := p.take()
	p.write("a", "b")
	after := p.take()
	packs, err := filepath.Glob(filepath.Join(p.store.dir, "packs", "*.pack"))
	p.must(err)
	for _, name := range packs {
		data, err := os.ReadFile(name)
		p.must(err)
		data[3] ^= 1
		p.must(os.WriteFile(name, data, 0o600))
	}
	plan, err := p.store.Plan(t.Context(), before, after, RestoreOptions{})
	if err == nil {
		_, err = p.store.Restore(t.Context(), plan)
	}
	if err == nil {
		t.Error("a damaged object was restored")
	}
	p.want(map[string]string{"a": "-rw-r--r-- b"})
}

func TestRoots(t *testing.T) {
	p := newProject(t)
	p.mkdir("in/node_modules/x")
	p.link("in", "l")
	home := p.at("in")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, test := range []struct {
		folders []string
		options Options
		want    []string
		err     error
	}{
		{[]string{home}, Options{}, nil, ErrTooWide},
		{[]string{p.dir}, Options{}, nil, ErrTooWide}, // it holds the home folder
		{[]string{home}, Options{Wide: true}, []string{home}, nil},
		{[]string{string(filepath.Separator)}, Options{}, nil, ErrTooWide},
		{[]string{p.at("none")}, Options{}, nil, fs.ErrNotExist},
		{[]string{p.at("l")}, Options{}, nil, errNoFolder},
		{[]string{p.at("in/node_modules/x"), p.dir, p.dir}, Options{Wide: true}, []string{p.dir}, nil},
		{[]string{p.at("in/node_modules/x"), p.dir}, Options{Wide: true, LeaveOut: []string{"node_*"}}, []string{p.at("in/node_modules/x"), p.dir}, nil},
	} {
		got, err := roots(test.folders, &test.options)
		if !errors.Is(err, test.err) || !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, %v, want %q, %v", test.folders, got, err, test.want, test.err)
		}
	}
}

func TestOwnStateInAProject(t *testing.T) {
	p := newProject(t)
	p.store = open(t, p.at("a/state"))
	p.write("f", "f")
	c := p.take()
	if got := reasonsOf(c.Skipped); got != "a/state: own state" {
		t.Errorf("left out: %s", got)
	}
	if second := p.take(); second.Stats.Files != 1 {
		t.Errorf("got %+v", second.Stats)
	}
}

func TestBudget(t *testing.T) {
	p := newProject(t)
	p.now.MaxBytes = 10
	p.write("large", "more than ten bytes")
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "large: over budget" {
		t.Errorf("left out: %s", got)
	}
}

func TestCancelledTake(t *testing.T) {
	p := newProject(t)
	p.write("f", "f")
	p.take()
	p.write("f", "g")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.store.Take(ctx, []string{p.dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := len(p.listed()); n != 1 {
		t.Errorf("got %d checkpoints", n)
	}
	if c := p.take(); c.Stats.Read == 0 {
		t.Errorf("got %+v", c.Stats)
	}
}

func TestOnly(t *testing.T) {
	p := newProject(t)
	p.write("d/a", "a")
	p.write("d/b", "b")
	before := p.take()
	p.remove("d")
	after := p.take()
	r := p.restoreSome(before, after, RestoreOptions{Only: func(_, path string) bool { return path == "d/a" }})
	if len(r.Done) != 1 || len(r.Conflicts) > 0 {
		t.Errorf("got %+v", r)
	}
	p.want(map[string]string{"d": "drwxr-xr-x", "d/a": "-rw-r--r-- a"})
}

// A turn takes the store little more than what it changed, compressed, also when trees have changed often.
func TestBytesOfATurn(t *testing.T) {
	p := newProject(t)
	files, err := checkpointtest.Generate(p.dir, 2000)
	p.must(err)
	p.take()
	taken := func() (n int64) {
		for _, dir := range []string{"packs", "checkpoints"} {
			entries, err := os.ReadDir(filepath.Join(p.store.dir, dir))
			p.must(err)
			for _, e := range entries {
				info, err := e.Info()
				p.must(err)
				n += info.Size()
			}
		}
		return n
	}
	var sum, allowed int64
	for round := range 30 {
		was := taken()
		changed := int64(0)
		for i := range 20 {
			body := fmt.Sprintf("changed %d %d\n", round, i)
			p.must(os.WriteFile(files[(round*20+i)*97%len(files)], []byte(body), 0o644))
			changed += int64(len(body))
		}
		p.take()
		got, most := taken()-was, changed*11/10+2*4<<10
		if sum, allowed = sum+got, allowed+most; got > most {
			t.Errorf("turn %d: 20 changed files of 2,000 took %d bytes, want at most %d", round, got, most)
		}
	}
	t.Logf("30 turns took %d bytes of %d", sum, allowed)
}

// The same in one large folder, whose tree does not fit into one piece.
func TestBytesOfATurnInALargeFolder(t *testing.T) {
	p := newProject(t)
	s := p.store
	var items []item
	for i := range 40_000 {
		items = append(items, item{fmt.Sprintf("file%05d.go", i), State{Kind: File, Mode: 0o644, Hash: pack.Sum([]byte(fmt.Sprint(i)))}})
	}
	was, _, err := s.putTree(items, Hash{}, true)
	p.must(err)
	for i := range 20 {
		items[i*1999].Hash = pack.Sum([]byte(fmt.Sprint("changed ", i)))
	}
	items = append(items, item{"file00000a.go", State{Kind: File, Mode: 0o644}})
	is, took, err := s.putTree(items, was, true)
	p.must(err)
	if took > 40*4<<10 {
		t.Errorf("20 changes and a new file took %d bytes", took)
	}
	got, err := s.tree(is)
	p.must(err)
	if d := cmp.Diff(items, got, cmp.AllowUnexported(item{})); d != "" {
		t.Error("the tree is another one")
	}
}

func TestHardLinks(t *testing.T) {
	p := newProject(t)
	p.write("a", "before")
	p.must(os.Link(p.at("a"), p.at("b")))
	was := p.files()
	before := p.take()
	p.write("a", "after") // in place: both names
	after := p.take()
	p.restore(before, after)
	p.want(was)
	p.restore(after, before)
	p.want(map[string]string{"a": "-rw-r--r-- after", "b": "-rw-r--r-- after"})
}
