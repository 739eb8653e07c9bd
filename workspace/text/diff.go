package text

// Diff returns edits that turn old into new: first the lines that differ, then
// inside them the words, then of each word the characters between its common
// start and end. Differences with next to nothing in common between them are
// one edit, so that a rewritten sentence does not become a dozen splinters.
//
// Where an insertion or a deletion could stand in several places with the same
// result, it is whole lines if it can be, and as late as it can: two callers who
// made the same change get the same edit.
//
// The edits are ascending and do not touch each other. Their texts share the
// memory of new. Time is bounded: past a fixed budget, which only hostile or
// enormous changes reach, the edits become coarser.
func Diff(old, new string) []Edit {
	if old == new {
		return nil
	}
	p := pair{old, new}
	budget := wordBudget
	var spans []span
	for _, s := range p.lines() {
		spans = append(spans, p.words(s, &budget)...)
	}
	spans = p.slide(spans, p.all())
	edits := make([]Edit, len(spans))
	for i, s := range spans {
		edits[i] = Edit{s.a0, s.a1, new[s.b0:s.b1]}
	}
	return edits
}

// Budgets of one Diff, in steps of the search: about a tenth of a second each.
const (
	lineBudget = 16 << 20
	wordBudget = 16 << 20
)

// pair is two texts that are being compared.
type pair struct{ old, new string }

func (p pair) all() span { return span{0, len(p.old), 0, len(p.new)} }

// span says that old[a0:a1] became new[b0:b1]. In a list of spans, ascending,
// what lies between two of them is equal in both texts.
type span struct{ a0, a1, b0, b1 int }

// size is the longer side of s.
func (s span) size() int { return max(s.a1-s.a0, s.b1-s.b0) }

// pure reports whether s only inserts or only deletes.
func (s span) pure() bool { return s.a0 == s.a1 || s.b0 == s.b1 }

func (s span) moved(by int) span { return span{s.a0 + by, s.a1 + by, s.b0 + by, s.b1 + by} }

// whole reports whether an edit may have the borders of s: none of them inside
// a rune or a line ending.
func (p pair) whole(s span) bool {
	return whole(p.old, s.a0) && whole(p.old, s.a1) && whole(p.new, s.b0) && whole(p.new, s.b1)
}

// whole reports whether an edit may start or end at the offset at of s.
func whole(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return true
	}
	return !(s[at] == '\n' && s[at-1] == '\r') && runeStart(s, at) == at
}

// trim shrinks s by what its two sides have in common at the start, then at the
// end.
func (p pair) trim(s span) span {
	a, b := p.old[s.a0:s.a1], p.new[s.b0:s.b1]
	n := commonPrefix(a, b)
	for n > 0 && !(whole(p.old, s.a0+n) && whole(p.new, s.b0+n)) {
		n--
	}
	m := commonSuffix(a[n:], b[n:])
	for m > 0 && !(whole(p.old, s.a1-m) && whole(p.new, s.b1-m)) {
		m--
	}
	return span{s.a0 + n, s.a1 - m, s.b0 + n, s.b1 - m}
}

// commonStride is how many bytes are compared at once.
const commonStride = 256

func commonPrefix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+commonStride <= n && a[i:i+commonStride] == b[i:i+commonStride] {
		i += commonStride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+commonStride <= n && a[len(a)-i-commonStride:len(a)-i] == b[len(b)-i-commonStride:len(b)-i] {
		i += commonStride
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
