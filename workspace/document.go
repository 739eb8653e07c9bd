package workspace

import "errors"

// Document is an immutable view of an open document at one moment.
type Document struct {
	// URI in the editor's own spelling, for answers to it.
	URI string
	// Path is plain, absolute and cleaned; empty when the URI names no file.
	Path       string
	LanguageID string
	Version    int32
	// Text as the editor has it: with its own line endings, U+FEFF when it keeps one.
	Text string
	// Hash of Text, as text.Hash makes it.
	Hash string
	// Dirty: Text differs from what was last loaded or saved and from the disk. An editor
	// that cannot tell says true: then its text always wins over the disk.
	Dirty bool
	// Loaded is what the document was before the user changed it.
	Loaded Loaded
}

// FileChanged reports whether the document's file is not known to be what the document was
// last loaded from or saved as.
func (d Document) FileChanged() bool {
	return d.Loaded.Behind || d.Loaded.Unlike != "" || d.Dirty && !d.Loaded.Current
}

// Untitled: the document has no file yet.
func (d Document) Untitled() bool { return d.Path == "" }

// Loaded says what a document was last loaded from or saved as.
type Loaded struct {
	// Known: Text is meaningful. Editors that keep no mirror do not know.
	Known bool
	// Text that was loaded or saved, in the editor's spelling; "" for a file that was not there.
	Text string
	// Current: the file has that text still, or is not there still.
	Current bool
	// Behind: the document is clean and the disk has newer text, which is the truth.
	Behind bool
	// Unlike: the file that the document came from has no text any more; empty when it has.
	Unlike Unlike
}

// Unlike is why a file has no text to be compared with its document.
type Unlike string

// What may stand where a document's file was: nothing, what is not UTF-8 text, or what is
// not read for that (a folder, a device, more than 64 MiB).
const (
	Missing     Unlike = "missing"
	NotText     Unlike = "not text"
	NotCompared Unlike = "not compared"
)

// What an editor may answer. An Editor wraps them.
var (
	// ErrStale: the document is no longer as the edits expect; nothing was applied.
	ErrStale = errors.New("the document has changed meanwhile")
	// ErrClosed: the document is not open.
	ErrClosed = errors.New("the document is not open")
	// ErrReadOnly: the editor does not let the document be changed.
	ErrReadOnly = errors.New("the document is read-only in the editor")
	// ErrNotApplied: the editor refused the edits for another reason; nothing was applied.
	ErrNotApplied = errors.New("the editor did not apply the edits")
	// ErrLeft: the editor loads the document's file again when the user next looks at it.
	ErrLeft = errors.New("the editor will load the file later")
	// ErrOutOfStep: the editor sent a change that cannot be, so its text is not known until
	// it sends the whole of it or opens the document anew.
	ErrOutOfStep = errors.New("the editor's text is not known")
)
