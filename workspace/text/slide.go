package text

// slide moves each insertion and deletion inside bounds to the place where Diff
// promises it, and makes one of those that come to touch. It returns spans,
// changed.
func (p pair) slide(spans []span, bounds span) []span {
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		if !s.pure() {
			continue
		}
		low, high := s.a0-bounds.a0, bounds.a1-s.a1
		if i > 0 {
			low = s.a0 - spans[i-1].a1
		}
		if i < len(spans)-1 {
			high = spans[i+1].a0 - s.a1
		}
		spans[i] = s.moved(p.best(s, low, high))
	}
	return coalesce(spans)
}

// best returns by how much to move s, at most low to the left or high to the
// right.
func (p pair) best(s span, low, high int) int {
	text, from, to := p.new, s.b0, s.b1
	if s.a0 < s.a1 {
		text, from, to = p.old, s.a0, s.a1
	}
	// Moving right by one takes the first byte off and adds the next one; the
	// result is the same when both are the same byte.
	right := commonPrefix(text[from:], text[to:to+high])
	left := commonSuffix(text[from-low:from], text[:to])
	fallback, found := 0, false
	for by := right; by >= -left; by-- {
		m := s.moved(by)
		if !p.whole(m) {
			continue
		}
		if p.isLines(m) {
			return by
		}
		if !found {
			fallback, found = by, true
		}
	}
	return fallback
}

// coalesce makes one span of each run of spans with nothing between them.
func coalesce(spans []span) []span {
	out := spans[:0]
	for _, s := range spans {
		if s.size() == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 && out[n].a1 == s.a0 {
			out[n].a1, out[n].b1 = s.a1, s.b1
			continue
		}
		out = append(out, s)
	}
	return out
}
