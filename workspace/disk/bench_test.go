package disk

import (
	"os"
	"strings"
	"testing"
)

// The bare call stands beside ours, for the ratio. Ours also judges the path, validates, hashes and, for writes, syncs and
// surveys the old file.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"4KiB", 4 << 10}, {"1MB", 1 << 20}} {
		dir, p := project(b)
		path := put(b, dir+"/f", strings.Repeat("a line of forty bytes, about as usual..\n", c.size/40))
		b.Run(c.name+"/os.ReadFile", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/Read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(p, path, Window{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/Read10Lines", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(p, path, Window{Line: 1, Limit: 10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"4KiB", 4 << 10}, {"1MB", 1 << 20}} {
		dir, p := project(b)
		content := strings.Repeat("a line of forty bytes, about as usual..\n", c.size/40)
		path := put(b, dir+"/f", content)
		b.Run(c.name+"/os.WriteFile", func(b *testing.B) {
			for b.Loop() {
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/os.WriteFile+Sync", func(b *testing.B) { // what any write that survives a power cut pays
			for b.Loop() {
				f, err := os.Create(path)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.WriteString(content); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
		b.Run(c.name+"/Write", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Write(p, path, content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
