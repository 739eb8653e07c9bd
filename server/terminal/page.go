package terminal

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// Page prints what is on the record: turns, what they changed, what an undo did.
type Page struct {
	Out    io.Writer
	Colour bool
	// Screen: a person looks at Out, so nothing in a file acts on it. Otherwise
	// texts are written as they are: a diff is for patch(1), too.
	Screen bool
	// Folders: rows of several projects are printed, each under its folder.
	Folders bool
}

func (p *Page) paint(st style, s string) string { return painted(p.Colour, st, s) }

// text is a text of a file as it may be written.
func (p *Page) text(s string) string {
	if p.Screen {
		return plain(s)
	}
	return s
}

// name is a path or another word as it may be written within a line.
func name(s string) string { return plain(strings.ReplaceAll(s, "\n", "⏎")) }

// Turns prints a line for each row, the newest first.
func (p *Page) Turns(rows []turns.Row) error {
	ids, whos := 0, 0
	for _, r := range rows {
		ids, whos = max(ids, len(r.Turn)), max(whos, len(who(r)))
	}
	var b strings.Builder
	folder := ""
	if p.Folders {
		slices.SortStableFunc(rows, func(a, b turns.Row) int { return cmp.Compare(a.Folder, b.Folder) })
	}
	for _, r := range rows {
		if p.Folders && r.Folder != folder {
			if folder != "" {
				b.WriteByte('\n')
			}
			folder = r.Folder
			b.WriteString(p.paint(bold, name(folder)) + "\n")
		}
		words, st := stateOf(r)
		fmt.Fprintf(&b, "%s  %s  %-*s  %9s  %s\n", p.paint(cyan, fmt.Sprintf("%-*s", ids, r.Turn)), moment(r.Started), whos, who(r),
			count(r.Changed, "file"), p.paint(st, words))
	}
	return p.write(b.String())
}

// who did it.
func who(r turns.Row) string {
	if r.Kind != receipt.Turn {
		return string(r.Kind)
	}
	return name(r.Agent)
}

// moment is a time in twelve columns, without the year where it is of the last
// months.
func moment(t time.Time) string {
	const recent = 180 * 24 * time.Hour
	if time.Since(t) > recent {
		return t.Local().Format("2006-01-02  ")
	}
	return t.Local().Format("02 Jan 15:04")
}

// stateOf is what can be done with a turn, in words.
func stateOf(r turns.Row) (words string, st style) {
	switch {
	case r.Running:
		words, st = "is running", yellow
	case r.Undone:
		words, st = "undone", dim
	case r.Kind != receipt.Turn:
		words, st = "of "+r.Of, dim
	case r.Undoable:
		words, st = "can be undone", green
	case r.Changed == 0 && r.Why == "":
		words, st = "changed nothing", dim
	default:
		words, st = "cannot be undone: "+cmp.Or(name(r.Why), "nothing of it is kept"), yellow
	}
	if r.Interrupted {
		words = "interrupted, " + words
	}
	return words, st
}

// Head prints what a record is, in one line.
func (p *Page) Head(r turns.Row) error {
	s := string(r.Kind) + " " + r.Turn
	switch {
	case r.Of != "":
		s += " of " + r.Of
	case r.Agent != "":
		s += " by " + name(r.Agent)
	}
	s += ", " + strings.TrimSpace(moment(r.Started)) + ": " + count(r.Changed, "file")
	if by := attributions(r.ByAttribution); by != "" {
		s += " (" + by + ")"
	}
	if r.Interrupted {
		s += ", interrupted"
	}
	return p.write(p.paint(bold, s) + "\n")
}

// attributions are the numbers of changes by whose they are.
func attributions(by map[receipt.Attribution]int) string {
	var parts []string
	for _, a := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%d %s", by[a], a))
	}
	return strings.Join(parts, ", ")
}

// Diffs prints the changes of each file.
func (p *Page) Diffs(files []turns.FileDiff) error {
	for _, f := range files {
		var b strings.Builder
		b.WriteString("\n" + p.paint(bold, name(f.Path)) + ": " + f.Kind + ", " + string(f.By))
		for _, more := range sides(f) {
			b.WriteString(", " + more)
		}
		b.WriteByte('\n')
		lines := strings.SplitAfter(f.Unified, "\n")
		for i, line := range lines {
			text, end := strings.CutSuffix(line, "\n")
			b.WriteString(p.paint(styleOf(i, text), p.text(text)))
			if end {
				b.WriteByte('\n')
			}
		}
		if f.Unified != "" && !strings.HasSuffix(f.Unified, "\n") {
			b.WriteByte('\n')
		}
		if err := p.write(b.String()); err != nil {
			return err
		}
	}
	return nil
}

// sides is what of a change is no difference of lines.
func sides(f turns.FileDiff) (all []string) {
	if a, b := f.Before.Mode, f.After.Mode; a != b && a != "" && b != "" {
		all = append(all, "mode "+a+" → "+b)
	}
	if a, b := f.Before.Target, f.After.Target; a != b {
		all = append(all, "link "+cmp.Or(name(a), "none")+" → "+cmp.Or(name(b), "none"))
	}
	if a, b := f.Before.Kind, f.After.Kind; f.Kind == receipt.TypeChanged {
		all = append(all, a+" → "+b)
	}
	if f.Binary {
		all = append(all, fmt.Sprintf("no text, %s → %s", bytes(f.Before), bytes(f.After)))
	}
	if f.Omitted != "" {
		all = append(all, "not shown: "+name(f.Omitted))
	}
	if f.Buffer {
		all = append(all, "in an open document")
	}
	return all
}

func bytes(s turns.Side) string {
	if s.Size < 0 {
		return "unknown size"
	}
	return count(int(s.Size), "byte")
}

// Stat prints a line for each file, and the sum.
func (p *Page) Stat(files []turns.FileDiff) error {
	wide := 0
	for _, f := range files {
		wide = max(wide, len([]rune(name(f.Path))))
	}
	var b strings.Builder
	plus, minus := 0, 0
	for _, f := range files {
		in, out := lines(f.Unified)
		plus, minus = plus+in, minus+out
		shown := name(f.Path)
		pad := strings.Repeat(" ", wide-len([]rune(shown)))
		fmt.Fprintf(&b, " %s%s  %-8s  %-8s  %s %s", shown, pad, f.Kind, f.By, p.paint(green, fmt.Sprintf("+%d", in)), p.paint(red, fmt.Sprintf("-%d", out)))
		if more := sides(f); len(more) > 0 {
			b.WriteString("  " + strings.Join(more, ", "))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, " %s changed, %s, %s\n", count(len(files), "file"), count(plus, "insertion"), count(minus, "deletion"))
	return p.write(b.String())
}

// lines counts what a unified diff adds and takes away.
func lines(unified string) (plus, minus int) {
	i := 0
	for line := range strings.Lines(unified) {
		switch {
		case i < 2: // --- and +++
		case line[0] == '+':
			plus++
		case line[0] == '-':
			minus++
		}
		i++
	}
	return plus, minus
}

func (p *Page) write(s string) error {
	_, err := io.WriteString(p.Out, s)
	return err
}
