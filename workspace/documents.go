package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sallyport/workspace/text"
)

// Documents mirrors the open documents of one editor. Open, Change, Save and Close are
// called in the order of the wire; everything may be called from any goroutine. Documents
// are kept by normalised path, so the URI's spelling does not matter; two paths of one file
// (letter case, links) find the same document.
type Documents struct {
	flavour flavour

	mu        sync.Mutex
	open      map[string]*entry // by keyOf
	followers []chan struct{}   // one slot each
}

// NewDocuments makes a mirror with nothing open.
func NewDocuments() *Documents { return newDocuments(own()) }

func newDocuments(f flavour) *Documents {
	return &Documents{flavour: f, open: map[string]*entry{}}
}

// entry is an open document. Documents.mu guards it.
type entry struct {
	uri, path, language string
	version             int32
	buffer              *text.Document
	hash                string // of the buffer; empty until somebody asks
	outOfStep           bool   // since a change that cannot be
	saved               saved
	taking              *taking
	expected            []*Expectation
}

// keyOf gives the key of a URI, and its path when it names a file.
func (d *Documents) keyOf(uri string) (key, path string, err error) {
	path, err = pathOf(d.flavour, uri)
	if errors.Is(err, ErrNoPath) {
		return uri, "", nil
	}
	return path, path, err
}

// Open takes in a document (didOpen). A document that is open already is replaced. It reads
// the file once, to know whether the text is unsaved. It errs on a malformed URI.
func (d *Documents) Open(uri, languageID string, version int32, content string) error {
	key, path, err := d.keyOf(uri)
	if err != nil {
		return err
	}
	e := &entry{
		uri: strings.Clone(uri), path: path, language: strings.Clone(languageID),
		version: version, buffer: text.NewDocument(content), saved: saved{hash: text.Hash("")},
	}
	if path != "" {
		e.saved = opened(content, look(path, content))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.open[key]; old != nil {
		e.expected = old.expected
	}
	d.open[key] = e
	e.changed()
	d.tellLocked()
	return nil
}

// Change applies a didChange, whose changes follow each other. On an error (ErrClosed, or a
// range that cannot be) the text stays, and Text refuses to give it until the editor sends
// all of it again.
func (d *Documents) Change(uri string, version int32, changes []text.Change, enc text.Encoding) error {
	key, _, err := d.keyOf(uri)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.open[key]
	if e == nil {
		return fmt.Errorf("changing %s: %w", uri, ErrClosed)
	}
	whole := slices.ContainsFunc(changes, func(c text.Change) bool { return c.Range == nil })
	defer d.tellLocked()
	if err := e.buffer.Apply(changes, enc); err != nil {
		e.outOfStep = true
		return fmt.Errorf("changing %s: %w", uri, err)
	}
	e.version, e.hash = version, ""
	if whole {
		e.outOfStep = false
	}
	if t := e.taking; t != nil && e.sum() == t.result {
		e.tookIn(t.loaded, t.disk)
	}
	e.changed()
	return nil
}

// Save notes that the document was saved (didSave): as text when the editor sends it, else
// as it is. A document that is not open is ignored.
func (d *Documents) Save(uri string, content *string) {
	key, _, err := d.keyOf(uri)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.open[key]
	if e == nil {
		return
	}
	e.saved = saved{text: e.buffer.String(), hash: e.sum()}
	if content != nil && *content != e.saved.text {
		e.saved = saved{text: *content, hash: text.Hash(*content)}
	}
	e.changed()
	d.tellLocked()
}

// Close forgets a document (didClose). Whoever waits for it gets ErrClosed.
func (d *Documents) Close(uri string) {
	key, _, err := d.keyOf(uri)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.open[key]; e != nil {
		for _, x := range e.expected {
			close(x.came)
		}
	}
	delete(d.open, key)
	d.tellLocked()
}

// Get gives the document of a path, or of a URI that names no file. It costs a stat of the
// file, and reading it when that changed; the text is not copied.
func (d *Documents) Get(path string) (Document, bool) {
	e := d.find(path)
	if e == nil {
		return Document{}, false
	}
	return d.view(e), true
}

// Text is Get for an Editor: a document whose text is not known is an error.
func (d *Documents) Text(_ context.Context, path string) (Document, bool, error) {
	e := d.find(path)
	if e == nil {
		return Document{}, false, nil
	}
	d.mu.Lock()
	outOfStep := e.outOfStep
	d.mu.Unlock()
	if outOfStep {
		return Document{}, true, ErrOutOfStep
	}
	return d.view(e), true, nil
}

// All gives every open document, sorted by URI.
func (d *Documents) All() []Document {
	d.mu.Lock()
	entries := make([]*entry, 0, len(d.open))
	for _, e := range d.open {
		entries = append(entries, e)
	}
	d.mu.Unlock()
	list := make([]Document, len(entries))
	for i, e := range entries {
		list[i] = d.view(e)
	}
	slices.SortFunc(list, func(a, b Document) int { return cmp.Compare(a.URI, b.URI) })
	return list
}

// Dirty gives the dirty documents, those without a file too, sorted by URI.
func (d *Documents) Dirty() []Document {
	return slices.DeleteFunc(d.All(), func(doc Document) bool { return !doc.Dirty })
}

// view judges a document against the disk. The lock is not held meanwhile.
func (d *Documents) view(e *entry) Document {
	d.mu.Lock()
	doc, before := e.document(), e.saved
	d.mu.Unlock()
	j := before.judge(doc.Text, doc.Hash, doc.Path)
	doc.Dirty, doc.Loaded = j.dirty, Loaded{Known: true, Text: j.text, Current: j.current, Behind: j.behind, Unlike: j.unlike}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.saved.hash == before.hash && e.version == doc.Version {
		e.saved = j.saved
	}
	return doc
}

// document is the view that needs no disk. Documents.mu is held.
func (e *entry) document() Document {
	return Document{
		URI: e.uri, Path: e.path, LanguageID: e.language, Version: e.version,
		Text: e.buffer.String(), Hash: e.sum(), Dirty: e.sum() != e.saved.hash,
		Loaded: Loaded{Known: true, Text: e.saved.text},
	}
}

func (e *entry) sum() string {
	if e.hash == "" {
		e.hash = text.Hash(e.buffer.String())
	}
	return e.hash
}
