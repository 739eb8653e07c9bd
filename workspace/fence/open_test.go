package fence

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestOpenReadFollowsLinks(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/f": "text", "p/l": "-> $/p/f", "other/g": "OTHER", "p/o": "-> ../other"})
	p := policy(t, root+"/p", Rules{})
	for path, want := range map[string]string{"/p/f": "text", "/p/l": "text", "/p/o/g": "OTHER", "/other/g": "OTHER"} {
		f, err := p.OpenRead(root + path)
		if err != nil {
			t.Errorf("R01: read of %s: %v", path, err)
			continue
		}
		got, err := io.ReadAll(f)
		f.Close()
		if string(got) != want || err != nil {
			t.Errorf("read of %s: %q, %v", path, got, err)
		}
	}
}

func TestRefusalHidesExistence(t *testing.T) {
	root := tree(t, map[string]string{"p/": "", "q/s": ""})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	_, there := p.OpenRead(root + "/q/s")
	_, missing := p.OpenRead(root + "/q/t")
	if verdictOf(there) != Private || verdictOf(missing) != Private {
		t.Errorf("there: %v; missing: %v", there, missing)
	}
	if _, err := p.OpenRead(root + "/p/t"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing in the project: %v", err)
	}
}

// flipLink swaps a folder and a link over and over until it is stopped.
func flipLink(t *testing.T, folder, target string) (stop func()) {
	t.Helper()
	link := folder + ".link"
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	return flip(t, folder, link)
}

// flip swaps two names over and over until it is stopped.
func flip(t *testing.T, a, b string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := exchange(a, b); err != nil {
				t.Errorf("swapping: %v", err)
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

const flips = 10_000

func TestF5_W28_ReadsInARace(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/src/d/f": "IN", "out/f": "OUT"})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/out"}})
	defer flipLink(t, root+"/p/src/d", root+"/out")()
	var inside, refused, moved int
	for i := 0; i < flips || (inside == 0 || refused == 0) && i < 50*flips; i++ {
		f, err := p.OpenRead(root + "/p/src/d/f")
		switch {
		case verdictOf(err) == Private:
			refused++
			continue
		case errors.Is(err, errMoved):
			moved++
			continue
		case err != nil:
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(got) != "IN" {
			t.Fatalf("read %q, %v", got, err)
		}
		inside++
	}
	t.Logf("%d read, %d refused, %d gave up", inside, refused, moved)
	if inside == 0 || refused == 0 {
		t.Error("the race was not run: only one side was seen")
	}
}

func TestF5_W28_WritesInARace(t *testing.T) {
	needLinks(t)
	for name, c := range map[string]struct{ flipped, link, target string }{
		"outside":             {"/p/d", "$/out", "/out"},
		"outside, relative":   {"/p/d", "../out", "/out"},
		"reserved":            {"/p/d", "$/p/.git", "/p/.git"},
		"reserved, a sibling": {"/p/d", ".git", "/p/.git"}, // which a root handle of the parent follows
		"private":             {"/p/d", "$/q", "/q"},
		"the session's own":   {"/p", "out", "/out"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"p/d/": "", "out/d/": "", "p/.git/": "", "q/": ""})
			p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
			stop := flipLink(t, root+c.flipped, strings.ReplaceAll(c.link, "$", root))
			defer func() {
				stop()
				for _, dir := range []string{"/out/d", "/p/.git", "/q"} {
					if left, err := os.ReadDir(root + dir); len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s holds %v, %v", dir, left, err)
					}
				}
			}()
			tries := flips / 5
			if name == "outside" {
				tries = flips
			}
			var wrote, refused, moved int
			for i := 0; i < tries || (wrote == 0 || refused == 0) && i < 50*tries; i++ { // a busy machine needs more to see both sides
				w, err := p.Writable(root + "/p/d/new/f")
				switch {
				case verdictOf(err) != "" && verdictOf(err) != "error":
					refused++
					continue
				case errors.Is(err, errMoved):
					moved++
					continue
				case err != nil:
					t.Fatal(err)
				}
				err = w.Dir.WriteFile(w.Name, []byte("x"), 0o644)
				w.Dir.Close()
				if err != nil {
					t.Fatal(err)
				}
				wrote++
				if _, err := os.Lstat(filepath.Join(root, c.target, strings.TrimPrefix("/p/d/new", c.flipped))); err == nil {
					t.Fatal("written through the link")
				}
				for _, path := range []string{"/p/d/new", "/p/d.link/new", "/p.link/d/new"} {
					os.RemoveAll(root + path) // so that folders are made in the race too
				}
			}
			t.Logf("%d written, %d refused, %d gave up", wrote, refused, moved)
			if wrote == 0 || refused == 0 {
				t.Error("the race was not run: only one side was seen")
			}
		})
	}
}

// Not a link but the private folder itself is swapped in.
func TestF5_PrivateFolderSwappedIn(t *testing.T) {
	root := tree(t, map[string]string{"p/d/": "", "q/mark": ""})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	stop := flip(t, root+"/p/d", root+"/q")
	for i := 0; i < flips/2 && !t.Failed(); i++ {
		w, err := p.Writable(root + "/p/d/f")
		if err != nil {
			continue
		}
		if _, err := w.Dir.Lstat("mark"); err == nil {
			t.Error("the private folder was opened for writing")
		}
		w.Dir.Close()
	}
	stop()
}

// A file that is replaced over and over by rename, as editors save, is always readable.
func TestOpenReadWhileReplaced(t *testing.T) {
	root := tree(t, map[string]string{"f": "0"})
	p := policy(t, root, Rules{})
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			os.WriteFile(filepath.Join(root, "g"), []byte("1"), 0o644)
			os.Rename(filepath.Join(root, "g"), filepath.Join(root, "f"))
		}
	})
	defer func() { close(done); wg.Wait() }()
	for range 2000 {
		f, err := p.OpenRead(filepath.Join(root, "f"))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	root := tree(t, map[string]string{"p/f": "", "q/s": ""})
	p := policy(t, root+"/p", Rules{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				p.CheckRead(root + "/q/s")
				p.CheckWrite(root + "/p/f")
				p.List()
				if err := p.SetPrivate([]string{root + "/q"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := try(t, p, Read, root+"/q/s"); got != Private {
		t.Errorf("refused by %q", got)
	}
}
