package turns

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"sallyport/workspace/receipt"
)

// generate makes a tree of n files, nine in a folder, as large as source code.
func generate(t testing.TB, dir string, n int) (files []string) {
	t.Helper()
	folders := []string{dir}
	for i := 0; len(files) < n; i++ {
		if err := os.MkdirAll(folders[i], 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 4 {
			folders = append(folders, filepath.Join(folders[i], fmt.Sprintf("package%d", j)))
		}
		for j := range 9 {
			name := filepath.Join(folders[i], fmt.Sprintf("source_file_%d.go", j))
			body := bytes.Repeat(fmt.Appendf(nil, "func f%d(a int) error { return nil } // %d\n", i, j), 1+(i*31+j*7)%300)
			if err := os.WriteFile(name, body, 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	return files
}

// walk lists a tree and looks at each name, on all processors.
func walk(t testing.TB, root string) time.Duration {
	t.Helper()
	start := time.Now()
	slots := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	var folder func(dir string)
	folder = func(dir string) {
		defer all.Done()
		slots <- struct{}{}
		defer func() { <-slots }()
		f, err := os.Open(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		list, err := f.Readdir(-1)
		if err != nil {
			t.Error(err)
		}
		for _, info := range list {
			if info.IsDir() {
				all.Add(1)
				go folder(filepath.Join(dir, info.Name()))
			}
		}
	}
	all.Add(1)
	go folder(root)
	all.Wait()
	return time.Since(start)
}

// BenchmarkTurn begins, compares and ends a turn in which 20 files change, in turns with a bare walk of the tree. There are two
// checkpoints in it, so two walks are the least.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		b.Run(fmt.Sprintf("files=%d/changed=20", n), func(b *testing.B) {
			p := newBench(b)
			files := generate(b, p.dir, n)
			p.turn(func(*Running) {}) // the first checkpoint reads everything
			var bare, begin, compare, end time.Duration
			round := 0
			for b.Loop() {
				bare += walk(b, p.dir)
				round++
				start := time.Now()
				r := p.begin()
				begin += time.Since(start)
				for i := range 20 {
					p.must(os.WriteFile(files[(round*20+i)*37%len(files)], fmt.Appendf(nil, "changed %d %d\n", round, i), 0o644))
				}
				start = time.Now()
				changes, err := r.Compare(b.Context(), Declared{}, nil)
				compare += time.Since(start)
				if err != nil || len(changes) != 20 {
					b.Fatalf("got %d changes, %v", len(changes), err)
				}
				start = time.Now()
				_, err = r.End(b.Context(), receipt.End{}, nil, nil)
				end += time.Since(start)
				p.must(err)
			}
			per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(b.N) }
			b.ReportMetric(per(bare), "walk-ms")
			b.ReportMetric(per(begin), "begin-ms")
			b.ReportMetric(per(compare), "compare-ms")
			b.ReportMetric(per(end), "end-ms")
			b.ReportMetric(float64(begin+compare)/float64(bare), "walks")
		})
	}
}

// BenchmarkUndo takes back a turn and does it again, in turns with a bare walk of the tree.
func BenchmarkUndo(b *testing.B) {
	for _, changed := range []int{20, 1000} {
		b.Run(fmt.Sprintf("files=20000/changed=%d", changed), func(b *testing.B) {
			p := newBench(b)
			files := generate(b, p.dir, 20_000)
			p.turn(func(*Running) {
				for i := range changed {
					p.must(os.WriteFile(files[i*19%len(files)], fmt.Appendf(nil, "changed %d\n", i), 0o644))
				}
			})
			var bare, undo time.Duration
			redo := false
			for b.Loop() {
				bare += walk(b, p.dir)
				start := time.Now()
				got := p.undo(Undo{Redo: redo})
				undo += time.Since(start)
				if len(got.Done) != changed {
					b.Fatalf("done %d", len(got.Done))
				}
				redo = !redo
			}
			b.ReportMetric(float64(bare.Microseconds())/1e3/float64(b.N), "walk-ms")
			b.ReportMetric(float64(undo.Microseconds())/1e3/float64(b.N), "undo-ms")
			b.ReportMetric(float64(undo)/float64(bare), "walks")
		})
	}
}
