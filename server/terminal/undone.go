package terminal

import (
	"fmt"
	"strings"

	"sallyport/workspace/turns"
)

// Undone prints what an undo or a redo did, or would do, and what can be done
// about what it left alone.
func (p *Page) Undone(u *turns.Undone, redo bool) error {
	verb, word := "took back", "undo"
	if redo {
		verb, word = "did again", "redo"
	}
	if u.DryRun {
		verb = "would take back"
		if redo {
			verb = "would do again"
		}
	}
	var b strings.Builder
	for _, part := range []struct {
		list []turns.PathState
		mark string
	}{{u.Done, p.paint(green, "✓")}, {u.Already, p.paint(dim, "=")}, {u.Conflicts, p.paint(yellow, "!")}} {
		for _, s := range part.list {
			fmt.Fprintf(&b, "  %s %s%s\n", part.mark, name(s.Path), p.paint(dim, pathWords(s)))
		}
	}
	switch {
	case len(u.Done) > 0:
		fmt.Fprintf(&b, "%s %s of turn %s\n", verb, count(len(u.Done), "file"), u.Of)
	case len(u.Conflicts) > 0:
		fmt.Fprintf(&b, "nothing of turn %s was changed\n", u.Of)
	default:
		fmt.Fprintf(&b, "nothing to do: every file is so already (turn %s)\n", u.Of)
	}
	if n := len(u.Conflicts); n > 0 {
		b.WriteString(p.paint(yellow, count(n, "file")+" left alone") + "\n")
		if forceable(u) {
			fmt.Fprintf(&b, "hint: sallyport %s %s --force takes these, too; what it overwrites is kept\n", word, u.Of)
		}
		fmt.Fprintf(&b, "hint: sallyport %s %s --dry-run shows what would change\n", word, u.Of)
	}
	if u.Turn != "" && !u.DryRun {
		back := "sallyport redo " + u.Of
		if redo {
			back = "sallyport undo " + u.Of
		}
		b.WriteString(p.paint(dim, "hint: "+back+" brings it back") + "\n")
	}
	return p.write(b.String())
}

func forceable(u *turns.Undone) bool {
	for _, s := range u.Conflicts {
		if s.Forceable {
			return true
		}
	}
	return false
}

// pathWords are what is said of a path behind its name.
func pathWords(s turns.PathState) string {
	words := "  " + string(s.Change)
	if s.By != "" {
		words += ", " + string(s.By)
	}
	if s.Buffer {
		words += ", in an open document"
	}
	if s.Why != "" {
		words += ": " + name(s.Why)
	}
	return words
}
