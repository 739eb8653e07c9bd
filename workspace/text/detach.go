package text

import "strings"

// detach splits spans in which part of one line became part of several lines,
// or the other way round: the line that stayed, changed, and the whole lines
// that came or went beside it. A shortest way does not know lines and mixes the
// two. Only lines with something in common are told apart so.
func (p pair) detach(spans []span, bounds span) []span {
	out := make([]span, 0, len(spans))
	for i, s := range spans {
		low, high := bounds.a0, bounds.a1
		if i > 0 {
			low = spans[i-1].a1
		}
		if i < len(spans)-1 {
			high = spans[i+1].a0
		}
		out = append(out, p.detachOne(s, s.a0-low, high-s.a1)...)
	}
	return coalesce(out)
}

// detachOne splits s, before which low bytes and after which high bytes are
// equal in both texts.
func (p pair) detachOne(s span, low, high int) []span {
	fewer := strings.Contains(p.old[s.a0:s.a1], "\n")
	more := strings.Contains(p.new[s.b0:s.b1], "\n")
	switch {
	case s.pure() || fewer == more:
		return []span{s}
	case fewer:
		out := pair{p.new, p.old}.detachOne(s.swapped(), low, high)
		for i := range out {
			out[i] = out[i].swapped()
		}
		return out
	}
	// What is equal around s on its line; no more of it is looked at, or one
	// long line with many spans would take quadratic time.
	head, tail := p.old[s.a0-low:s.a0], p.old[s.a1:s.a1+high]
	head = head[strings.LastIndexByte(head, '\n')+1:]
	tail = tail[:strings.IndexByte(tail, '\n')+1]
	after, likeAfter := p.detachAfter(s, head, tail)
	before, likeBefore := p.detachBefore(s, head, tail)
	switch {
	case likeAfter == 0 && likeBefore == 0:
		return []span{s}
	case likeAfter >= likeBefore:
		return after
	default:
		return before
	}
}

func (s span) swapped() span { return span{s.b0, s.b1, s.a0, s.a1} }

// detachAfter splits s into its first line and the lines inserted after it, and
// returns how much the first line has in common with the old one; 0 where there
// is no such split. tail is the rest of the old line with its ending, or "".
func (p pair) detachAfter(s span, head, tail string) (split []span, like int) {
	first := s.b0 + strings.IndexByte(p.new[s.b0:s.b1], '\n') + 1
	n := len(tail)
	if n == 0 || !strings.HasSuffix(p.new[s.b0:first], tail) {
		return nil, 0
	}
	line := span{s.a0, s.a1, s.b0, first - n}
	lines := span{s.a1 + n, s.a1 + n, first, s.b1 + n}
	return p.related(line, lines, head, tail)
}

// detachBefore splits s into its last line and the lines inserted before it.
// head is the start of the old line.
func (p pair) detachBefore(s span, head, tail string) (split []span, like int) {
	n := len(head)
	last := s.b0 + strings.LastIndexByte(p.new[s.b0:s.b1], '\n') + 1
	if n == 0 || !isLineStart(p.old, s.a0-n) || !isLineStart(p.new, s.b0-n) || !strings.HasPrefix(p.new[last:s.b1], head) {
		return nil, 0
	}
	lines := span{s.a0 - n, s.a0 - n, s.b0 - n, last}
	line := span{s.a0, s.a1, last + n, s.b1}
	return p.related(lines, line, head, tail)
}

// related returns a split unless it is in a wrong place, and how many bytes
// that are not blank the changed line, one of the two, has kept.
func (p pair) related(a, b span, head, tail string) (split []span, like int) {
	if !p.whole(a) || !p.whole(b) {
		return nil, 0
	}
	before := a.size() + b.size()
	a, b = p.trim(a), p.trim(b)
	kept := before - a.size() - b.size()
	return []span{a, b}, kept + len(strings.TrimSpace(head)) + len(strings.TrimSpace(tail))
}
