package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"sallyport/workspace/text"
)

// The styles of a screen, as ANSI sequences.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// label is how many columns stand left of the text of a section.
const label = 9

// span is a text in one style; "" is none. When its row is too wide it may give way: with end at its end, with
// middle in its middle, since the end of a path says most. It keeps least columns; with 0 it may go.
type span struct {
	style string
	text  string
	give  give
	least int
}

type give int

const (
	rigid  give = iota
	end         // gives way first
	middle      // gives way after those
)

// row is a line of a screen.
type row struct {
	label string // of the section, in its first row; flush: there is no room for one
	spans []span
	entry bool // of a list; not a title in it
}

const flush = "flush"

func textRow(label, style, s string) row {
	return row{label: label, spans: []span{{style: style, text: s}}}
}

// section is a part of a screen. Its rows are shown whole, and of its list as much as fits.
type section struct {
	rows []row
	list []row
	cut  int    // entries that the receipt itself no longer lists
	many int    // rows that the list gets in the time another gets one; 0 is 1
	sum  string // what stands for a list of which nothing is shown; "" is how many there are
}

// screen lays sections out.
type screen struct {
	width  int
	height int
	colour bool
	short  bool // something is not shown
}

// layout gives the rows that fit.
func (s *screen) layout(sections []section) []row {
	left := s.height
	for _, sec := range sections {
		left -= len(sec.rows)
	}
	shown := make([]int, len(sections))
	for grown := true; grown; {
		grown = false
		for i, sec := range sections {
			for range max(sec.many, 1) {
				if want := sec.wanted(); shown[i] < want && (left > 0 || shown[i] == 0) {
					shown[i]++
					left--
					grown = true
				}
			}
		}
	}
	var out []row
	for i, sec := range sections {
		out = append(out, sec.rows...)
		out = append(out, s.fitted(sec, shown[i])...)
	}
	return out
}

// wanted is how many rows the list would take.
func (sec section) wanted() int {
	if sec.cut > 0 {
		return len(sec.list) + 1
	}
	return len(sec.list)
}

// fitted is a list in so many rows; the last says what is missing.
func (s *screen) fitted(sec section, rows int) []row {
	if rows == len(sec.list) && sec.cut == 0 {
		return sec.list
	}
	keep := max(rows-1, 0)
	if keep > 0 && !sec.list[keep-1].entry && keep > 1 { // a title of which nothing is shown
		keep--
	}
	missing := sec.cut
	for _, r := range sec.list[keep:] {
		if r.entry {
			missing++
		}
	}
	rest := textRow("", dim, fmt.Sprintf("… and %d more", missing))
	if keep == 0 && len(sec.list) > 0 {
		rest.label = sec.list[0].label
		rest.spans[0].text = cmp.Or(sec.sum, fmt.Sprintf("… %d", missing))
	}
	s.short = true
	return append(slices.Clone(sec.list[:keep]), rest)
}

// render is the rows as text.
func (s *screen) render(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		s.line(&b, r)
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *screen) line(b *strings.Builder, r row) {
	room := s.width
	if r.label != flush {
		s.span(b, span{style: bold, text: pad(r.label, label)})
		room -= label
	}
	spans := slices.Clone(r.spans)
	over := -room
	for _, p := range spans {
		over += columns(p.text)
	}
	for _, how := range []give{end, middle} {
		for i := len(spans) - 1; i >= 0 && over > 0; i-- {
			p := &spans[i]
			if p.give != how {
				continue
			}
			was := columns(p.text)
			switch most := max(p.least, was-over); {
			case p.least == 0 && most < 12: // too little to say anything
				p.text = ""
			case how == middle:
				p.text = squeeze(p.text, most)
			default:
				p.text = shorten(p.text, most)
			}
			over -= was - columns(p.text)
		}
	}
	for _, p := range spans {
		p.text = shorten(p.text, room)
		room -= columns(p.text)
		s.span(b, p)
	}
}

func (s *screen) span(b *strings.Builder, p span) {
	if !s.colour || p.style == "" || strings.TrimSpace(p.text) == "" {
		b.WriteString(p.text)
		return
	}
	b.WriteString(p.style + p.text + reset)
}

// wrapped is a text over several rows, at most most of them.
func (s *screen) wrapped(name, style, words string, most int) []row {
	room := max(s.width-label, 10)
	var rows []row
	line := ""
	add := func() {
		rows = append(rows, textRow(name, style, line))
		name, line = "", ""
	}
	for _, word := range strings.Fields(words) {
		if line != "" && columns(line)+1+columns(word) > room {
			if len(rows) == most-1 {
				line += " …"
				break
			}
			add()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	add()
	return rows
}

// columns is how wide a text is on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x7F:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// shorten cuts the end of a text that is too wide.
func shorten(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeColumns(r); n > most-1 {
			if most < 1 {
				return ""
			}
			return s[:i] + "…"
		}
	}
	return s
}

// squeeze cuts the middle of a text that is too wide: the end of a path says most.
func squeeze(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	tail := (most - 1) * 2 / 3
	head := most - 1 - tail
	runes := []rune(s)
	from := len(runes)
	for n := 0; from > 0; from-- {
		if n += runeColumns(runes[from-1]); n > tail {
			break
		}
	}
	to := 0
	for n := 0; to < from; to++ {
		if n += runeColumns(runes[to]); n > head {
			break
		}
	}
	return string(runes[:to]) + "…" + string(runes[from:])
}

func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-columns(s))) }

// visible is a text from a file, fit for a terminal.
func visible(s string) string { return text.Visible(s) }
