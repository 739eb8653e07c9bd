package text

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// slowOffset is OffsetAt, a rune at a time.
func slowOffset(s string, p Position, enc Encoding) int {
	line, units := 0, 0
	for i, r := range s {
		ends := r == '\n' || r == '\r'
		if line == p.Line {
			n := 1
			switch {
			case enc == UTF8:
				n = utf8.RuneLen(r)
			case enc == UTF16 && r > 0xFFFF:
				n = 2
			}
			if ends || units+n > p.Character {
				return i
			}
			units += n
		}
		if ends && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n")) {
			line++
		}
		if line > p.Line {
			return i
		}
	}
	return len(s)
}

// slowDocument is a Document that does everything the obvious way.
type slowDocument struct{ text string }

func (d *slowDocument) apply(c Change, enc Encoding) {
	if c.Range == nil {
		d.text = c.Text
		return
	}
	start, end := slowOffset(d.text, c.Range.Start, enc), slowOffset(d.text, c.Range.End, enc)
	d.text = d.text[:start] + c.Text + d.text[end:]
}

// rng is a short way to write a range.
func rng(line1, char1, line2, char2 int) *Range {
	return &Range{Position{line1, char1}, Position{line2, char2}}
}

func TestDocumentApply(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		enc        Encoding
		changes    []Change
		want       string
	}{
		{"C5 character past the line", "foo\nbar\n", UTF16, []Change{{rng(0, 0, 0, 100), "baz"}}, "baz\nbar\n"},
		{"C6 changes in order", "ab\n", UTF16, []Change{{rng(0, 0, 0, 0), "x\n"}, {rng(1, 0, 1, 1), "y"}}, "x\nyb\n"},
		{"whole text", "ab\n", UTF16, []Change{{nil, "c"}}, "c"},
		{"range after whole text", "ab\n", UTF16, []Change{{rng(0, 0, 0, 1), "x"}, {nil, "cd"}, {rng(0, 1, 0, 1), "x"}}, "cxd"},
		{"line past the end", "a\nb", UTF16, []Change{{rng(7, 3, 9, 0), "c"}}, "a\nbc"},
		{"from a line to past the end", "a\nb\nc\n", UTF16, []Change{{rng(1, 0, 99, 0), ""}}, "a\n"},
		{"C1 utf-16 after a wide rune", "🎉 x = 1\n", UTF16, []Change{{rng(0, 7, 0, 8), "2"}}, "🎉 x = 2\n"},
		{"C1 utf-8 after a wide rune", "🎉 x = 1\n", UTF8, []Change{{rng(0, 9, 0, 10), "2"}}, "🎉 x = 2\n"},
		{"C1 utf-32 after a wide rune", "🎉 x = 1\n", UTF32, []Change{{rng(0, 6, 0, 7), "2"}}, "🎉 x = 2\n"},
		{"middle of a surrogate pair", "🎉b\n", UTF16, []Change{{rng(0, 1, 0, 2), "x"}}, "xb\n"},
		{"middle of UTF-8", "éb\n", UTF8, []Change{{rng(0, 1, 0, 1), "x"}}, "xéb\n"},
		{"CRLF is one line end", "a\r\nb\r\n", UTF16, []Change{{rng(0, 9, 1, 0), ""}}, "ab\r\n"},
		{"lone CR ends a line", "a\rb\rc", UTF16, []Change{{rng(1, 0, 1, 1), "x"}}, "a\rx\rc"},
		{"LF typed after a CR joins it", "a\rb", UTF16, []Change{{rng(1, 0, 1, 0), "\n"}, {rng(1, 0, 1, 1), "x"}}, "a\r\nx"},
		{"empty document", "", UTF16, []Change{{rng(0, 0, 0, 0), "a"}}, "a"},
		{"everything deleted, then typed", "abc\n", UTF16, []Change{{rng(0, 0, 1, 0), ""}, {rng(0, 0, 0, 0), "x"}}, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDocument(tt.text)
			if err := d.Apply(tt.changes, tt.enc); err != nil {
				t.Fatal(err)
			}
			if got := d.String(); got != tt.want || d.Len() != len(tt.want) {
				t.Errorf("%q after %v: %q, length %d; want %q", tt.text, tt.changes, got, d.Len(), tt.want)
			}
		})
	}
}

