package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkDiff reports whether Diff(old, new) keeps what it promises whatever the
// input, and returns it.
func checkDiff(t *testing.T, old, new string) []Edit {
	t.Helper()
	edits := Diff(old, new)
	got, err := Apply(old, edits)
	if err != nil || got != new {
		t.Fatalf("Apply(%q, Diff(…, %q)) = %q, %v; edits %v", old, new, got, err, edits)
	}
	shift := 0
	for i, e := range edits {
		if e.Start == e.End && e.New == "" {
			t.Errorf("Diff(%q, %q) has an empty edit: %v", old, new, edits)
		}
		if i > 0 && edits[i-1].End >= e.Start {
			t.Errorf("Diff(%q, %q): edits touch: %v", old, new, edits)
		}
		start := e.Start + shift
		for _, b := range []struct {
			text string
			at   int
		}{{old, e.Start}, {old, e.End}, {new, start}, {new, start + len(e.New)}} {
			if !slowWhole(b.text, b.at) {
				t.Errorf("Diff(%q, %q) = %v splits a rune or line ending of %q at %d", old, new, edits, b.text, b.at)
			}
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return edits
}

// slowWhole walks s and reports whether at is between two characters, "\r\n"
// being one.
func slowWhole(s string, at int) bool {
	for i, r := range s {
		if i == at && !(r == '\n' && strings.HasSuffix(s[:i], "\r")) {
			return true
		}
	}
	return at == len(s)
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		name, old, new string
		want           []Edit
	}{
		{"same", "a\n", "a\n", nil},
		{"from nothing", "", "a\n", []Edit{{0, 0, "a\n"}}},
		{"to nothing", "a\n", "", []Edit{{0, 2, ""}}},
		{"C1 digit after a wide rune", "🎉 x = 1\n", "🎉 x = 2\n", []Edit{{9, 10, "2"}}},
		{"C2 appended line", "a\nb\n", "a\nb\nc\n", []Edit{{4, 4, "c\n"}}},
		{"C6 two hunks", "a\nb\nc\nd\n", "A1\nA2\nb\nC\nd\n", []Edit{{0, 1, "A1\nA2"}, {4, 5, "C"}}},
		{"A2 word and line", "f(one)\n", "f(two)\nend\n", []Edit{{2, 5, "two"}, {7, 7, "end\n"}}},
		{"A8 second line", "one\ntwo\n", "one\n2\n", []Edit{{4, 7, "2"}}},
		{"letters inside a word", "fooBar", "fooXBar", []Edit{{3, 3, "X"}}},
		{"two words of a line", "let one = 1, other = 2\n", "let two = 1, other = 3\n", []Edit{{4, 7, "two"}, {21, 22, "3"}}},
		{"rewritten sentence is one edit", "I have a cat\n", "We own a dog\n", []Edit{{0, 12, "We own a dog"}}},
		{"rune is whole", "ä", "ö", []Edit{{0, 2, "ö"}}},
		{"wide rune is whole", "🎉", "🎊", []Edit{{0, 4, "🎊"}}},
		{"line ending is whole", "a\r\nb\r\n", "a\nb\r\n", []Edit{{1, 3, "\n"}}},
		{"lone CR is content", "a\rb\nc\r\nd\n", "a\rb\nc\r\ne\n", []Edit{{7, 8, "e"}}},
		{"line above its equal goes below", "x\ny\n", "x\nx\ny\n", []Edit{{2, 2, "x\n"}}},
		{"deleted equal line is the last", "x\nx\ny\n", "x\ny\n", []Edit{{2, 4, ""}}},
		{"indented line inserted after a changed one", "  a;\n  b;\n", "  A;\n  x;\n  b;\n", []Edit{{2, 3, "A"}, {5, 5, "  x;\n"}}},
		{"reflowed line", "call(one, two, three)\n", "call(\n  one,\n  two,\n  three)\n", []Edit{{5, 5, "\n  "}, {9, 9, "\n "}, {14, 14, "\n "}}},
		{"words without spaces", "日本語\n", "日木語\n", []Edit{{3, 6, "木"}}},
		{"no final newline", "a\nb", "a\nb\nc", []Edit{{3, 3, "\nc"}}},
		{"reindented", "a\n  b\nc\n", "a\n    b\nc\n", []Edit{{4, 4, "  "}}},
		{"moved line", "a\nb\nc\n", "b\nc\na\n", []Edit{{0, 2, ""}, {6, 6, "a\n"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := checkDiff(t, tt.old, tt.new); !slices.Equal(got, tt.want) {
				t.Errorf("Diff(%q, %q) = %v, want %v", tt.old, tt.new, got, tt.want)
			}
		})
	}
}

// TestDiffIsMinimalInLines compares the lines that change with the fewest
// possible, computed by the table of longest common subsequences.
func TestDiffIsMinimalInLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(14) {
			b.WriteByte(byte('a' + rnd.IntN(4)))
			b.WriteByte('\n')
		}
		return b.String()
	}
	for range 20_000 {
		old, new := text(), text()
		got := 0
		for _, s := range (pair{old, new}).lines() {
			got += strings.Count(old[s.a0:s.a1], "\n") + strings.Count(new[s.b0:s.b1], "\n")
		}
		if want := slowEdits(old, new); got != want {
			t.Fatalf("lines of %q, %q: %d lines change, want %d", old, new, got, want)
		}
		checkDiff(t, old, new)
	}
}

