package terminal

import (
	"strings"

	"sallyport/workspace/text"
)

// style is an SGR sequence; empty means as it is.
type style string

const (
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	cyan   style = "\x1b[36m"
	reset        = "\x1b[0m"
)

// paint sets s in a style, where there is colour.
func (t *Terminal) paint(st style, s string) string { return painted(t.Colour, st, s) }

func painted(colour bool, st style, s string) string {
	if !colour || st == "" || s == "" {
		return s
	}
	return string(st) + s + reset
}

// plain makes an agent's text harmless and keeps its lines and tabs.
func plain(s string) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = strings.TrimSuffix(line, "\r")
		for j, cell := range strings.Split(line, "\t") {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(text.Visible(cell))
		}
	}
	return b.String()
}

// maxDiffLines is how much of one diff is shown; the rest is counted.
const maxDiffLines = 60

// diff shows a change as a unified diff, indented.
func (t *Terminal) diff(name, old, new string) string {
	lines := strings.Split(strings.TrimSuffix(text.Unified(name, old, new), "\n"), "\n")
	var b strings.Builder
	for i, line := range lines {
		if i == maxDiffLines {
			b.WriteString(t.paint(dim, "    … and "+count(len(lines)-i, "more line")) + "\n")
			break
		}
		b.WriteString("    " + t.paint(styleOf(i, line), plain(line)) + "\n")
	}
	return b.String()
}

// styleOf is the style of the i-th line of a unified diff.
func styleOf(i int, line string) style {
	switch {
	case i < 2: // --- and +++
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	default:
		return ""
	}
}
