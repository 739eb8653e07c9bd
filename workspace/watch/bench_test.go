package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// BenchmarkStart watches a tree of 1,000 folders with 10,000 files: until it is
// watched, what it holds of memory, and until it is closed.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		folder := filepath.Join(dir, fmt.Sprint(i%10), fmt.Sprint(i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		for n := range 10 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(n)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			w := New(Options{Trees: []string{dir}})
			<-w.Events()
			b.StopTimer()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("close", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w := New(Options{Trees: []string{dir}})
			<-w.Events()
			b.StartTimer()
			w.Close()
		}
	})
	b.Run("memory", func(b *testing.B) {
		before := held()
		w := New(Options{Trees: []string{dir}})
		<-w.Events()
		b.ReportMetric(float64(held()-before)/1024, "KiB")
		w.Close()
	})
}
