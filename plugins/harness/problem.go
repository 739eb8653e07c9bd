package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is how bad a problem is.
type Severity string

// The severities. With an Error something that was written does not work as
// written; a Warning is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Consequence is what a problem leads to: always the narrowest that is safe.
type Consequence string

// The consequences.
const (
	Kept    Consequence = "kept"    // nothing: it is used as it is
	Ignored Consequence = "ignored" // the field is read as if it were not there
	Skipped Consequence = "skipped" // the harness is left out, its siblings stay
	Refused Consequence = "refused" // the whole manifest is left out
)

// Place is where in a manifest a problem is.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // 1-based; 0 when the file could not be read
	Column int    `json:"column"` // 1-based, in characters
	Field  string `json:"field"`  // JSON pointer (RFC 6901); "" is the document
}

// Problem is one thing wrong with a manifest.
type Problem struct {
	Place       `json:",embed"`
	Code        string      `json:"code"`    // stable, for programs: unknown-field, wrong-type, …
	Message     string      `json:"message"` // what is wrong, one sentence without full stop
	Remedy      string      `json:"remedy"`  // what to write instead
	Severity    Severity    `json:"severity"`
	Consequence Consequence `json:"consequence"`
}

// String is the problem on two lines, as a person reads it.
func (p Problem) String() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Field != "" {
		where += ": " + visible(p.Field)
	}
	return fmt.Sprintf("%s: %s: %s (%s)\nhint: %s", where, p.Severity, p.Message, p.Consequence, p.Remedy)
}

// maxProblems bounds the report of one manifest; one more says how many were
// left out.
const maxProblems = 100

// problems collects what is wrong with one manifest.
type problems struct {
	file string
	data []byte
	list []placed
}

type placed struct {
	offset int
	Problem
}

func (ps *problems) add(at place, p Problem) {
	p.File, p.Field = ps.file, at.field
	ps.list = append(ps.list, placed{at.offset, p})
}

// done returns the problems in the order of the file, bounded.
func (ps *problems) done() []Problem {
	slices.SortStableFunc(ps.list, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	if n := len(ps.list) - maxProblems; n > 0 {
		last := ps.list[maxProblems]
		last.Field, last.Code = "", "too-many-problems"
		last.Message = fmt.Sprintf("%d more problems are not listed", n)
		last.Remedy, last.Severity, last.Consequence = "mend the first ones", Warning, Kept
		ps.list = append(ps.list[:maxProblems:maxProblems], last)
	}
	var out []Problem
	for _, p := range ps.list {
		p.Line, p.Column = lineOf(ps.data, p.offset)
		out = append(out, p.Problem)
	}
	return out
}

// refused is the error for a manifest that cannot be used at all: the first
// problem that refuses it.
func refused(list []Problem) error {
	for _, p := range list {
		if p.Consequence == Refused {
			return fmt.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
	return nil
}

// visible makes controls and text-direction marks visible and cuts long text,
// so that a manifest cannot draw on the terminal that reports its problems.
func visible(s string) string {
	const limit = 120
	var b strings.Builder
	for i, r := range s {
		if i >= limit {
			b.WriteString("…")
			break
		}
		if hidden(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted is visible text between quotes.
func quoted(s string) string { return `"` + visible(s) + `"` }

// hidden reports whether r does something else than being seen: controls, and
// the marks that change the direction of text.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xfeff, r == 0x2028, r == 0x2029:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return r != 0x200d && r != 0x200c // joiners are part of words and emoji
	}
	return false
}
