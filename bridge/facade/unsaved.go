package facade

import (
	"context"
	"maps"
	"slices"
	"sync"

	"sallyport/workspace"
)

// maxUnsaved is how many files are remembered whose text the client has not saved.
const maxUnsaved = 256

// unsaved are the files of which the client has last shown an unsaved text, by path:
// it cannot list them, and the record of a turn holds what it leaves unsaved. The
// zero value is ready.
type unsaved struct {
	mu    sync.Mutex
	paths map[string]bool
}

// saw notes what the client has shown.
func (u *unsaved) saw(doc workspace.Document) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !doc.Dirty:
		delete(u.paths, doc.Path)
	case u.paths == nil:
		u.paths = map[string]bool{doc.Path: true}
	case len(u.paths) < maxUnsaved:
		u.paths[doc.Path] = true
	}
}

func (u *unsaved) all() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.paths))
}

// Unsaved asks the client for its unsaved texts, as far as they were seen. What it
// does not tell before ctx ends is left out.
func (e *editor) Unsaved(ctx context.Context) (docs []workspace.Document) {
	for _, path := range e.met.unsaved.all() {
		doc, open, err := e.Text(ctx, path)
		switch {
		case err != nil:
			e.log.Warn("the client does not tell a text that it has not saved", "error", err)
		case !open:
			e.met.unsaved.saw(workspace.Document{Path: path})
		case doc.Dirty:
			docs = append(docs, doc)
		}
	}
	return docs
}
