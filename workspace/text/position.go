package text

import "strings"

// Position is a place in a text as LSP counts it: both numbers from 0, the
// character in units of an [Encoding] that is agreed elsewhere.
type Position struct{ Line, Character int }

// Range is the text from Start up to, not including, End.
type Range struct{ Start, End Position }

// RangeEdit is an [Edit] in positions.
type RangeEdit struct {
	Range Range
	New   string
}

// before reports whether p comes before q.
func (p Position) before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// OffsetAt returns the byte offset of p in s. It clamps as LSP says: a
// character past the end of its line is the line's end, before the line ending;
// a line past the last one is the end of s; a position inside a rune is the
// rune's start; negative numbers are 0.
func OffsetAt(s string, p Position, enc Encoding) int {
	if p.Line < 0 {
		return 0
	}
	start := 0
	for range p.Line {
		n := nextBreak(s[start:])
		if n < 0 {
			return len(s)
		}
		start += n
	}
	line := s[start:]
	if n := nextBreak(line); n >= 0 {
		line = trimBreak(line[:n])
	}
	return start + enc.prefix(line, max(p.Character, 0))
}

// PositionAt returns the position of a byte offset in s; an offset outside s is
// the nearest end. An offset between the two bytes of "\r\n" is the line's end,
// one inside a rune is the rune's start.
func PositionAt(s string, offset int, enc Encoding) Position {
	return newCursor(s, enc).to(offset)
}

// Ranges turns edits of s into positions for an editor, ascending, all in the
// text before the edits. The edits must be valid for s (see [Apply]); offsets
// outside are clamped.
func Ranges(s string, edits []Edit, enc Encoding) []RangeEdit {
	if len(edits) == 0 {
		return nil
	}
	out := make([]RangeEdit, len(edits))
	c := newCursor(s, enc)
	for i, e := range edits {
		start := c.to(e.Start)
		out[i] = RangeEdit{Range{start, c.to(e.End)}, e.New}
	}
	return out
}

// cursor walks a text forwards from line to line.
type cursor struct {
	s    string
	enc  Encoding
	line int // number of the current line
	at   int // offset of its start
	next int // offset of the next line, -1 when there is none
}

func newCursor(s string, enc Encoding) *cursor {
	return &cursor{s: s, enc: enc, next: nextBreak(s)}
}

// to returns the position of offset. Offsets before the current line start the
// walk anew.
func (c *cursor) to(offset int) Position {
	offset = min(max(offset, 0), len(c.s))
	if offset < c.at {
		*c = *newCursor(c.s, c.enc)
	}
	for c.next >= 0 && c.next <= offset {
		c.line++
		c.at = c.next
		if c.next = nextBreak(c.s[c.at:]); c.next >= 0 {
			c.next += c.at
		}
	}
	head := c.s[c.at:runeStart(c.s, offset)]
	if c.next >= 0 && offset == c.next-1 && c.s[offset] == '\n' {
		head = strings.TrimSuffix(head, "\r")
	}
	return Position{c.line, c.enc.units(head)}
}

// nextBreak returns the offset after the first line ending of s, as LSP counts
// line endings, or -1. It looks no further than that ending, or a text of
// nothing but "\r" would take quadratic time.
func nextBreak(s string) int {
	const stride = 128
	for at := 0; at < len(s); at += stride {
		part := s[at:min(at+stride, len(s))]
		lf := strings.IndexByte(part, '\n')
		if lf >= 0 {
			part = part[:lf]
		}
		if cr := strings.IndexByte(part, '\r'); cr >= 0 {
			end := at + cr + 1
			if end < len(s) && s[end] == '\n' {
				end++
			}
			return end
		}
		if lf >= 0 {
			return at + lf + 1
		}
	}
	return -1
}

// trimBreak cuts the line ending off a line.
func trimBreak(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}
