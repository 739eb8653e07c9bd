package text

import "strings"

// lines returns the spans in which the lines of the two texts differ. Each span
// is whole lines on both sides.
func (p pair) lines() []span {
	s := p.aroundLines(p.trim(p.all()))
	if s.pure() {
		return []span{s}
	}
	ids := newNumbers()
	a, atA := ids.lines(p.old[s.a0:s.a1])
	b, atB := ids.lines(p.new[s.b0:s.b1])
	if min(len(a), len(b)) == 1 && len(a)+len(b) <= 3 {
		return []span{s} // both ends differ, so nothing matches
	}
	budget := lineBudget
	spans := compare(a, b, ids.count(), &budget)
	for i, d := range spans {
		spans[i] = span{s.a0 + atA[d.a0], s.a0 + atA[d.a1], s.b0 + atB[d.b0], s.b0 + atB[d.b1]}
	}
	return spans
}

// aroundLines extends s, outside of which the texts are equal, to whole lines.
func (p pair) aroundLines(s span) span {
	if start := strings.LastIndexByte(p.old[:s.a0], '\n') + 1; start < s.a0 {
		s.a0, s.b0 = start, s.b0-(s.a0-start)
	}
	if isLineStart(p.old, s.a1) && isLineStart(p.new, s.b1) {
		return s
	}
	if n := strings.IndexByte(p.old[s.a1:], '\n'); n >= 0 {
		s.a1, s.b1 = s.a1+n+1, s.b1+n+1
	} else {
		s.a1, s.b1 = len(p.old), len(p.new)
	}
	return s
}

// numbers gives equal strings equal numbers. Strings of one byte have that
// byte's number.
type numbers struct{ ids map[string]int32 }

const singles = 256

func newNumbers() *numbers { return &numbers{make(map[string]int32)} }

func (n *numbers) of(s string) int32 {
	if len(s) == 1 {
		return int32(s[0])
	}
	id, ok := n.ids[s]
	if !ok {
		id = int32(singles + len(n.ids))
		n.ids[s] = id
	}
	return id
}

// count is one more than the highest number given.
func (n *numbers) count() int { return singles + len(n.ids) }

// lines returns the numbers of the lines of s, and their offsets: one more,
// the last is the end of s.
func (n *numbers) lines(s string) (ids []int32, at []int) {
	count := strings.Count(s, "\n") + 1
	ids, at = make([]int32, 0, count), make([]int, 1, count+1)
	pos := 0
	for line := range strings.Lines(s) {
		pos += len(line)
		ids, at = append(ids, n.of(line)), append(at, pos)
	}
	return ids, at
}

// words returns the numbers of the words of s and their offsets, as lines does.
func (n *numbers) words(s string) (ids []int32, at []int) {
	at = append(at, 0)
	for pos := 0; pos < len(s); {
		size := word(s[pos:])
		ids = append(ids, n.of(s[pos:pos+size]))
		pos += size
		at = append(at, pos)
	}
	return ids, at
}
