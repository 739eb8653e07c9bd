package workspacetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"sallyport/workspace"
	"sallyport/workspace/text"
)

// Fault is a way in which Apply goes wrong.
type Fault uint8

// The faults. Refuse answers applied:false; Lie answers applied:true and does nothing; Mangle
// answers applied:true and adds the new text without taking away the old.
const (
	None Fault = iota
	Refuse
	Lie
	Mangle
	ReadOnly
)

// Editor is a workspace.Editor. Set the fields before it is used, or between uses.
type Editor struct {
	// Documents is the mirror.
	*workspace.Documents
	// Fault of every Apply; default None.
	Fault Fault
	// Deaf: every question for a text of an open document gets this error; nil: none.
	Deaf error
	// Lag: changes are announced only by Announce, and by an Apply.
	Lag bool
	// Format is what saving makes of a text; nil: nothing.
	Format func(string) string
	// Before and After are called by Apply, before it looks at the text and before it
	// answers; nil: nothing. They may type.
	Before, After func(path string)

	mu      sync.Mutex
	buffers map[string]*buffer // by path
}

type buffer struct {
	version   int32
	text      string
	undo      []string
	announced string // the text that the mirror has
	known     int32  // and its version
}

// New makes an editor with nothing open.
func New() *Editor {
	return &Editor{Documents: workspace.NewDocuments(), buffers: map[string]*buffer{}}
}

// Load opens a file with the text that is on disk, "" when there is none.
func (e *Editor) Load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return e.Show(path, strings.TrimPrefix(string(data), "\uFEFF"))
}

// Show opens a file with a text, which may be unsaved.
func (e *Editor) Show(path, content string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers[path] = &buffer{version: 1, text: content, announced: content, known: 1}
	return e.Documents.Open(workspace.URIOf(path), "plaintext", 1, content)
}

// Type replaces the first old by new, as a user does. It errs when there is none.
func (e *Editor) Type(path, old, new string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[path]
	if b == nil || !strings.Contains(b.text, old) {
		return fmt.Errorf("typing into %s: %q is not there", path, old)
	}
	return e.changeLocked(path, b, strings.Replace(b.text, old, new, 1))
}

// Set makes content the text, in one undo step.
func (e *Editor) Set(path, content string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changeLocked(path, e.buffers[path], content)
}

// Undo takes the last step back.
func (e *Editor) Undo(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[path]
	if len(b.undo) == 0 {
		return fmt.Errorf("undoing in %s: nothing to undo", path)
	}
	last := len(b.undo) - 1
	back := b.undo[last]
	err := e.changeLocked(path, b, back)
	b.undo = b.undo[:last]
	return err
}

// Steps gives how many undo steps there are.
func (e *Editor) Steps(path string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.buffers[path].undo)
}

// Content gives the editor's own text.
func (e *Editor) Content(path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffers[path].text
}

// SaveFile writes the text to disk, formatted.
func (e *Editor) SaveFile(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.saveLocked(path, e.buffers[path])
}

// CloseFile closes a document; its text is gone.
func (e *Editor) CloseFile(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.buffers, path)
	e.Documents.Close(workspace.URIOf(path))
}

// Announce tells the mirror what has changed.
func (e *Editor) Announce(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.announceLocked(path, e.buffers[path])
}

// Text implements workspace.Editor.
func (e *Editor) Text(ctx context.Context, path string) (workspace.Document, bool, error) {
	doc, open, err := e.Documents.Text(ctx, path)
	if open && e.Deaf != nil {
		return workspace.Document{}, true, e.Deaf
	}
	return doc, open, err
}

// Apply implements workspace.Editor.
func (e *Editor) Apply(ctx context.Context, a workspace.Apply) (workspace.Applied, error) {
	path := a.Document.Path
	if e.Before != nil {
		e.Before(path)
	}
	saved, err := e.apply(a)
	if err != nil {
		return workspace.Applied{}, err
	}
	if e.After != nil {
		e.After(path)
	}
	if err := e.Announce(path); err != nil {
		return workspace.Applied{}, err
	}
	doc, open := e.Documents.Get(path)
	if !open {
		return workspace.Applied{}, workspace.ErrClosed
	}
	return workspace.Applied{Document: doc, Landed: saved && e.Fault == None, Saved: saved}, ctx.Err()
}

func (e *Editor) apply(a workspace.Apply) (saved bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := a.Document.Path
	b := e.buffers[path]
	switch {
	case b == nil:
		return false, workspace.ErrClosed
	case e.Fault == ReadOnly:
		return false, workspace.ErrReadOnly
	case e.Fault == Lie:
		return false, nil
	case e.Fault == Refuse:
		return false, errors.Join(e.announceLocked(path, b), workspace.ErrNotApplied)
	case b.version != a.Document.Version || text.Hash(b.text) != a.Document.Hash:
		return false, errors.Join(e.announceLocked(path, b), workspace.ErrStale)
	}
	next, err := text.Apply(b.text, a.Edits)
	if err != nil {
		return false, err
	}
	if e.Fault == Mangle {
		next += b.text
	}
	if err := e.changeLocked(path, b, next); err != nil {
		return false, err
	}
	if !a.Save {
		return false, nil
	}
	return true, e.saveLocked(path, b)
}

func (e *Editor) changeLocked(path string, b *buffer, next string) error {
	if next == b.text {
		return nil
	}
	b.undo = append(b.undo, b.text)
	b.version++
	b.text = next
	if e.Lag {
		return nil
	}
	return e.announceLocked(path, b)
}

// announceLocked sends the changes as an editor does: last to first, so that each stands
// where it stood before the others.
func (e *Editor) announceLocked(path string, b *buffer) error {
	if b == nil || b.known == b.version {
		return nil
	}
	var changes []text.Change
	for _, r := range text.Ranges(b.announced, text.Diff(b.announced, b.text), text.UTF16) {
		changes = append([]text.Change{{Range: &r.Range, Text: r.New}}, changes...)
	}
	b.announced, b.known = b.text, b.version
	return e.Documents.Change(workspace.URIOf(path), b.version, changes, text.UTF16)
}

func (e *Editor) saveLocked(path string, b *buffer) error {
	if e.Format != nil {
		if formatted := e.Format(b.text); formatted != b.text {
			b.version++
			b.text = formatted
		}
	}
	if err := e.announceLocked(path, b); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(b.text), 0o644); err != nil {
		return err
	}
	e.Documents.Save(workspace.URIOf(path), nil)
	return nil
}