func TestDocumentApplyRefusesAllOrNothing(t *testing.T) {
	for name, bad := range map[string]Change{
		"negative line":        {rng(-1, 0, 0, 0), ""},
		"negative character":   {rng(0, -1, 0, 0), ""},
		"end before start":     {rng(0, 2, 0, 1), ""},
		"end line before":      {rng(1, 0, 0, 5), ""},
		"not UTF-8":            {rng(0, 0, 0, 0), "\xff"},
		"whole text not UTF-8": {nil, "a\xc3"},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDocument("abc\n")
			if err := d.Apply([]Change{{rng(0, 0, 0, 1), "x"}, bad}, UTF16); err == nil {
				t.Error("no error")
			}
			if got := d.String(); got != "abc\n" {
				t.Errorf("document became %q", got)
			}
		})
	}
}

func TestDocumentOfInvalidUTF8(t *testing.T) {
	text := strings.Repeat("\xff\xc3\x80\x80\x80\n\xf0\x9f\r", 500)
	for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
		d := &Document{edited: newRope(text, ropeLimits{leaf: 16, block: 4})}
		for line := range 600 {
			if err := d.Apply([]Change{{rng(line, line%5, line+1, line%3), "é\n"}}, enc); err != nil {
				t.Fatal(err)
			}
		}
		if d.Len() != len(d.String()) {
			t.Errorf("length %d, want %d", d.Len(), len(d.String()))
		}
	}
}

func TestDocumentZeroValue(t *testing.T) {
	var d Document
	if err := d.Apply([]Change{{rng(0, 0, 0, 0), "a"}}, UTF16); err != nil || d.String() != "a" {
		t.Errorf("got %q, %v", d.String(), err)
	}
}

// pasted are the texts that the random edits insert.
var pasted = []string{"", "", "x", "\n", "\r", "\r\n", "é", "日", "🎉", "\n\n", "\n\r", "a\nb\nc", strings.Repeat("0123456789\n", 9), strings.Repeat("é🎉", 20)}

// checkRope compares what r says about itself with its text.
func checkRope(t *testing.T, r *rope) {
	t.Helper()
	text := r.String()
	want := newLeaf(text)
	for m, n := range want.counts {
		if r.total[m] != int(n) {
			t.Fatalf("count %d of %q is %d, want %d", m, text, r.total[m], n)
		}
	}
	pos := 0
	for _, b := range r.blocks {
		var sum counts
		if len(b.leaves) == 0 || len(b.leaves) > r.limits.block {
			t.Fatalf("block of %d leaves", len(b.leaves))
		}
		for i, l := range b.leaves {
			if l.counts != newLeaf(l.text).counts {
				t.Fatalf("counts of leaf %q: %v", l.text, l.counts)
			}
			if l.text == "" && text != "" || len(l.text) > r.limits.leaf {
				t.Fatalf("leaf of %d bytes in a text of %d", len(l.text), len(text))
			}
			if pos += len(l.text); utf8.ValidString(text) && !whole(text, pos) {
				t.Fatalf("leaf ends at %d of %q", pos, text)
			}
			sum.add(&b.leaves[i])
		}
		if sum != b.counts {
			t.Fatalf("counts of block %v, want %v", b.counts, sum)
		}
	}
}

