package servertest

import (
	"fmt"
	"os"

	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// buffer is one open document.
type buffer struct {
	text    string
	saved   string
	version int32
}

// Open opens a document.
func (e *Editor) Open(uri, content string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := &buffer{text: content, saved: content, version: 1}
	e.docs[uri] = b
	return e.conn.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "plaintext", "version": b.version, "text": content,
	}})
}

// Close closes a document.
func (e *Editor) Close(uri string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.docs, uri)
	return e.conn.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
}

// Text is the text of an open document, "" when it is not open.
func (e *Editor) Text(uri string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.docs[uri]; b != nil {
		return b.text
	}
	return ""
}

// TextLocked is Text for a condition of Until.
func (e *Editor) TextLocked(uri string) string {
	if b := e.docs[uri]; b != nil {
		return b.text
	}
	return ""
}

// Dirty reports whether an open document has text that was not saved.
func (e *Editor) Dirty(uri string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.docs[uri]
	return b != nil && b.text != b.saved
}

// Type replaces the bytes from start to end, as a user does.
func (e *Editor) Type(uri string, start, end int, s string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changeLocked(uri, []text.Edit{{Start: start, End: end, New: s}})
}

// Save saves a document.
func (e *Editor) Save(uri string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.saveLocked(uri)
}

func (e *Editor) saveLocked(uri string) error {
	b := e.docs[uri]
	if b == nil {
		return fmt.Errorf("saving %s: it is not open", uri)
	}
	if f := e.habits.Format; f != nil {
		if formatted := f(b.text); formatted != b.text {
			if err := e.changeLocked(uri, text.Diff(b.text, formatted)); err != nil {
				return err
			}
		}
	}
	if e.Disk {
		path, err := workspace.PathOf(uri)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(b.text), 0o666); err != nil {
			return fmt.Errorf("saving: %w", err)
		}
	}
	b.saved = b.text
	return e.announceLocked("textDocument/didSave", map[string]any{
		"textDocument": map[string]any{"uri": uri}, "text": b.text,
	})
}

// changeLocked changes a document and announces it, as one didChange.
func (e *Editor) changeLocked(uri string, edits []text.Edit) error {
	b := e.docs[uri]
	if b == nil {
		return fmt.Errorf("changing %s: it is not open", uri)
	}
	after, err := text.Apply(b.text, edits)
	if err != nil {
		return err
	}
	var changes []any
	ranges := text.Ranges(b.text, edits, e.enc)
	for i := len(ranges) - 1; i >= 0; i-- { // last to first: each leaves the others in place
		r := ranges[i]
		changes = append(changes, map[string]any{
			"range": wire.Range{Start: wire.Position(r.Range.Start), End: wire.Position(r.Range.End)},
			"text":  r.New,
		})
	}
	b.text = after
	b.version++
	e.eventLocked()
	if e.habits.Silent {
		return nil
	}
	return e.announceLocked("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": b.version}, "contentChanges": changes,
	})
}

// announceLocked sends a notification, or keeps it for after the answer.
func (e *Editor) announceLocked(method string, params any) error {
	if e.habits.Edits == Late {
		e.late = append(e.late, func() { _ = e.conn.Notify(method, params) })
		return nil
	}
	return e.conn.Notify(method, params)
}

// catchUp sends what was kept.
func (e *Editor) catchUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, send := range e.late {
		send()
	}
	e.late = nil
}

// applyLocked applies edits of the wire to a document.
func (e *Editor) applyLocked(uri string, list []wire.Edit) error {
	b := e.docs[uri]
	if b == nil {
		return fmt.Errorf("changing %s: it is not open", uri)
	}
	edits := make([]text.Edit, len(list))
	for i, x := range list {
		edits[len(list)-1-i] = text.Edit{
			Start: text.OffsetAt(b.text, text.Position(x.Range.Start), e.enc),
			End:   text.OffsetAt(b.text, text.Position(x.Range.End), e.enc),
			New:   x.NewText,
		}
	}
	return e.changeLocked(uri, edits)
}
