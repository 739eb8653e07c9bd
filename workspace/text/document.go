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

// Document is an open document that takes an editor's changes. A change costs
// time in proportion to its own length, wherever it is, and the whole costs at
// most a small constant times the text. It is not safe for concurrent use: even
// String writes to it. The zero value is an empty document.
type Document struct {
	text   string // the whole text; stale when edited
	edited *rope  // the text in pieces, nil until the first change of a range
	stale  bool
}

// NewDocument returns a document that holds s.
func NewDocument(s string) *Document { return &Document{text: s} }

// Apply applies changes in order, each to the text that the one before it left.
// Positions clamp as [OffsetAt] says. A change that is invalid (negative
// numbers, an end before its start, text that is not UTF-8) is an error and
// leaves the document as it was before the first change.
func (d *Document) Apply(changes []Change, enc Encoding) error {
	// What is valid is so in every text, so nothing needs to be taken back.
	for i, c := range changes {
		if err := c.check(); err != nil {
			return fmt.Errorf("applying change %d of %d: %w", i+1, len(changes), err)
		}
	}
	for _, c := range changes {
		if c.Range == nil {
			*d = Document{text: c.Text}
			continue
		}
		if d.edited == nil {
			d.edited = newRope(d.text, ropeLimits{})
		}
		start := d.edited.offset(c.Range.Start, enc)
		end := start
		if c.Range.End != c.Range.Start {
			end = d.edited.offset(c.Range.End, enc)
		}
		d.edited.replace(start, end, c.Text)
		d.text, d.stale = "", true
	}
	return nil
}

// String returns the text. It is put together once after each Apply and kept
// until the next one.
func (d *Document) String() string {
	if d.stale {
		d.text, d.stale = d.edited.String(), false
	}
	return d.text
}

// Len returns the length of the text in bytes.
func (d *Document) Len() int {
	if d.edited != nil {
		return d.edited.total[byBytes]
	}
	return len(d.text)
}
