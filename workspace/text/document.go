package text

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Change is one change of a document as an editor sends it: the text of Range
// becomes Text; without a Range the whole document does. LSP 3.17,
// TextDocumentContentChangeEvent.
type Change struct {
	Range *Range
	Text  string
}

// check reports what makes c meaningless whatever the document.
func (c Change) check() error {
	if !utf8.ValidString(c.Text) {
		return errors.New("text is not UTF-8")
	}
	if c.Range == nil {
		return nil
	}
	start, end := c.Range.Start, c.Range.End
	if start.Line < 0 || start.Character < 0 || end.Line < 0 || end.Character < 0 {
		return fmt.Errorf("negative position in range %v", *c.Range)
	}
	if end.before(start) {
		return fmt.Errorf("range %v ends before it starts", *c.Range)
	}
	return nil
}

// Document is an open document that takes an editor's changes. It is not safe
// for concurrent use.
type Document struct {
	s string
}

// NewDocument returns a document that holds s.
func NewDocument(s string) *Document { return &Document{s: s} }

// Apply applies changes in order, each to the text that the one before it left.
// Positions clamp as [OffsetAt] says. A change that is invalid (negative
// numbers, an end before its start, text that is not UTF-8) is an error and
// leaves the document as it was before the first change.
func (d *Document) Apply(changes []Change, enc Encoding) error {
	for i, c := range changes {
		if err := c.check(); err != nil {
			return fmt.Errorf("applying change %d of %d: %w", i+1, len(changes), err)
		}
	}
	for _, c := range changes {
		if c.Range == nil {
			d.s = c.Text
			continue
		}
		start, end := OffsetAt(d.s, c.Range.Start, enc), OffsetAt(d.s, c.Range.End, enc)
		d.s = d.s[:start] + c.Text + d.s[end:]
	}
	return nil
}

// String returns the text.
func (d *Document) String() string { return d.s }

// Len returns the length of the text in bytes.
func (d *Document) Len() int { return len(d.s) }
