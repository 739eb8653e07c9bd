package workspace

import (
	"context"

	"sallyport/workspace/text"
)

// Editor is who holds the unsaved texts: an editor over LSP, or a client over ACP.
type Editor interface {
	// Text gives the open document of a path. False: it is not open. An error: it is open
	// but the editor does not answer; the disk is not asked then. A clean document is
	// compared with the disk by whoever makes it (see Documents).
	Text(ctx context.Context, path string) (Document, bool, error)
	// Apply changes a document in one undo step and saves it if asked to, and answers when
	// both have settled. Nothing is applied unless the document is still as given. Errors:
	// ErrStale, ErrClosed, ErrReadOnly, ErrNotApplied. A document that was changed but could
	// not be saved is no error.
	Apply(ctx context.Context, a Apply) (Applied, error)
}

// Apply is a change that an editor is asked for.
type Apply struct {
	// Document that the edits are for: its version and hash must still hold.
	Document Document
	// Edits of Document.Text, ascending; may be empty when only Save is meant.
	Edits []text.Edit
	// Save the document afterwards.
	Save bool
	// Label of the undo step, for editors that show one.
	Label string
	// Disk says what the edits have to do with the document's file.
	Disk FromDisk
}

// FromDisk says what edits have to do with a document's file.
type FromDisk uint8

// Nothing; the file holds just the result, so that the document has nothing unsaved
// afterwards; the result takes in what the file has become, and holds unsaved text besides,
// so that saving it overwrites nothing unseen.
const (
	Unrelated FromDisk = iota
	Holds
	TakenIn
)

// Applied is what became of it.
type Applied struct {
	// Document when all had settled, after a formatter on save too.
	Document Document
	// Landed: the editor's text was seen to hold the edits, before a save changed it.
	// False: Files looks for them in Document.
	Landed bool
	// Saved: the disk holds Document.
	Saved bool
}

// lister is an Editor that knows its open documents.
type lister interface{ Dirty() []Document }

// loader is an Editor that may load by itself the file of a document in which nothing is
// unsaved. Load gives it the time for that and says whether it has. ErrLeft: it will, but not
// now; hurry says that this is no answer. ErrStale: the document is another by now.
type loader interface {
	Load(ctx context.Context, doc Document, hurry bool) (loaded bool, err error)
}

// taker is an Editor that remembers what was brought into a document: see Documents.TakesIn
// and Documents.TookIn.
type taker interface {
	TakesIn(path, loaded, disk, result string) (end func())
	TookIn(path, loaded, disk string)
}

// waiter is an Editor that can tell when a document changes.
type waiter interface {
	Wait(ctx context.Context, path string, state func(Document) bool) (Document, error)
}
