package terminal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sallyport/workspace"
	"sallyport/workspace/text"
)

// Buffers is a workspace.Editor in memory: documents that somebody has open,
// without a screen. The demo types into it.
type Buffers struct {
	Documents *workspace.Documents
}

// NewBuffers makes an editor with nothing open.
func NewBuffers() *Buffers { return &Buffers{Documents: workspace.NewDocuments()} }

// Open opens a file with the text it has on the disk.
func (b *Buffers) Open(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("opening %s: %w", filepath.Base(path), err)
	}
	return b.Documents.Open(workspace.URIOf(path), "plaintext", 1, string(raw))
}

// Type changes the text of an open document to what edit makes of it.
func (b *Buffers) Type(path string, edit func(string) string) error {
	d, ok := b.Documents.Get(path)
	if !ok {
		return workspace.ErrClosed
	}
	return b.Documents.Change(d.URI, d.Version+1, []text.Change{{Text: edit(d.Text)}}, text.UTF8)
}

// Text returns an open document.
func (b *Buffers) Text(ctx context.Context, path string) (workspace.Document, bool, error) {
	return b.Documents.Text(ctx, path)
}

// Apply applies edits to a document that is still as they expect, as one step.
func (b *Buffers) Apply(_ context.Context, a workspace.Apply) (workspace.Applied, error) {
	d, ok := b.Documents.Get(a.Document.Path)
	switch {
	case !ok:
		return workspace.Applied{}, workspace.ErrClosed
	case d.Hash != a.Document.Hash:
		return workspace.Applied{}, workspace.ErrStale
	}
	now, err := text.Apply(d.Text, a.Edits)
	if err != nil {
		return workspace.Applied{}, err
	}
	if err := b.Documents.Change(d.URI, d.Version+1, []text.Change{{Text: now}}, text.UTF8); err != nil {
		return workspace.Applied{}, err
	}
	d, _ = b.Documents.Get(a.Document.Path)
	if !a.Save {
		return workspace.Applied{Document: d}, nil
	}
	if err := os.WriteFile(d.Path, []byte(d.Text), 0o666); err != nil {
		return workspace.Applied{Document: d}, err
	}
	b.Documents.Save(d.URI, nil)
	d, _ = b.Documents.Get(a.Document.Path)
	return workspace.Applied{Document: d, Saved: true}, nil
}

// Dirty lists the open documents with unsaved text.
func (b *Buffers) Dirty() []workspace.Document { return b.Documents.Dirty() }

// Wait waits for a state of an open document.
func (b *Buffers) Wait(ctx context.Context, path string, state func(workspace.Document) bool) (workspace.Document, error) {
	return b.Documents.Wait(ctx, path, state)
}

// Paths lists the files of the open documents.
func (b *Buffers) Paths() []string { return b.Documents.Paths() }

// Follow says when documents are opened, changed, saved or closed.
func (b *Buffers) Follow() (news <-chan struct{}, stop func()) { return b.Documents.Follow() }

// TakesIn notes what is about to be brought into a document.
func (b *Buffers) TakesIn(path, loaded, disk, result string) (end func()) {
	return b.Documents.TakesIn(path, loaded, disk, result)
}

// TookIn notes what was merged into unsaved text.
func (b *Buffers) TookIn(path, loaded, disk string) { b.Documents.TookIn(path, loaded, disk) }
