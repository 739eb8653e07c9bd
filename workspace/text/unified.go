package text

import (
	"fmt"
	"strings"
)

// unifiedContext is the number of equal lines around a change.
const unifiedContext = 3

// Unified returns the difference of two texts in unified format, for people and
// for patch(1), with three lines around each change; "" when they are equal. An
// empty text is named /dev/null, as that of a file that is made or removed.
//
// The lines are shown as they are, with whatever controls are in them: before a
// terminal they go through [Visible], line by line.
func Unified(name, old, new string) string {
	if old == new {
		return ""
	}
	p := pair{old, new}
	u := unified{old: splitLines(old), new: splitLines(new)}
	for _, s := range p.slide(p.lines(), p.all()) {
		u.spans = append(u.spans, span{u.old.index(s.a0), u.old.index(s.a1), u.new.index(s.b0), u.new.index(s.b1)})
	}
	for _, n := range []struct{ mark, text string }{{"---", old}, {"+++", new}} {
		shown := name
		if n.text == "" {
			shown = "/dev/null"
		}
		fmt.Fprintf(&u.out, "%s %s\n", n.mark, shown)
	}
	for len(u.spans) > 0 {
		u.hunk()
	}
	return u.out.String()
}

// lineList is the lines of a text. index is asked for ascending offsets only.
type lineList struct {
	lines   []string
	at, pos int // the line reached, its offset
}

func splitLines(s string) *lineList {
	l := &lineList{lines: make([]string, 0, strings.Count(s, "\n")+1)}
	for line := range strings.Lines(s) {
		l.lines = append(l.lines, line)
	}
	return l
}

// index returns the number of the line that starts at offset.
func (l *lineList) index(offset int) int {
	for l.pos < offset && l.at < len(l.lines) {
		l.pos += len(l.lines[l.at])
		l.at++
	}
	return l.at
}

// unified writes hunks; its spans count lines, from 0.
type unified struct {
	old, new *lineList
	spans    []span
	out      strings.Builder
}

// hunk writes the first spans whose contexts meet, and drops them.
func (u *unified) hunk() {
	n := 1
	for n < len(u.spans) && u.spans[n].a0-u.spans[n-1].a1 <= 2*unifiedContext {
		n++
	}
	spans := u.spans[:n]
	u.spans = u.spans[n:]
	first, last := spans[0], spans[n-1]
	before := min(unifiedContext, first.a0)
	after := min(unifiedContext, len(u.old.lines)-last.a1)
	fmt.Fprintf(&u.out, "@@ -%s +%s @@\n",
		hunkRange(first.a0-before, last.a1+after), hunkRange(first.b0-before, last.b1+after))
	at := first.a0 - before
	for _, s := range spans {
		u.write(" ", u.old.lines[at:s.a0])
		u.write("-", u.old.lines[s.a0:s.a1])
		u.write("+", u.new.lines[s.b0:s.b1])
		at = s.a1
	}
	u.write(" ", u.old.lines[at:last.a1+after])
}

func (u *unified) write(mark string, lines []string) {
	for _, line := range lines {
		u.out.WriteString(mark)
		u.out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			u.out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// hunkRange writes lines from..to, counted from 0, as unified format wants
// them: first line and count; the line before when there are none, and no count
// of one.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
}
