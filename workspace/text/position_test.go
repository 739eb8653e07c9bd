package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOffsetAt(t *testing.T) {
	for _, tt := range []struct {
		name, text      string
		line, character int
		enc             Encoding
		want            int
	}{
		{"C1 digit in utf-16", "🎉 x = 1\n", 0, 7, UTF16, 9},
		{"C1 digit in utf-8", "🎉 x = 1\n", 0, 9, UTF8, 9},
		{"C1 digit in utf-32", "🎉 x = 1\n", 0, 6, UTF32, 9},
		{"C5 past the line end", "foo\nbar\n", 0, 100, UTF16, 3},
		{"C5 past a CRLF line end", "foo\r\nbar\n", 0, 100, UTF16, 3},
		{"past the last line", "foo\nbar\n", 9, 1, UTF16, 8},
		{"line after the last ending", "foo\n", 1, 5, UTF16, 4},
		{"middle of a surrogate pair", "a🎉b", 0, 2, UTF16, 1},
		{"middle of a rune in bytes", "aéb", 0, 2, UTF8, 1},
		{"lone CR ends a line", "a\rb", 1, 1, UTF16, 3},
		{"past a lone CR", "a\rb", 0, 7, UTF16, 1},
		{"CRLF ends one line", "a\r\nb", 1, 0, UTF16, 3},
		{"LF CR are two", "a\n\rb", 2, 0, UTF16, 3},
		{"negative", "a\nb", -1, -1, UTF16, 0},
		{"negative character in bytes", "a\nb", 1, -1, UTF8, 2},
		{"empty", "", 3, 3, UTF16, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := OffsetAt(tt.text, Position{tt.line, tt.character}, tt.enc); got != tt.want {
				t.Errorf("OffsetAt(%q, %d:%d, %s) = %d, want %d", tt.text, tt.line, tt.character, tt.enc, got, tt.want)
			}
		})
	}
}

func TestPositionAt(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		offset     int
		enc        Encoding
		want       Position
	}{
		{"utf-16", "a\n🎉b", 6, UTF16, Position{1, 2}},
		{"utf-8", "a\n🎉b", 6, UTF8, Position{1, 4}},
		{"utf-32", "a\n🎉b", 6, UTF32, Position{1, 1}},
		{"inside a rune", "a\n🎉b", 4, UTF16, Position{1, 0}},
		{"before an ending", "a\r\nb", 1, UTF16, Position{0, 1}},
		{"inside CRLF", "a\r\nb", 2, UTF16, Position{0, 1}},
		{"after CRLF", "a\r\nb", 3, UTF16, Position{1, 0}},
		{"after a lone CR", "a\rb", 2, UTF16, Position{1, 0}},
		{"end", "a\n", 2, UTF16, Position{1, 0}},
		{"outside", "a\n", 20, UTF16, Position{1, 0}},
		{"before the start", "a\n", -1, UTF16, Position{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := PositionAt(tt.text, tt.offset, tt.enc); got != tt.want {
				t.Errorf("PositionAt(%q, %d, %s) = %v, want %v", tt.text, tt.offset, tt.enc, got, tt.want)
			}
		})
	}
}

func TestC1_ColumnOfTheMinimalEdit(t *testing.T) {
	old, new := "🎉 x = 1\n", "🎉 x = 2\n"
	for enc, want := range map[Encoding]int{UTF16: 7, UTF8: 9, UTF32: 6} {
		got := Ranges(old, Diff(old, new), enc)
		if len(got) != 1 || got[0] != (RangeEdit{*rng(0, want, 0, want+1), "2"}) {
			t.Errorf("%s: %v, want column %d", enc, got, want)
		}
		d := NewDocument(old)
		if err := d.Apply([]Change{{&got[0].Range, got[0].New}}, enc); err != nil || d.String() != new {
			t.Errorf("%s: applied %q, %v", enc, d, err)
		}
	}
}

func TestRanges(t *testing.T) {
	s := "a\r\nb🎉c\rd\n"
	edits := []Edit{{0, 1, "x"}, {8, 9, "y"}, {10, 11, ""}, {12, 12, "z"}}
	want := []RangeEdit{
		{*rng(0, 0, 0, 1), "x"},
		{*rng(1, 3, 1, 4), "y"},
		{*rng(2, 0, 2, 1), ""},
		{*rng(3, 0, 3, 0), "z"},
	}
	if got := Ranges(s, edits, UTF16); !slices.Equal(got, want) {
		t.Errorf("Ranges(%q, %v) = %v, want %v", s, edits, got, want)
	}
	if got := Ranges(s, nil, UTF16); got != nil {
		t.Errorf("no edits give %v", got)
	}
}

func TestEncodingNames(t *testing.T) {
	for _, e := range []Encoding{UTF8, UTF16, UTF32} {
		if got, ok := ParseEncoding(e.String()); got != e || !ok {
			t.Errorf("ParseEncoding(%q) = %v, %v", e, got, ok)
		}
	}
	if e, ok := ParseEncoding("utf-7"); ok {
		t.Errorf("utf-7 parsed as %v", e)
	}
}

// slowPosition walks s a rune at a time to offset, which is where a rune starts
// and not inside "\r\n", or the end.
func slowPosition(s string, offset int, enc Encoding) Position {
	var p Position
	for i, r := range s {
		switch {
		case i >= offset:
			return p
		case r == '\n', r == '\r' && !strings.HasPrefix(s[i+1:], "\n"):
			p = Position{p.Line + 1, 0}
		case r == '\r':
		case enc == UTF8:
			p.Character += utf8.RuneLen(r)
		case enc == UTF16 && r > 0xFFFF:
			p.Character += 2
		default:
			p.Character++
		}
	}
	return p
}

func FuzzPositions(f *testing.F) {
	f.Add("a\nb🎉\r\nc\rd", 1, 3)
	f.Add("🎉🎉\n\r\n\r", 0, 1)
	f.Add("é日\n", 0, 2)
	f.Add("\xf0\x9f\n\x80", 1, 1)
	f.Add(strings.Repeat("x", 300)+"\r"+strings.Repeat("é\n", 9), 4, 300)
	f.Fuzz(func(t *testing.T, s string, line, character int) {
		valid := utf8.ValidString(s)
		r := newRope(s, ropeLimits{leaf: 16, block: 4})
		for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
			p := Position{max(line, 0), max(character, 0)}
			got := OffsetAt(s, p, enc)
			fromRope := r.offset(p, enc)
			if !valid {
				continue // no panic is all that is promised
			}
			if want := slowOffset(s, p, enc); got != want || fromRope != want {
				t.Errorf("%s: OffsetAt(%q, %v) = %d, rope %d, want %d", enc, s, p, got, fromRope, want)
			}
			for offset := range len(s) + 1 {
				p := PositionAt(s, offset, enc)
				if !slowWhole(s, offset) {
					continue
				}
				if want := slowPosition(s, offset, enc); p != want {
					t.Errorf("%s: PositionAt(%q, %d) = %v, want %v", enc, s, offset, p, want)
				}
				if back := OffsetAt(s, p, enc); back != offset {
					t.Errorf("%s: offset %d of %q is %v, and back %d", enc, offset, s, p, back)
				}
			}
		}
	})
}
