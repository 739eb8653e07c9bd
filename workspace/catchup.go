package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sallyport/workspace/disk"
	"sallyport/workspace/text"
)

// CatchUp brings onto an open document with unsaved text what its file has become since
// it was loaded or saved: an agent wrote it with its own tools. It is a three-way merge and
// one undo step, and the document stays unsaved. caught says whether anything was changed:
// a clean document is loaded again by its editor, and one that is not open needs nothing.
// Nothing is recorded: the access was the agent's own.
//
// Errors: *ConflictError where the user typed into what the file's change is about,
// *fence.Refusal, ErrReadOnly, ErrNotApplied, ErrNotSeen, those of disk.Read, ctx's, and the
// editor's own. After all of them but ErrNotSeen nothing was changed.
func (f *Files) CatchUp(ctx context.Context, path string) (caught bool, err error) {
	p := f.Queue(path)
	defer p.Leave()
	if err := p.Wait(ctx); err != nil {
		return false, fmt.Errorf("catching up with %s: %w", path, err)
	}
	if err := f.Policy.CheckWrite(path); err != nil {
		return false, err
	}
	for range maxStale {
		doc, open, err := f.document(ctx, p.key, f.Policy.CheckWrite)
		if err != nil || !open || !doc.Dirty || !doc.Loaded.Known {
			return false, err
		}
		caught, err = f.catchUp(ctx, doc, p.key)
		if !errors.Is(err, ErrStale) && !errors.Is(err, ErrClosed) {
			return caught, err
		}
		if err := f.moved(ctx, doc, p.key); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("catching up with %s, which keeps changing: %w", path, ErrStale)
}

func (f *Files) catchUp(ctx context.Context, doc Document, path string) (bool, error) {
	file, err := disk.Read(f.Policy, path, disk.Window{Max: f.MaxRead})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was taken away: the buffer is all there is
	}
	if err != nil {
		return false, err
	}
	buffer, base := strings.TrimPrefix(doc.Text, mark), strings.TrimPrefix(doc.Loaded.Text, mark)
	seen := keyFor(doc, path) + "\x00" + text.Hash(doc.Loaded.Text)
	if caught, ok := f.bases.get(seen); ok { // since then neither saved nor loaded
		base = caught
	}
	if sameLoaded(base, file.Text) {
		return false, nil
	}
	want := spelled(file.Text, buffer)
	edits, err := text.Rebase(spelled(base, buffer), buffer, want)
	var conflict *text.ConflictError
	if errors.As(err, &conflict) {
		return false, &ConflictError{Path: path, Err: conflict}
	}
	if err != nil {
		return false, fmt.Errorf("catching up with %s: %w", path, err)
	}
	result, err := text.Apply(buffer, edits)
	if err != nil {
		return false, fmt.Errorf("catching up with %s: %w", path, err)
	}
	if len(edits) > 0 {
		skip := len(doc.Text) - len(buffer)
		for i := range edits {
			edits[i].Start, edits[i].End = edits[i].Start+skip, edits[i].End+skip
		}
		applied, err := f.Editor.Apply(ctx, Apply{Document: doc, Edits: edits, Label: "by the agent"})
		if err != nil {
			return false, f.notApplied(ctx, doc, path, err)
		}
		if !applied.Landed && !Landed(doc.Text, applied.Document.Text, result) {
			return false, fmt.Errorf("catching up with %s: %w", path, ErrNotSeen)
		}
	}
	f.bases.put(keyFor(doc, path), want, f.Remember)
	f.bases.put(seen, want, f.Remember)
	return len(edits) > 0, nil
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