func TestDocumentAgreesWithSlowOne(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		text := ""
		for range rnd.IntN(60) {
			text += pasted[rnd.IntN(len(pasted))]
		}
		d := &Document{edited: newRope(text, ropeLimits{leaf: 16 + rnd.IntN(20), block: 4}), stale: true}
		slow := slowDocument{text}
		enc := Encoding(rnd.IntN(3))
		for range 150 {
			start := Position{rnd.IntN(1 + strings.Count(slow.text, "\n")), rnd.IntN(14)}
			end := start
			switch rnd.IntN(8) {
			case 0:
				end.Line += rnd.IntN(30)
			case 1, 2:
				end.Character += rnd.IntN(9)
			}
			c := Change{&Range{start, end}, pasted[rnd.IntN(len(pasted))]}
			before := slow.text
			slow.apply(c, enc)
			if err := d.Apply([]Change{c}, enc); err != nil {
				t.Fatal(err)
			}
			checkRope(t, d.edited)
			if got := d.String(); got != slow.text {
				t.Fatalf("%s %q with %v %q = %q, want %q", enc, before, *c.Range, c.Text, got, slow.text)
			}
		}
	}
}

// TestDocumentCost holds what the benchmarks measure: a document is at most
// four times its text when every part of it was edited, and an edit allocates
// nothing that grows with the document.
func TestDocumentCost(t *testing.T) {
	text := source(4 * megabyte)
	lines := strings.Count(text, "\n")
	before := heapInUse()
	d := NewDocument(strings.Clone(text))
	for _, c := range typing(20_000, lines) {
		if err := d.Apply(c, UTF16); err != nil {
			t.Fatal(err)
		}
	}
	size := len(d.String())
	if held := float64(heapInUse()-before) / float64(size); held > 4 {
		t.Errorf("document holds %.2f bytes for each of its text", held)
	}
	changes, next := typing(1000, lines), 0
	allocs := testing.AllocsPerRun(len(changes)-1, func() {
		if err := d.Apply(changes[next], UTF16); err != nil {
			t.Fatal(err)
		}
		next++
	})
	if allocs > 2 {
		t.Errorf("%v allocations an edit", allocs)
	}
	runtime.KeepAlive(d)
}

func FuzzDocument(f *testing.F) {
	f.Add("a\nb\n", []byte{0, 0, 0, 1, 2, 1, 0, 0, 9, 5}, byte(0))
	f.Add("🎉 x\r\ny\rz", []byte{0, 1, 0, 1, 3, 2, 0, 1, 0, 4, 1, 0, 0, 0, 3}, byte(0))
	f.Add("é🎉日\n", []byte{0, 3, 0, 4, 7, 0, 0, 9, 9, 0}, byte(1))
	f.Add("", []byte{0, 0, 0, 0, 4, 1, 0, 1, 0, 3}, byte(2))
	f.Fuzz(func(t *testing.T, text string, script []byte, e byte) {
		if !utf8.ValidString(text) {
			t.Skip("the slow version reads UTF-8 only")
		}
		enc := Encoding(e % 3)
		d := &Document{edited: newRope(text, ropeLimits{leaf: 24, block: 4}), stale: true}
		slow := slowDocument{text}
		for ; len(script) >= 5; script = script[5:] {
			start := Position{int(script[0]), int(script[1])}
			c := Change{&Range{start, Position{start.Line + int(script[2]), int(script[3])}}, pasted[int(script[4])%len(pasted)]}
			if c.Range.End.before(start) {
				c.Range.End = start
			}
			slow.apply(c, enc)
			if err := d.Apply([]Change{c}, enc); err != nil {
				t.Fatal(err)
			}
		}
		checkRope(t, d.edited)
		if got := d.String(); got != slow.text {
			t.Errorf("got %q, want %q", got, slow.text)
		}
	})
}

// ExampleDocument shows an editor typing after a rune that takes two units.
func ExampleDocument() {
	d := NewDocument("🎉 = 1\n")
	err := d.Apply([]Change{{&Range{Position{0, 5}, Position{0, 6}}, "2"}}, UTF16)
	fmt.Printf("%s %v", d, err)
	// Output:
	// 🎉 = 2
	//  <nil>
}
