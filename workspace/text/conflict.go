package text

import (
	"fmt"
	"strings"
)

// Lines is a stretch of lines, both ends included, numbered from 1 as
// [Window] numbers them.
type Lines struct{ First, Last int }

func (l Lines) String() string {
	if l.First == l.Last {
		return fmt.Sprintf("line %d", l.First)
	}
	return fmt.Sprintf("lines %d-%d", l.First, l.Last)
}

// Conflict is one place that both sides changed differently.
type Conflict struct {
	Base    Lines // in the text that both started from
	Current Lines // the same place in the current text
}

// ConflictError says that an edit cannot be brought onto the current text
// without losing some of it. It always holds at least one conflict; they are
// ascending.
type ConflictError struct {
	Conflicts []Conflict
}

// conflictsShown is how many conflicts an error message lists.
const conflictsShown = 3

// Error names the lines of the current text.
func (e *ConflictError) Error() string {
	var b strings.Builder
	for i, c := range e.Conflicts {
		if i == conflictsShown {
			fmt.Fprintf(&b, " and %d more", len(e.Conflicts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Current.String())
	}
	return b.String() + " changed on both sides since the text was read"
}

// lines returns the lines that s[start:end] touches.
func lines(s string, start, end int) Lines {
	first := lineAt(s, start)
	return Lines{first, first + strings.Count(s[start:max(start, end-1)], "\n")}
}
