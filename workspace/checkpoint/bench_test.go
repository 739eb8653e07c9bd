package checkpoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// generate makes a tree of about n files, nine in a folder, four folders in a folder, sizes as those of source code; a tenth has bytes that
// cannot be compressed. The same seed makes the same tree.
func generate(t testing.TB, dir string, n int) (files []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	folders := []string{dir}
	for i := 0; len(files) < n; i++ {
		in := folders[i]
		if err := os.MkdirAll(in, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 4 {
			folders = append(folders, filepath.Join(in, fmt.Sprintf("package%d", j)))
		}
		for j := range 9 {
			name := filepath.Join(in, fmt.Sprintf("source_file_%d.go", j))
			body := bytes.Repeat([]byte(fmt.Sprintf("func f%d(a int) error { return nil } // %d\n", i, j)), 1+int(random.ExpFloat64()*180))
			if random.IntN(10) == 0 {
				for k := range body {
					body[k] = byte(random.Uint32())
				}
			}
			if err := os.WriteFile(name, body, 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	return files
}

// bareWalk lists a tree and looks at each name, with as many workers and the same calls as a Take: the least that it can do.
func bareWalk(t testing.TB, root string) (n int) {
	t.Helper()
	w := &walk{}
	w.queue.ready.L = &w.queue.mu
	h, err := openRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	scan := func(h *folder, buf names) {
		defer h.release()
		seen := 0
		var tasks []task
		list, err := h.list(buf)
		if err != nil {
			t.Error(err)
		}
		err = list.each(func(name []byte) {
			st, err := h.lstat(string(name))
			if err != nil {
				t.Error(err)
			}
			seen++
			if st.kind == Folder {
				tasks = append(tasks, task{h, st, &node{name: string(name)}})
			}
		})
		if err != nil {
			t.Error(err)
		}
		h.keep(len(tasks))
		w.queue.push(tasks)
		mu.Lock()
		n += seen
		mu.Unlock()
	}
	scan(h, make(names, 0, 64<<10))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf := make(names, 0, 64<<10)
			for {
				t, ok := w.queue.pop()
				if !ok {
					return
				}
				if h, err := t.in.openFolder(t.node.name, t.stat); err == nil {
					scan(h, buf)
				}
				t.in.release()
				w.queue.done()
			}
		})
	}
	wg.Wait()
	return n
}

var sizes = []int{2_000, 20_000}

// BenchmarkWarm takes a checkpoint of a tree in which nothing, or 20 files, changed, in turns with the bare walk; ratio is the one by
// the other.
func BenchmarkWarm(b *testing.B) {
	for _, n := range sizes {
		for _, changed := range []int{0, 20} {
			b.Run(fmt.Sprintf("files=%d/changed=%d", n, changed), func(b *testing.B) {
				p := newProject(b)
				files := generate(b, p.dir, n)
				p.now.Limit = -1
				p.settle()
				var walk, take time.Duration
				round := 0
				for b.Loop() {
					for i := range changed {
						name := files[(round*changed+i)*37%len(files)]
						p.must(os.WriteFile(name, fmt.Appendf(nil, "changed %d %d\n", round, i), 0o644))
					}
					round++
					start := time.Now()
					bareWalk(b, p.dir)
					walk += time.Since(start)
					start = time.Now()
					p.take()
					take += time.Since(start)
				}
				b.ReportMetric(float64(walk.Microseconds())/1e3/float64(b.N), "walk-ms")
				b.ReportMetric(float64(take.Microseconds())/1e3/float64(b.N), "take-ms")
				b.ReportMetric(float64(take)/float64(walk), "ratio")
			})
		}
	}
}

// BenchmarkCold takes the first checkpoint of a tree, in turns with a private git index of its own.
func BenchmarkCold(b *testing.B) {
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip("no git to compare with")
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			p := newProject(b)
			generate(b, p.dir, n)
			p.now.Limit = -1
			var take, other time.Duration
			for b.Loop() {
				base := b.TempDir()
				start := time.Now()
				s, err := Open(b.Context(), Config{Dir: filepath.Join(base, "store")})
				p.must(err)
				_, err = s.Take(b.Context(), []string{p.dir}, p.now)
				p.must(err)
				take += time.Since(start)
				p.must(s.Close())
				other += gitTree(b, git, filepath.Join(base, "git"), p.dir, true)
			}
			b.ReportMetric(float64(take.Milliseconds())/float64(b.N), "take-ms")
			b.ReportMetric(float64(other.Milliseconds())/float64(b.N), "git-ms")
			b.ReportMetric(float64(other)/float64(take), "ahead")
		})
	}
}

// gitTree is how long git add -A and git write-tree take.
func gitTree(t testing.TB, git, dir, tree string, fresh bool) time.Duration {
	t.Helper()
	run := func(args ...string) {
		cmd := exec.Command(git, append([]string{"--git-dir=" + dir, "--work-tree=" + tree}, args...)...)
		cmd.Dir = tree
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if fresh {
		run("init", "-q")
	}
	start := time.Now()
	run("add", "-A")
	run("write-tree")
	return time.Since(start)
}

// BenchmarkUndo takes back a turn, and does it again, in turns with the bare walk and a copy of the files that changed.
func BenchmarkUndo(b *testing.B) {
	for _, changed := range []int{20, 1000} {
		b.Run(fmt.Sprintf("files=20000/changed=%d", changed), func(b *testing.B) {
			p := newProject(b)
			files := generate(b, p.dir, 20_000)
			p.now.Limit = -1
			before := p.take()
			for i := range changed {
				p.must(os.WriteFile(files[i*19%len(files)], fmt.Appendf(nil, "changed %d\n", i), 0o644))
			}
			after := p.take()
			var walk, copied, undo time.Duration
			for b.Loop() {
				start := time.Now()
				bareWalk(b, p.dir)
				walk += time.Since(start)
				copied += copyFiles(b, files, changed)
				start = time.Now()
				p.restore(before, after)
				undo += time.Since(start)
				before, after = after, before
			}
			b.ReportMetric(float64(walk.Microseconds())/1e3/float64(b.N), "walk-ms")
			b.ReportMetric(float64(undo.Microseconds())/1e3/float64(b.N), "undo-ms")
			b.ReportMetric(float64(copied.Microseconds())/1e3/float64(b.N), "copy-ms")
			b.ReportMetric(float64(undo)/float64(walk), "walks")
			b.ReportMetric(float64(undo)/float64(copied), "copies")
		})
	}
}

// copyFiles is how long it takes to copy the files that a turn changed and to put the copies on the disk.
func copyFiles(t testing.TB, files []string, changed int) time.Duration {
	t.Helper()
	dir := t.TempDir()
	start := time.Now()
	for i := range changed {
		data, err := os.ReadFile(files[i*19%len(files)])
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(dir)
	if err == nil {
		err = syncAll(f)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}
