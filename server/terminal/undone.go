package terminal

import (
	"fmt"
	"strings"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// maxChanged is how many files are listed at the end of a turn.
const maxChanged = 20

// changed says what a turn changed and how to take it back.
func (t *Terminal) changed(r bridge.TurnResult) {
	for _, v := range r.Verifier {
		words := "check " + name(v.Name) + ": " + v.Outcome
		if v.Why != "" {
			words += ", " + name(v.Why)
		}
		st := yellow
		if v.Outcome == receipt.Passed {
			st = green
		}
		t.Line(t.paint(st, words))
	}
	if r.Changed == 0 {
		return
	}
	t.Line(count(r.Changed, "file") + " changed:")
	for _, c := range r.Changes[:min(maxChanged, len(r.Changes))] {
		words := "  " + c.Kind + ", " + string(c.By)
		if c.Buffer {
			words += ", in an open document"
		}
		t.Line("  " + name(c.Path) + t.paint(dim, words))
	}
	if more := r.Changed - min(maxChanged, len(r.Changes)); more > 0 {
		t.Line(t.paint(dim, fmt.Sprintf("  … and %d more: sallyport show %s", more, r.Turn)))
	}
	if r.Undoable {
		t.Line("undo: sallyport undo " + r.Turn)
	}
}

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
		fmt.Fprintf(&b, "%s %s of turn %s\n", verb, countFiles(u.Done), u.Of)
	case len(u.Conflicts) > 0:
		fmt.Fprintf(&b, "nothing of turn %s was changed\n", u.Of)
	default:
		fmt.Fprintf(&b, "nothing to do: every file is so already (turn %s)\n", u.Of)
	}
	if len(u.Conflicts) > 0 {
		b.WriteString(p.paint(yellow, countFiles(u.Conflicts)+" left alone") + "\n")
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

// countFiles counts paths. One that changed on the disk and in its open document
// is listed twice.
func countFiles(list []turns.PathState) string {
	seen := map[[2]string]bool{}
	for _, p := range list {
		seen[[2]string{p.Root, p.Path}] = true
	}
	return count(len(seen), "file")
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
