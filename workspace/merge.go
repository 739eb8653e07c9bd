package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sallyport/workspace/disk"
	"sallyport/workspace/text"
)

// merged is a write brought onto the present text of a document.
type merged struct {
	want     string // what the agent asked for, with the text's own line endings
	result   string // what the document shall hold, without byte order mark
	edits    []text.Edit
	keptCRLF bool
}

// merge brings the change from the session's base to content onto the present text, which
// is the disk's when the document is behind.
func (f *Files) merge(doc Document, path, content string) (merged, error) {
	buffer := strings.TrimPrefix(doc.Text, mark)
	current := buffer
	if doc.Loaded.Behind {
		file, err := disk.Read(f.Policy, path, disk.Window{Max: f.MaxRead})
		if err != nil {
			return merged{}, err
		}
		current = file.Text
	}
	m := merged{want: strings.TrimPrefix(content, mark)}
	base, onDisk := f.base(doc, path, current), strings.TrimPrefix(doc.Loaded.Text, mark)
	if doc.Loaded.Behind || !doc.Loaded.Known {
		onDisk = current
	}
	if text.EndingOf(current) == text.CRLF {
		base, _ = crlf(base)
		onDisk, _ = crlf(onDisk)
		m.want, m.keptCRLF = crlf(m.want)
	}
	edits, err := text.Rebase(base, current, m.want)
	var conflict *text.ConflictError
	for _, newer := range []string{onDisk, current} {
		if errors.As(err, &conflict) && madeFrom(newer, base, m.want) {
			edits, err = text.Rebase(newer, current, m.want)
		}
	}
	if errors.As(err, &conflict) {
		return merged{}, &ConflictError{Path: path, Err: conflict}
	}
	if err != nil {
		return merged{}, fmt.Errorf("merging into %s: %w", path, err)
	}
	if m.result, err = text.Apply(current, edits); err != nil {
		return merged{}, fmt.Errorf("merging into %s: %w", path, err)
	}
	if doc.Loaded.Behind {
		edits = text.Diff(buffer, m.result)
	}
	skip := len(doc.Text) - len(buffer)
	for _, e := range edits {
		m.edits = append(m.edits, text.Edit{Start: e.Start + skip, End: e.End + skip, New: e.New})
	}
	return m, nil
}

// base is the text that the agent made its new text from: what this session last read or
// asked to write. Without either the agent read the disk with its own tools, if at all, so
// it is what the document was loaded from or saved as; a text that the user has not changed
// since is the same. Being too old is harmless: what both sides changed alike is no
// conflict. Being too new would take back what the user typed.
func (f *Files) base(doc Document, path, current string) string {
	if known, ok := f.bases.get(keyFor(doc, path)); ok {
		return known
	}
	if doc.Dirty && doc.Loaded.Known {
		return strings.TrimPrefix(doc.Loaded.Text, mark)
	}
	return current
}

// madeFrom reports whether want was evidently made from the newer text and not from base:
// it is nearer to it, and it holds all that was written between the two, so that nothing
// typed is at stake. The agent has learned it elsewhere: from the disk, or from the prompt.
func madeFrom(newer, base, want string) bool {
	changes := text.Diff(newer, want)
	if size(changes) >= size(text.Diff(base, want)) {
		return false
	}
	moved := 0
	for _, e := range text.Diff(base, newer) {
		start := e.Start + moved
		end := start + len(e.New)
		moved += len(e.New) - (e.End - e.Start)
		for _, c := range changes {
			if min(end, c.End) > max(start, c.Start) {
				return false
			}
		}
	}
	return true
}

// size of edits, in bytes taken out and put in.
func size(edits []text.Edit) (n int) {
	for _, e := range edits {
		n += e.End - e.Start + len(e.New)
	}
	return n
}

// Sent notes that the agent was given a document's text outside of Read: with the prompt. It
// is the base of the next write.
func (f *Files) Sent(doc Document) {
	if doc.Path != "" {
		f.bases.put(doc.Path, strings.TrimPrefix(doc.Text, mark), f.Remember)
	}
}

// Forget drops what the session has read as the base of its writes: whoever
// writes next knows nothing of it.
func (f *Files) Forget() { f.bases.clear() }

// crlf gives LF-only text CRLF endings, and whether that changed it. Text that has a CR
// itself is meant as it is.
func crlf(s string) (string, bool) {
	if strings.IndexByte(s, '\r') >= 0 || strings.IndexByte(s, '\n') < 0 {
		return s, false
	}
	return text.ToCRLF(s), true
}

// Landed reports whether after holds the change from before to expected, whatever else was
// changed beside it. An editor's own line endings and last newline do not count.
func Landed(before, after, expected string) bool {
	before, after, expected = unified(before), unified(after), unified(expected)
	if after == expected {
		return true
	}
	if before == expected {
		return true // nothing was to be changed
	}
	left, err := text.Rebase(before, after, expected)
	return err == nil && len(left) == 0
}

// unified drops the differences that an editor makes on its own. A lone CR is content.
func unified(s string) string {
	return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

// Rehearse gives the present text of a file and what a write would make of it, for a diff
// that a person is asked about: what they typed since the agent read is in both. Nothing is
// written, recorded or remembered. Errors as of Read and *ConflictError; a missing file is
// "".
func (f *Files) Rehearse(ctx context.Context, path, content string) (before, after string, err error) {
	if err := f.Policy.CheckRead(path); err != nil {
		return "", "", err
	}
	key := clean(own(), path)
	doc, open, err := f.document(ctx, key, f.Policy.CheckRead)
	if err != nil {
		return "", "", err
	}
	if open {
		m, err := f.merge(doc, key, content)
		return strings.TrimPrefix(doc.Text, mark), m.result, err
	}
	before, _, err = f.Preview(ctx, path)
	if err != nil {
		return "", "", err
	}
	after = strings.TrimPrefix(content, mark)
	if text.EndingOf(before) == text.CRLF {
		after, _ = crlf(after)
	}
	return before, after, nil
}
