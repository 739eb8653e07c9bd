package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sallyport/workspace/disk"
	"sallyport/workspace/text"
)

// Refreshed says what became of an open document whose file somebody else has written.
type Refreshed struct {
	// Path as asked for.
	Path   string
	Became Became
	// Hash of the text on disk that was looked at, "" where none was.
	Hash string
}

// Became is what became of a document.
type Became string

// What may become of it. Same: nothing was to be done; it is not open, or is as the disk, or
// the editor was quicker. Reloaded: it has the disk's text and nothing unsaved. Merged: it has
// what the file has become and the user's unsaved text. Left: the editor loads it later. Gone:
// the file is no more, and the document is as it was. Kept: what stands there is no text or
// too large for a document, which is as it was.
const (
	Same     Became = "same"
	Reloaded Became = "reloaded"
	Merged   Became = "merged"
	Left     Became = "left"
	Gone     Became = "gone"
	Kept     Became = "kept"
)

// Refresh brings onto an open document what its file has become since it was loaded or
// saved: somebody wrote it past us. Where nothing is unsaved the document takes on the disk's
// text, in place, as one undo step, and has nothing unsaved afterwards; else it is a three-way
// merge, and stays unsaved. Doing it twice does nothing, nor does it where the editor was
// quicker. Nothing is recorded: the access was not made through us.
//
// The text is for a buffer of the user's, but an agent may have put a link where the file
// was, and may read the buffer later: so what is read passes the fence.
//
// Errors: *ConflictError where the user typed into what the file's change is about: both
// texts are where they were; *fence.Refusal, ErrReadOnly, ErrNotApplied, ErrNotSeen, those of
// disk.Read, ctx's, and the editor's own. After all of them but ErrNotSeen nothing was changed.
func (f *Files) Refresh(ctx context.Context, path string) (Refreshed, error) {
	return f.refresh(ctx, path, true)
}

// RefreshLater is Refresh where nobody waits for it: a document with nothing unsaved is left
// to an editor that loads it by itself when the user next looks at it.
func (f *Files) RefreshLater(ctx context.Context, path string) (Refreshed, error) {
	return f.refresh(ctx, path, false)
}

func (f *Files) refresh(ctx context.Context, path string, hurry bool) (Refreshed, error) {
	r := Refreshed{Path: path, Became: Same}
	p := f.Queue(path)
	defer p.Leave()
	if err := p.Wait(ctx); err != nil {
		return r, fmt.Errorf("refreshing %s: %w", path, err)
	}
	for range maxStale {
		doc, open, err := f.document(ctx, p.key, f.Policy.CheckRead)
		if err != nil || !open || !doc.Loaded.Known {
			return r, err
		}
		switch {
		case doc.Loaded.Unlike == Missing:
			r.Became = Gone
			return r, nil
		case doc.Loaded.Unlike != "":
			r.Became = Kept
			return r, nil
		case !doc.FileChanged():
			return r, nil
		}
		err = f.bring(ctx, doc, p.key, hurry, &r)
		if !errors.Is(err, ErrStale) && !errors.Is(err, ErrClosed) {
			return r, err
		}
		if err := f.moved(ctx, doc, p.key); err != nil {
			return r, err
		}
	}
	return r, fmt.Errorf("refreshing %s, which keeps changing: %w", path, ErrStale)
}

// bring reads the file of a document and brings it in.
func (f *Files) bring(ctx context.Context, doc Document, path string, hurry bool, r *Refreshed) error {
	if err := f.Policy.CheckRead(path); err != nil {
		return err // nor is the editor roused to load it
	}
	if editor, ok := f.Editor.(loader); ok && !doc.Dirty {
		loaded, err := editor.Load(ctx, doc, hurry)
		switch {
		case errors.Is(err, ErrLeft):
			r.Became = Left
			return nil
		case loaded:
			r.Became = Reloaded
			return nil
		case err != nil:
			return err
		}
	}
	file, err := f.written(ctx, path)
	var notText *disk.NotTextError
	var large *disk.TooLargeError
	var special *disk.SpecialError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was never there, or is just being replaced
	case errors.As(err, &notText), errors.As(err, &large), errors.As(err, &special):
		r.Became = Kept
		return nil
	case err != nil:
		return err
	}
	r.Hash = file.Hash
	if doc.Dirty {
		return f.takeIn(ctx, doc, path, file, r)
	}
	return f.load(ctx, doc, path, file, r)
}

