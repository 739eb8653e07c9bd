package server

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
	folderwatch "sallyport/workspace/watch"
)

// watchDocuments watches the folders of open documents as long as any is open,
// with or without a turn: another program, an undo from a terminal among them, may
// write their files. An editor's own save is no news, as the document is like its
// file then.
func (c *client) watchDocuments() {
	r, ok := c.sessions.(bridge.Refresher)
	if !ok {
		return
	}
	c.tasks.start("", func(ctx context.Context) {
		news, stop := c.docs.Follow()
		defer stop()
		w := &documentWatch{limited: r.WatchLimited}
		defer w.set(nil)
		for {
			w.set(c.docs.Paths())
			select {
			case <-w.events():
				r.Refresh(ctx)
			case <-news:
				r.RefreshUnfinished(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// documentWatch is a watcher of the folders of documents; there is none while
// none is open.
type documentWatch struct {
	watcher *folderwatch.Watcher
	folders []string
	limited func(error)
}

// set makes these the documents.
func (d *documentWatch) set(paths []string) {
	folders := make([]string, len(paths))
	for i, path := range paths {
		folders[i] = filepath.Dir(path)
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	switch {
	case slices.Equal(folders, d.folders):
	case len(folders) == 0:
		d.watcher.Close()
		d.watcher = nil
	case d.watcher == nil:
		d.watcher = folderwatch.New(folderwatch.Options{Flat: folders, Limited: d.limited})
	default:
		d.watcher.Set(folders)
	}
	d.folders = folders
}

func (d *documentWatch) events() <-chan folderwatch.Event {
	if d.watcher == nil {
		return nil
	}
	return d.watcher.Events()
}

// Paths and Follow are what a bridge asks of an editor that can list its
// documents; TakesIn and TookIn are what workspace.Files asks of one that keeps a
// mirror.
func (m *mirror) Paths() []string { return m.docs.Paths() }

// Follow says when documents are opened, changed, saved or closed.
func (m *mirror) Follow() (news <-chan struct{}, stop func()) { return m.docs.Follow() }

// TakesIn notes what is about to be brought into a document.
func (m *mirror) TakesIn(path, loaded, disk, result string) (end func()) {
	return m.docs.TakesIn(path, loaded, disk, result)
}

// TookIn notes what was merged into unsaved text.
func (m *mirror) TookIn(path, loaded, disk string) { m.docs.TookIn(path, loaded, disk) }

// Awake returns when the editor answers a request, whatever it says: Neovim does not
// while it waits for a key.
func (m *mirror) Awake(ctx context.Context) error {
	var folders jsontext.Value
	err := m.call(ctx, "workspace/workspaceFolders", nil, &folders)
	var refused *rpc.Error
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// itselfWithin is how long an editor gets to load a file by itself: VS Code does
// when it notices, Neovim when it is roused.
const itselfWithin = 300 * time.Millisecond

// Load gives a plain editor the time to load a file by itself. An edit would leave
// the document modified there, over a file that has changed: Neovim asks about that
// when it gets the focus, and Helix does not write it. So an edit is made only where
// nothing else brings the text, and the user told what to do. A plugin is not waited
// for: it is told that the edits make what the file holds, and loads that.
func (m *mirror) Load(ctx context.Context, doc workspace.Document, hurry bool) (loaded bool, err error) {
	if m.able.has(wire.FeatureApply) {
		return false, nil
	}
	loaded, err = m.loadsItself(ctx, doc)
	switch {
	case err != nil, loaded:
		return loaded, err
	case !hurry && m.neovim():
		return false, workspace.ErrLeft
	}
	m.rousing.hint.Do(func() { m.sayModified(doc) })
	return false, nil
}

// neovim: the editor loads files by itself, at the latest when it gets the focus.
func (m *mirror) neovim() bool { return m.able.client == "Neovim" }

// loadsItself waits a moment for the editor to have the text of the file.
func (m *mirror) loadsItself(ctx context.Context, before workspace.Document) (loaded bool, err error) {
	news, stop := m.docs.Follow()
	defer stop()
	if m.neovim() {
		m.rouse(ctx, before)
	}
	timer := time.NewTimer(itselfWithin)
	defer timer.Stop()
	for {
		doc, open, err := m.docs.Text(ctx, before.Path) // closed and opened again, in Neovim
		switch {
		case err != nil:
			return false, err
		case open && !doc.Dirty && !doc.Loaded.Behind:
			return true, nil
		case open && doc.Hash != before.Hash:
			return false, workspace.ErrStale
		}
		select {
		case <-news:
		case <-timer.C:
			if !open {
				return false, workspace.ErrClosed
			}
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// rousing is when Neovim was roused last. The zero value is ready.
type rousing struct {
	mu   sync.Mutex
	last time.Time
	hint sync.Once
}

// rouse has Neovim look after its files, where it is set up as README.md says: a
// progress is an event there, on which it runs :checktime. That loads files of
// unmodified buffers and says nothing.
func (m *mirror) rouse(ctx context.Context, doc workspace.Document) {
	asked := time.Now()
	m.rousing.mu.Lock()
	defer m.rousing.mu.Unlock()
	if m.rousing.last.After(asked) { // for another document, after our file changed
		return
	}
	m.rousing.last = time.Now()
	m.beginProgress(ctx, rouseTitle, text.Visible(filepath.Base(doc.Path))+" changed on disk", func(error) {}).end("")
}

// rouseTitle is the title of the progress that rouses Neovim.
const rouseTitle = "Sallyport: files"

// sayModified says, once, what comes of an edit where the editor did not load the
// file by itself.
func (m *mirror) sayModified(doc workspace.Document) {
	name := text.Visible(filepath.Base(doc.Path))
	hint := "loading the file again makes it unmodified"
	if m.neovim() {
		hint = "Neovim loads files by itself with the autocmd of README.md"
	}
	m.say(protocol.MessageTypeInfo, "Sallyport: "+name+" changed on disk and is edited to match (hint: "+hint+")")
}

// fromDisk says in the words of the wire what edits have to do with the file.
func fromDisk(d workspace.FromDisk) wire.ApplyDisk {
	switch d {
	case workspace.Holds:
		return wire.ApplyHolds
	case workspace.TakenIn:
		return wire.ApplyTakenIn
	default: // workspace.Unrelated
		return ""
	}
}
