package text

import (
	"unicode"
	"unicode/utf8"
)

// words returns the spans in which the words inside s differ. budget is shared
// by all spans of one Diff.
func (p pair) words(s span, budget *int) []span {
	bounds := s
	s = p.trim(s)
	if s.pure() || *budget <= 0 {
		return []span{s}
	}
	s = p.aroundWords(s, bounds)
	ids := newNumbers()
	a, atA := ids.words(p.old[s.a0:s.a1])
	b, atB := ids.words(p.new[s.b0:s.b1])
	spans := compare(a, b, ids.count(), budget)
	for i, d := range spans {
		spans[i] = p.trim(span{s.a0 + atA[d.a0], s.a0 + atA[d.a1], s.b0 + atB[d.b0], s.b0 + atB[d.b1]})
	}
	return p.join(p.detach(p.slide(spans, bounds), bounds))
}

// aroundWords extends s, just outside of which the texts are equal, to the next
// space or mark on both sides inside bounds, so that no word is compared in
// part.
func (p pair) aroundWords(s, bounds span) span {
	for s.a0 > bounds.a0 && s.b0 > bounds.b0 && !breaksWord(p.old[s.a0-1]) {
		s.a0, s.b0 = s.a0-1, s.b0-1
	}
	for s.a1 < bounds.a1 && s.b1 < bounds.b1 && !breaksWord(p.old[s.a1]) {
		s.a1, s.b1 = s.a1+1, s.b1+1
	}
	return s
}

// join makes one span of two neighbours where less lies between them than
// either of them changes: what they have in common is then chance. Whole lines
// stay apart from what happens to the lines around them.
func (p pair) join(spans []span) []span {
	out := spans[:0]
	for _, s := range spans {
		for len(out) > 0 {
			last := out[len(out)-1]
			if gap := s.a0 - last.a1; gap > min(last.size(), s.size()) || p.isLines(last) || p.isLines(s) {
				break
			}
			s = p.trim(span{last.a0, s.a1, last.b0, s.b1})
			out = out[:len(out)-1]
		}
		out = append(out, s)
	}
	return out
}

// isLines reports whether s replaces whole lines by whole lines.
func (p pair) isLines(s span) bool {
	return isLineStart(p.old, s.a0) && isLineStart(p.new, s.b0) &&
		(s.a0 == s.a1 || p.old[s.a1-1] == '\n') && (s.b0 == s.b1 || p.new[s.b1-1] == '\n')
}

// word returns the length of the first word of s, which is not empty: a run of
// letters and digits, a run of blanks, a line ending, or any other rune alone.
func word(s string) int {
	switch c := s[0]; {
	case c == '\r' && len(s) > 1 && s[1] == '\n':
		return 2
	case isBlank(c):
		n := 1
		for n < len(s) && isBlank(s[n]) {
			n++
		}
		return n
	}
	n := 0
	for n < len(s) {
		size, ok := letter(s[n:])
		if !ok {
			if n == 0 {
				return size
			}
			break
		}
		n += size
	}
	return n
}

// letter returns the size of the first rune of s and whether it is part of a
// word that goes on. Scripts written without spaces have a word a rune.
func letter(s string) (size int, ok bool) {
	if c := s[0]; c < utf8.RuneSelf {
		return 1, !breaksWord(c) && c != '\r'
	}
	r, size := utf8.DecodeRuneInString(s)
	const firstIdeographic = 0x2E80 // CJK and all that comes after
	return size, r < firstIdeographic && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// breaksWord reports whether c is a word of its own wherever it stands, or the
// start of one. That is not so of "\r", which may belong to the "\n" after it.
func breaksWord(c byte) bool {
	switch {
	case c >= utf8.RuneSelf, c == '_', c == '\r':
		return false
	case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		return false
	default:
		return true
	}
}
