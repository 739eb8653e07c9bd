package bridge

import (
	"context"
	"slices"
	"sync"

	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// saves tells the saves that we ask an editor for from those that its user
// makes. The zero value is ready.
type saves struct {
	mu   sync.Mutex
	open map[string]*asking // by path, while we wait for a save
}

// asking is how many saves of one document we wait for, and what the editor said
// was saved meanwhile.
type asking struct {
	count int
	heard []string // hashes
}

// maxHeard bounds what is kept of the saves of one document.
const maxHeard = 64

// DocumentSaved says that the editor has saved a document: path is its file, and
// hash that of its text, as workspace.Document has them. The editor's side calls
// it for every save that it hears of (LSP textDocument/didSave), in the order of
// the wire and before an Apply that asked for one returns; saves that we asked
// for ourselves are told apart here. It does not wait.
func (b *Bridge) DocumentSaved(path, hash string) {
	b.saves.mu.Lock()
	if a := b.saves.open[path]; a != nil {
		if len(a.heard) < maxHeard && !slices.Contains(a.heard, hash) {
			a.heard = append(a.heard, hash)
		}
		b.saves.mu.Unlock()
		return
	}
	b.saves.mu.Unlock()
	b.savedByUser(path, hash)
}

func (b *Bridge) savedByUser(path, hash string) {
	for _, s := range b.all() {
		if t := s.recording(); t != nil {
			if on := t.record.on.Load(); on != nil && s.owns(path) {
				on.Saved(path, hash)
			}
		}
	}
}

// begin notes that we ask for a save. The result ends that: what was saved
// meanwhile with another text than ours was saved by the user.
func (v *saves) begin(path string) (end func(ours string) (others []string)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == nil {
		v.open = map[string]*asking{}
	}
	a := v.open[path]
	if a == nil {
		a = &asking{}
		v.open[path] = a
	}
	a.count++
	return func(ours string) []string {
		v.mu.Lock()
		defer v.mu.Unlock()
		a.heard = slices.DeleteFunc(a.heard, func(h string) bool { return h == ours })
		if a.count--; a.count > 0 {
			return nil // the last one tells
		}
		delete(v.open, path)
		return a.heard
	}
}

// editor is the bridge's Editor, with its saves told apart; nil when there is
// none. What it can do besides stays.
func (b *Bridge) editor() workspace.Editor {
	if b.Editor == nil {
		return nil
	}
	own := savingEditor{b.Editor, b}
	lister, lists := b.Editor.(dirtyLister)
	waiter, waits := b.Editor.(documentWaiter)
	switch {
	case lists && waits:
		return struct {
			savingEditor
			dirtyLister
			documentWaiter
		}{own, lister, waiter}
	case lists:
		return struct {
			savingEditor
			dirtyLister
		}{own, lister}
	case waits:
		return struct {
			savingEditor
			documentWaiter
		}{own, waiter}
	default:
		return own
	}
}

// What a workspace.Editor may be able to do besides.
type (
	dirtyLister    interface{ Dirty() []workspace.Document }
	documentWaiter interface {
		Wait(ctx context.Context, path string, state func(workspace.Document) bool) (workspace.Document, error)
	}
)

// savingEditor is an editor whose saves on our word are known as such.
type savingEditor struct {
	workspace.Editor
	b *Bridge
}

// Apply implements workspace.Editor.
func (e savingEditor) Apply(ctx context.Context, a workspace.Apply) (workspace.Applied, error) {
	if !a.Save || a.Document.Path == "" {
		return e.Editor.Apply(ctx, a)
	}
	path := a.Document.Path
	end := e.b.saves.begin(path)
	applied, err := e.Editor.Apply(ctx, a)
	for _, hash := range end(applied.Document.Hash) {
		e.b.savedByUser(path, hash)
	}
	return applied, err
}

// record passes a mediated access on to the turn's record and to whoever else
// keeps one. A file from outside the project marks the session.
func (s *session) record(a workspace.Access) {
	if t := s.recording(); t != nil {
		t.record.access(a)
	}
	if a.Kind == fence.Read && a.Err == nil {
		s.ground.taint.Read(a.Outcome.Path)
	}
	if s.b.Record != nil {
		s.b.Record(s.id, s.turnID(), a)
	}
}
