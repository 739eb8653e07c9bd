package text

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

const megabyte = 1 << 20

// source returns about size bytes that look like a program, no two lines of it
// the same.
func source(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\tif value%d := compute(%d, other); value%d > 0 { // a line\n", i, i*7, i)
	}
	return b.String()
}

// typing returns n changes of one character at places all over a document of
// so many lines.
func typing(n, lines int) [][]Change {
	rnd := rand.New(rand.NewPCG(1, 1))
	out := make([][]Change, n)
	for i := range out {
		at := Position{rnd.IntN(lines), rnd.IntN(40)}
		out[i] = []Change{{&Range{at, at}, "x"}}
	}
	return out
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkDocument100kEdits10MB types 100,000 characters all over 10 MB.
// bytes/doc is the heap that the document holds at the end, its text read once,
// for each byte of it; edits/s must not depend on how many there are.
func BenchmarkDocument100kEdits10MB(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := source(10 * megabyte)
			changes := typing(n, strings.Count(text, "\n"))
			b.ReportAllocs()
			var held float64
			for b.Loop() {
				b.StopTimer()
				before := heapInUse()
				d := NewDocument(strings.Clone(text))
				b.StartTimer()
				for _, c := range changes {
					if err := d.Apply(c, UTF16); err != nil {
						b.Fatal(err)
					}
				}
				size := len(d.String())
				b.StopTimer()
				held = float64(heapInUse()-before) / float64(size)
				runtime.KeepAlive(d)
				b.StartTimer()
			}
			b.ReportMetric(held, "bytes/doc")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/edit")
		})
	}
}

// BenchmarkDocumentOneLine types into 10 MB without a line ending.
func BenchmarkDocumentOneLine(b *testing.B) {
	d := NewDocument(strings.Repeat("é=1;", 2*megabyte))
	rnd := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		at := Position{0, rnd.IntN(8 * megabyte)}
		if err := d.Apply([]Change{{&Range{at, at}, "x"}}, UTF16); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkDiff(b *testing.B, old, new string) {
	b.SetBytes(int64(len(old) + len(new)))
	b.ReportAllocs()
	for b.Loop() {
		Diff(old, new)
	}
}

func BenchmarkDiffOneWord1MB(b *testing.B) {
	old := source(megabyte)
	benchmarkDiff(b, old, strings.Replace(old, "value9000 > 0", "value9000 > 1", 1))
}

func BenchmarkDiffHundredLines1MB(b *testing.B) {
	old := source(megabyte)
	new := old
	for i := range 100 {
		new = strings.Replace(new, fmt.Sprintf("compute(%d,", i*100*7), "other(1,", 1)
	}
	benchmarkDiff(b, old, new)
}

func BenchmarkDiffEveryLine1MB(b *testing.B) {
	old := source(megabyte)
	benchmarkDiff(b, old, strings.ReplaceAll(old, "compute", "calculate"))
}

func BenchmarkDiffHostile1MB(b *testing.B) {
	for name, texts := range hostile() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) { benchmarkDiff(b, texts[0], texts[1]) })
	}
}

func BenchmarkRebase1MB(b *testing.B) {
	base := source(megabyte)
	current := strings.Replace(base, "value500 > 0", "value500 > 5", 1)
	want := strings.Replace(base, "value9000 > 0", "value9000 > 1", 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Rebase(base, current, want); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	s := source(10 * megabyte)
	for _, line := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprint("line", line), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Window(s, line, 100)
			}
		})
	}
}

func BenchmarkOffsetAt(b *testing.B) {
	s := source(megabyte)
	p := Position{strings.Count(s, "\n") - 1, 30}
	for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
		b.Run(enc.String(), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				OffsetAt(s, p, enc)
			}
		})
	}
}

func BenchmarkRanges1MB(b *testing.B) {
	old := source(megabyte)
	edits := Diff(old, strings.ReplaceAll(old, "compute", "calculate"))
	b.SetBytes(int64(len(old)))
	b.ReportAllocs()
	for b.Loop() {
		Ranges(old, edits, UTF16)
	}
}

func BenchmarkHash10MB(b *testing.B) {
	s := source(10 * megabyte)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Hash(s)
	}
}

func BenchmarkUnified1MB(b *testing.B) {
	old := source(megabyte)
	new := strings.Replace(old, "value9000 > 0", "value9000 > 1", 1)
	b.ReportAllocs()
	for b.Loop() {
		Unified("f", old, new)
	}
}
