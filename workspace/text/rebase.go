package text

import "strings"

// Rebase returns the edits that bring the change from base to want onto
// current, which has changed since base in its own way: a three-way merge. The
// edits are for current.
//
// Changes are compared by the character, not by the line: two changes of one
// line merge when some unchanged text lies between them. Where both sides made
// the same change nothing is left to do. Everything else that overlaps is a
// [*ConflictError].
//
// Changes that touch without overlapping merge only where a line ends between
// them and each leaves that line end in place: a line typed above the one that
// the other side changes is no conflict, a letter typed at the end of the word
// that the other side changes is one. Two different insertions at the same
// place conflict always, because their order would be a guess.
func Rebase(base, current, want string) ([]Edit, error) {
	switch {
	case current == want || base == want:
		return nil, nil
	case base == current:
		return Diff(base, want), nil
	}
	m := merge{base: base, current: current, ours: Diff(base, current), theirs: Diff(base, want)}
	m.run()
	if len(m.conflicts) > 0 {
		return nil, &ConflictError{m.conflicts}
	}
	return m.edits, nil
}

// merge is one run of Rebase. ours is what happened to current and stays,
// theirs is what is to be brought over.
type merge struct {
	base, current string
	ours, theirs  []Edit
	shift         int // how far ours has moved the text so far
	edits         []Edit
	conflicts     []Conflict
}

func (m *merge) run() {
	for len(m.ours) > 0 || len(m.theirs) > 0 {
		ours, theirs := m.cluster()
		switch {
		case len(ours) == 0:
			for _, e := range theirs {
				m.edits = append(m.edits, Edit{e.Start + m.shift, e.End + m.shift, e.New})
			}
		case len(theirs) > 0:
			m.settle(ours, theirs)
		}
		for _, e := range ours {
			m.shift += len(e.New) - (e.End - e.Start)
		}
	}
}

// cluster takes the next edits of both sides that cannot be judged apart.
func (m *merge) cluster() (ours, theirs []Edit) {
	o, t := 0, 0
	for {
		fromOurs, ok := m.next(o, t)
		if !ok {
			break
		}
		if fromOurs {
			if o+t > 0 && (t == 0 || !collide(m.base, m.theirs[t-1], m.ours[o])) {
				break
			}
			o++
		} else {
			if o+t > 0 && (o == 0 || !collide(m.base, m.ours[o-1], m.theirs[t])) {
				break
			}
			t++
		}
	}
	ours, m.ours = m.ours[:o], m.ours[o:]
	theirs, m.theirs = m.theirs[:t], m.theirs[t:]
	return ours, theirs
}

// next says which side has the first edit after o and t edits are taken.
// Insertions come before what replaces the text after them.
func (m *merge) next(o, t int) (fromOurs, ok bool) {
	switch {
	case o == len(m.ours):
		return false, t < len(m.theirs)
	case t == len(m.theirs):
		return true, true
	}
	a, b := m.ours[o], m.theirs[t]
	return a.Start < b.Start || a.Start == b.Start && a.End <= b.End, true
}

// settle compares what both sides make of the same stretch of base.
func (m *merge) settle(ours, theirs []Edit) {
	start := min(ours[0].Start, theirs[0].Start)
	end := max(ours[len(ours)-1].End, theirs[len(theirs)-1].End)
	oursNew, theirsNew := patch(m.base, start, end, ours), patch(m.base, start, end, theirs)
	if oursNew == theirsNew {
		return
	}
	at := start + m.shift
	m.conflicts = append(m.conflicts, Conflict{
		Base:    lines(m.base, start, end),
		Current: lines(m.current, at, at+len(oursNew)),
	})
}

// patch returns base[start:end] with edits, all inside it, applied.
func patch(base string, start, end int, edits []Edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(base[start:e.Start])
		b.WriteString(e.New)
		start = e.End
	}
	b.WriteString(base[start:end])
	return b.String()
}

// collide reports whether two edits of different sides overlap, or touch where
// they may not. a does not start after b.
func collide(base string, a, b Edit) bool {
	switch {
	case a.End < b.Start:
		return false
	case a.End > b.Start || a.Start == b.End: // overlap, or two insertions at one place
		return true
	}
	return !startsLine(base, b.Start, a) && !endsLine(base, a.End, b)
}

// startsLine reports whether a line starts at the offset at in base and still
// does once a, which ends there, is applied.
func startsLine(base string, at int, a Edit) bool {
	if !isLineStart(base, at) {
		return false
	}
	if a.New == "" {
		return isLineStart(base, a.Start)
	}
	return strings.HasSuffix(a.New, "\n")
}

// endsLine reports whether a line ends at the offset at in base and still does
// once b, which starts there, is applied.
func endsLine(base string, at int, b Edit) bool {
	if !isLineEnd(base[at:]) {
		return false
	}
	if b.New == "" {
		return isLineEnd(base[b.End:])
	}
	return isLineEnd(b.New)
}

func isLineStart(s string, at int) bool { return at == 0 || s[at-1] == '\n' }

// isLineEnd reports whether a line ends where rest starts.
func isLineEnd(rest string) bool {
	return rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n")
}
