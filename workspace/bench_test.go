package workspace_test

import (
	"strings"
	"testing"

	"sallyport/workspace/fence"

	"github.com/go-json-experiment/json/jsontext"
)

// megabyte of text with what JSON escapes in it.
var megabyte = strings.Repeat("if x < 1 {\treturn \"é\" }\n", 1<<20/27)

// The floor: a copy of the text, escaped as the answer carries it.
func BenchmarkCopyAndEscape1MB(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	var buf []byte
	for b.Loop() {
		text := strings.Clone(megabyte)
		buf, _ = jsontext.AppendQuote(buf[:0], text)
	}
}

func BenchmarkCopy1MB(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		strings.Clone(megabyte)
	}
}

func benchmarkRead(b *testing.B, prepare func(*session)) {
	s := start(b, fence.Rules{})
	s.Record = nil
	s.open("a.go", megabyte)
	prepare(s)
	b.SetBytes(int64(len(megabyte)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(b.Context(), s.path("a.go"), 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadClean1MB(b *testing.B) { benchmarkRead(b, func(*session) {}) }

func BenchmarkReadDirty1MB(b *testing.B) {
	benchmarkRead(b, func(s *session) { s.must(s.editor.Type(s.path("a.go"), "if", "IF")) })
}

// A document that was saved a moment ago is compared with the disk byte for byte.
func BenchmarkReadJustSaved1MB(b *testing.B) {
	benchmarkRead(b, func(s *session) {
		s.must(s.editor.Type(s.path("a.go"), "if", "IF"))
		s.must(s.editor.SaveFile(s.path("a.go")))
	})
}

// A change, then a read: the text and its hash are made anew.
func BenchmarkChangeAndRead1MB(b *testing.B) {
	s := start(b, fence.Rules{})
	s.Record = nil
	s.open("a.go", megabyte)
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		s.must(s.editor.Type(s.path("a.go"), "if", "iF"))
		s.must(s.editor.Type(s.path("a.go"), "iF", "if"))
		s.read("a.go")
	}
}
