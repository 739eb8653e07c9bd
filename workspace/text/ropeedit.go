package text

import (
	"slices"
	"strings"
)

// place is a leaf of a rope and what comes before it.
type place struct {
	block, leaf int
	before      counts
}

func (r *rope) leaf(p place) *leaf { return &r.blocks[p.block].leaves[p.leaf] }

// seek returns the first leaf up to whose end there are at least n of the
// measure m, or the last leaf.
func (r *rope) seek(m measure, n int) place {
	var p place
	for p.block < len(r.blocks)-1 && p.before[m]+r.blocks[p.block].counts[m] < n {
		p.before.plus(&r.blocks[p.block].counts)
		p.block++
	}
	leaves := r.blocks[p.block].leaves
	for p.leaf < len(leaves)-1 && p.before[m]+int(leaves[p.leaf].counts[m]) < n {
		p.before.add(&leaves[p.leaf])
		p.leaf++
	}
	return p
}

// offset is [OffsetAt] for the text of r.
func (r *rope) offset(pos Position, enc Encoding) int {
	if pos.Line > r.total[byBreaks] {
		return r.total[byBytes]
	}
	at, in := r.lineStart(pos.Line)
	end := r.lineEnd(pos.Line, at, in)
	start := at.before[byBytes] + in
	if pos.Character >= end-start { // no encoding has more units than bytes
		return end
	}
	m := enc.measure()
	units := at.before[m] + r.leaf(at).units(in, enc) + pos.Character
	to := r.seek(m, units)
	return min(end, to.before[byBytes]+r.leaf(to).prefix(units-to.before[m], enc))
}

// lineStart returns the leaf in which the line ending before a line ends, and
// the offset in that leaf at which the line starts.
func (r *rope) lineStart(line int) (place, int) {
	if line == 0 {
		return place{}, 0
	}
	p := r.seek(byBreaks, line)
	text, in := r.leaf(p).text, 0
	for n := line - p.before[byBreaks]; n > 0; n-- {
		in += nextBreak(text[in:])
	}
	return p, in
}

// lineEnd returns the offset in the text at which the content of a line ends;
// the line starts in the leaf at p, at the offset in of it.
func (r *rope) lineEnd(line int, p place, in int) int {
	if line == r.total[byBreaks] {
		return r.total[byBytes]
	}
	text := r.leaf(p).text
	if n := nextBreak(text[in:]); n >= 0 {
		return p.before[byBytes] + in + len(trimBreak(text[in:in+n]))
	}
	p, end := r.lineStart(line + 1)
	return p.before[byBytes] + len(trimBreak(r.leaf(p).text[:end]))
}

// replace makes the bytes from start to end of the text text.
func (r *rope) replace(start, end int, text string) {
	// A place at a border of two leaves belongs to the first of them, so that
	// what comes before the border is never joined with a strange "\n".
	a := r.seek(byBytes, start)
	b := a
	if end > a.before[byBytes]+len(r.leaf(a).text) {
		b = r.seek(byBytes, end)
	}
	head, tail := r.leaf(a).text[:start-a.before[byBytes]], r.leaf(b).text[end-b.before[byBytes]:]
	size := len(head) + len(text) + len(tail)
	next, ok := r.next(b)
	if ok && (size < r.limits.leaf/8 || endsCR(head, text, tail) && r.leaf(next).text[0] == '\n') {
		b = next
		tail += r.leaf(b).text
		size += len(r.leaf(b).text)
	}
	if a.block == b.block && a.leaf == b.leaf && 0 < size && size <= r.limits.leaf {
		r.set(a, newLeaf(head+text+tail))
		return
	}
	r.splice(a, b, r.cut(head+text+tail))
}

// next returns the leaf after p, without its counts.
func (r *rope) next(p place) (place, bool) {
	switch {
	case p.leaf+1 < len(r.blocks[p.block].leaves):
		return place{block: p.block, leaf: p.leaf + 1}, true
	case p.block+1 < len(r.blocks):
		return place{block: p.block + 1}, true
	default:
		return place{}, false
	}
}

// endsCR reports whether the last of the parts that is not empty ends in "\r".
func endsCR(parts ...string) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] != "" {
			return strings.HasSuffix(parts[i], "\r")
		}
	}
	return false
}

// set replaces one leaf by another.
func (r *rope) set(p place, l leaf) {
	b := &r.blocks[p.block]
	var was, is counts
	was.add(&b.leaves[p.leaf])
	is.add(&l)
	b.leaves[p.leaf] = l
	for _, c := range []*counts{&b.counts, &r.total} {
		c.minus(&was)
		c.plus(&is)
	}
}

// splice replaces the leaves from a to b, both included, by others, and makes
// the blocks around them anew.
func (r *rope) splice(a, b place, leaves []leaf) {
	before, after := r.blocks[a.block].leaves[:a.leaf], r.blocks[b.block].leaves[b.leaf+1:]
	first, last := a.block, b.block
	if small := r.limits.block / 4; len(before)+len(leaves)+len(after) < small && last+1 < len(r.blocks) {
		last++
		after = append(after[:len(after):len(after)], r.blocks[last].leaves...)
	}
	all := make([]leaf, 0, len(before)+len(leaves)+len(after))
	all = append(append(append(all, before...), leaves...), after...)
	if len(all) == 0 && first == 0 && last == len(r.blocks)-1 {
		all = append(all, newLeaf(""))
	}
	for i := first; i <= last; i++ {
		r.total.minus(&r.blocks[i].counts)
	}
	var blocks []block
	if len(all) > 0 {
		blocks = r.group(all)
	}
	for i := range blocks {
		r.total.plus(&blocks[i].counts)
	}
	r.blocks = slices.Replace(r.blocks, first, last+1, blocks...)
}
