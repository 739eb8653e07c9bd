package receipt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// longLog is a log of so many receipts, made without a sync of each.
func longLog(b *testing.B, n int) *Log {
	b.Helper()
	l := &Log{Dir: b.TempDir()}
	var file bytes.Buffer
	previous := ""
	for i := range n {
		r := sample(fmt.Sprint("t", i))
		r.settle()
		r.Seq, r.Previous = int64(i+1), previous
		line, err := seal(r)
		if err != nil {
			b.Fatal(err)
		}
		previous = r.Hash
		file.Write(line)
	}
	if err := os.MkdirAll(l.Folder(project), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Folder(project), "2026-11.jsonl"), file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return l
}

func BenchmarkLog(b *testing.B) {
	l := longLog(b, 5000)
	b.Run("find the oldest of 5000", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Find(project, "t0"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("newest 20 of 5000", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for range l.Newest(project) {
				if n++; n == 20 {
					break
				}
			}
		}
	})
	b.Run("verify 5000", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Verify(b.Context(), project); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if err := l.Append(b.Context(), sample("t")); err != nil {
				b.Fatal(err)
			}
		}
	})
}