// slowEdits returns the fewest lines to delete and insert.
func slowEdits(old, new string) int {
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(new, "\n")
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a):
				best[i][j] = len(b) - j
			case j == len(b):
				best[i][j] = len(a) - i
			case a[i] == b[j]:
				best[i][j] = best[i+1][j+1]
			default:
				best[i][j] = 1 + min(best[i+1][j], best[i][j+1])
			}
		}
	}
	return best[0][0]
}

// hostile are pairs of texts that are expensive for a search without bounds.
func hostile() map[string][2]string {
	rnd := rand.New(rand.NewPCG(3, 4))
	lines := func(size, kinds, width int) string {
		b := make([]byte, 0, size)
		for len(b) < size {
			n := rnd.IntN(kinds)
			for range width {
				b = append(b, byte('a'+n%26))
				n /= 26
			}
			b = append(b, '\n')
		}
		return string(b)
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "\n", " ") }
	return map[string][2]string{
		"random lines":           {lines(1<<20, 1<<30, 16), lines(1<<20, 1<<30, 16)},
		"lines of two kinds":     {lines(1<<20, 2, 1), lines(1<<20, 2, 1)},
		"lines of many kinds":    {lines(1<<20, 1000, 3), lines(1<<20, 1000, 3)},
		"one line of two words":  {flat(lines(1<<20, 2, 1)), flat(lines(1<<20, 2, 1))},
		"one line of many words": {flat(lines(1<<20, 1000, 3)), flat(lines(1<<20, 1000, 3))},
		"one word":               {strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)},
		"lone CRs":               {strings.Repeat("\r", 1<<20), strings.Repeat("\r", 1<<19)},
		"blank lines":            {strings.Repeat("\n", 1<<20), "x" + strings.Repeat("\n", 1<<19)},
		"reversed":               {strings.Repeat("ab\n", 1<<18), strings.Repeat("ba\n", 1<<18)},
	}
}

func TestDiffOfHostileTextIsBounded(t *testing.T) {
	for name, texts := range hostile() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			edits := Diff(texts[0], texts[1])
			// Far above what it takes, even with the race detector on a busy
			// machine; an unbounded search takes hours.
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			t.Logf("%v, %d edits", time.Since(start), len(edits))
			if got, err := Apply(texts[0], edits); err != nil || got != texts[1] {
				t.Errorf("applying: %v, wrong text", err)
			}
		})
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("", "")
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("🎉 x = 1\n", "🎉 x = 2\n")
	f.Add("a\r\nb\r\n", "a\nb\n")
	f.Add("a\rb", "a\r\nb")
	f.Add("caf\xe9\n", "caf\xc3\xa9\n")
	f.Add("\xf0\x9f\x8e", "\xf0\x9f\x8e\x89")
	f.Add("aaaa", "aaaaaa")
	f.Add("  a;\n  b;\n", "  A;\n  x;\n  B;\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		checkDiff(t, old, new)
		if u := Unified("f", old, new); (u == "") != (old == new) {
			t.Errorf("Unified of %q, %q = %q", old, new, u)
		}
	})
}