const (
	// beingWritten is how young a file's last change may be while it may still be written:
	// many programs empty a file before they write it.
	beingWritten = 50 * time.Millisecond
	// doubted is how often what is empty, or no text, is looked at again before it is believed.
	doubted = 4
	// maxWritten bounds how often a file is read again that is being written.
	maxWritten = 10
)

// written reads a file that somebody else writes, when that seems to be done.
func (f *Files) written(ctx context.Context, path string) (disk.File, error) {
	for round := range maxWritten {
		file, err := disk.Read(f.Policy, path, disk.Window{Max: f.MaxRead})
		var notText *disk.NotTextError // perhaps half a letter
		doubtful := round < doubted && (err == nil && file.Text == "" || errors.As(err, &notText))
		age := time.Since(file.ModTime)
		if !doubtful && (err != nil || age > beingWritten || age < -beingWritten) {
			return file, err
		}
		timer := time.NewTimer(beingWritten)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return disk.File{}, ctx.Err()
		}
	}
	return disk.File{}, fmt.Errorf("refreshing %s: it is still being written", path)
}

// load has a document with nothing unsaved take on the text of its file.
func (f *Files) load(ctx context.Context, doc Document, path string, file disk.File, r *Refreshed) error {
	buffer := strings.TrimPrefix(doc.Text, mark)
	want := spelled(file.Text, buffer)
	edits := text.Diff(buffer, want)
	if len(edits) == 0 { // only its line endings are others
		r.Became = Left
		return nil
	}
	if err := f.edit(ctx, doc, path, brought{edits, Holds, want, want}); err != nil {
		return err
	}
	r.Became = Reloaded
	return nil
}

// brought is a change that brings the text of a file into a document.
type brought struct {
	edits  []text.Edit // of the document's text without byte order mark, as all here
	how    FromDisk
	disk   string // the file's text
	result string // the document's
}

// edit makes such a change, and notes that the document holds the text that its file had,
// whatever that has by now.
func (f *Files) edit(ctx context.Context, doc Document, path string, b brought) error {
	head := doc.Text[:len(doc.Text)-len(strings.TrimPrefix(doc.Text, mark))]
	key, loaded := keyFor(doc, path), strings.TrimPrefix(doc.Loaded.Text, mark)
	editor, remembers := f.Editor.(taker)
	if len(b.edits) > 0 {
		if remembers {
			defer editor.TakesIn(key, loaded, b.disk, head+b.result)()
		}
		for i := range b.edits {
			b.edits[i].Start, b.edits[i].End = b.edits[i].Start+len(head), b.edits[i].End+len(head)
		}
		applied, err := f.Editor.Apply(ctx, Apply{Document: doc, Edits: b.edits, Label: "from the disk", Disk: b.how})
		if err != nil {
			return f.notApplied(ctx, doc, path, err)
		}
		if !applied.Landed && !Landed(doc.Text, applied.Document.Text, b.result) {
			return fmt.Errorf("refreshing %s: %w", path, ErrNotSeen)
		}
	}
	if remembers {
		editor.TookIn(key, loaded, b.disk)
	}
	return nil
}

// takeIn merges what the file has become into unsaved text.
func (f *Files) takeIn(ctx context.Context, doc Document, path string, file disk.File, r *Refreshed) error {
	buffer, base := strings.TrimPrefix(doc.Text, mark), strings.TrimPrefix(doc.Loaded.Text, mark)
	if sameLoaded(base, file.Text) {
		return nil
	}
	want := spelled(file.Text, buffer)
	edits, err := text.Rebase(spelled(base, buffer), buffer, want)
	var conflict *text.ConflictError
	if errors.As(err, &conflict) {
		return &ConflictError{Path: path, Err: conflict}
	}
	if err != nil {
		return fmt.Errorf("refreshing %s: %w", path, err)
	}
	result, err := text.Apply(buffer, edits)
	if err != nil {
		return fmt.Errorf("refreshing %s: %w", path, err)
	}
	if err := f.edit(ctx, doc, path, brought{edits, TakenIn, want, result}); err != nil {
		return err
	}
	if len(edits) > 0 {
		r.Became = Merged
	}
	return nil
}

// spelled gives a text the line endings of a buffer that has only one kind.
func spelled(s, buffer string) string {
	switch text.EndingOf(buffer) {
	case text.CRLF:
		s, _ = crlf(s)
	case text.LF:
		s = strings.ReplaceAll(s, "\r\n", "\n")
	default:
	}
	return s
}
