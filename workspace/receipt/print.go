package receipt

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// PrintOptions say how a receipt is printed. The zero value is good.
type PrintOptions struct {
	Width  int            // columns; 0 is 80, at least 40
	Height int            // rows to keep within, as far as may be; 0 is 40
	Colour bool           // with ANSI sequences
	Zone   *time.Location // of the times; nil is UTC
}

// Print writes a receipt for people: one screen, on which lists are cut to what fits. Nothing that comes from a file or an agent reaches
// the terminal but as text.
func (r *Receipt) Print(w io.Writer, o PrintOptions) error {
	p := printer{Receipt: r, zone: o.Zone, screen: screen{width: max(cmp.Or(o.Width, 80), 40), height: cmp.Or(o.Height, 40) - 1, colour: o.Colour}}
	if p.zone == nil {
		p.zone = time.UTC
	}
	rows := p.screen.layout([]section{
		{rows: p.title()},
		{rows: p.posture()},
		p.changes(),
		p.permissions(),
		{rows: p.passed()},
		p.refusals(),
		p.taint(),
		p.alarms(),
		{rows: p.verdicts()},
		{rows: p.tokens()},
		p.skipped(),
		{rows: p.undo()},
	})
	if p.screen.short {
		rows = append(rows, textRow("All", dim, "sallyport receipt "+argument(p.Turn)+" --json"))
	}
	_, err := io.WriteString(w, p.screen.render(rows))
	return err
}

type printer struct {
	*Receipt
	screen screen
	zone   *time.Location
}

// title says who, when and how it ended.
func (p *printer) title() []row {
	what := "Turn " + visible(p.Turn)
	switch p.Kind {
	case Undo:
		what = fmt.Sprintf("Undo %s of turn %s", visible(p.Turn), visible(p.Of))
	case Redo:
		what = fmt.Sprintf("Redo %s of turn %s", visible(p.Turn), visible(p.Of))
	default:
	}
	first := row{label: flush, spans: []span{{style: bold, text: what}}}
	if a := p.Agent; a != nil {
		name := strings.TrimSpace(visible(cmp.Or(a.Name, a.ID)) + " " + visible(a.Version))
		first.spans = append(first.spans, span{text: " by " + name, give: end, least: 20})
		if a.Program != "" {
			first.spans = append(first.spans, span{dim, " (" + visible(a.Program) + ")", middle, 12})
		}
	}
	rows := append([]row{first}, p.screen.wrapped("When", "", p.span(), 2)...)
	where := visible(p.Folder)
	for _, root := range p.Roots {
		where += ", " + visible(root)
	}
	rows = append(rows, row{label: "Where", spans: []span{{"", where, middle, 12}}})
	style := ""
	var ends []string
	if p.End.Interrupted {
		style, ends = red, append(ends, "interrupted: Sallyport ended in mid-turn")
	}
	if reason := visible(p.End.StopReason); reason != "" {
		if other := visible(p.End.AgentStopReason); other != "" && other != reason {
			reason += " (the agent said " + other + ")"
		}
		ends = append(ends, reason)
	}
	if p.End.Error != "" {
		style, ends = red, append(ends, visible(p.End.Error))
	}
	if len(ends) > 0 {
		rows = append(rows, p.screen.wrapped("Ended", style, strings.Join(ends, "; "), 2)...)
	}
	return rows
}

// span is from when to when.
func (p *printer) span() string {
	if p.Started.IsZero() {
		return "not known"
	}
	from, to := p.Started.In(p.zone), p.Ended.In(p.zone)
	s := from.Format("2006-01-02 15:04:05")
	if p.Ended.IsZero() {
		return s + from.Format(" MST")
	}
	layout := "15:04:05 MST"
	if from.Format(time.DateOnly) != to.Format(time.DateOnly) {
		layout = "2006-01-02 15:04:05 MST"
	}
	s += " to " + to.Format(layout)
	if d := p.Ended.Sub(p.Started); d >= 0 {
		return s + " (" + tenths(d) + ")"
	}
	return s + " (the clock went back)"
}

func tenths(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

func (p *printer) at(t time.Time) string { return t.In(p.zone).Format("15:04:05") }

// posture says what the turn was held to: the sentence, the grades, and what held in the end.
func (p *printer) posture() []row {
	h := p.Held
	var rows []row
	name := "Held"
	add := func(style, s string, most int) {
		if s != "" {
			rows = append(rows, p.screen.wrapped(name, style, s, most)...)
			name = ""
		}
	}
	add("", visible(h.Sentence), 3)
	line := grades(h.Posture)
	for _, s := range [][2]string{{"mode", h.Mode}, {"policy", h.Policy}} {
		if s[1] != "" {
			line += "; " + s[0] + " " + visible(s[1])
		}
	}
	add(dim, strings.TrimPrefix(line, "; "), 2)
	if n := len(h.Changes); n > 0 {
		c := h.Changes[n-1]
		add(yellow, "from "+p.at(c.Time)+" on: "+visible(cmp.Or(c.Sentence, grades(c.Posture))), 2)
	}
	return rows
}

// grades is "reads mediated, writes and commands observed".
func grades(p Posture) string {
	type part struct {
		what  []string
		grade string
	}
	var parts []part
	for _, g := range []struct{ what, grade string }{{"reads", p.Reads}, {"writes", p.Writes}, {"commands", p.Commands}} {
		switch n := len(parts); {
		case g.grade == "":
		case n > 0 && parts[n-1].grade == g.grade:
			parts[n-1].what = append(parts[n-1].what, g.what)
		default:
			parts = append(parts, part{[]string{g.what}, g.grade})
		}
	}
	var all []string
	for _, q := range parts {
		all = append(all, strings.Join(q.what, " and ")+" "+visible(q.grade))
	}
	return strings.Join(all, ", ")
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// argument is a text as one word of a command line.
func argument(s string) string {
	v := visible(s)
	for _, r := range v {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/", r)) {
			return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
		}
	}
	return v
}
