package fence

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkJudge measures the fences alone, eight folders deep, with closed folders as a session has them; the bare open
// stands beside it.
func BenchmarkJudge(b *testing.B) {
	root := tree(b, map[string]string{"p/a/b/c/d/f": "", "q/": "", "r/": "", "state/": "", "config/": ""})
	p := policy(b, root+"/p", Rules{
		Private: []string{root + "/q", root + "/r"},
		Own:     Own{State: []string{root + "/state"}, Config: []string{root + "/config"}},
	})
	path := root + "/p/a/b/c/d/f"
	b.Run("os.Open", func(b *testing.B) {
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("OpenRead", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := p.OpenRead(path)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("CheckRead", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.CheckRead(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("CheckWrite", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.CheckWrite(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Writable", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, err := p.Writable(path)
			if err != nil {
				b.Fatal(err)
			}
			w.Dir.Close()
		}
	})
}

// BenchmarkLayout is the survey of a project of 40,000 files.
func BenchmarkLayout(b *testing.B) {
	root := b.TempDir()
	for i := range 400 {
		dir := filepath.Join(root, "d"+strconv.Itoa(i%20), "e"+strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, "f"+strconv.Itoa(j)+".go"), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	p, err := New(root, Rules{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Layout(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
