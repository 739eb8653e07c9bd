package bridge

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"sallyport/workspace/watch"
)

// Refresher is what the editors' side asks when files of open documents may have
// changed past us; *Bridge implements it.
type Refresher interface {
	// Refresh looks at every open document and brings in what its file has become,
	// as workspace.Files.Refresh has it. It does nothing where nothing has changed,
	// tells what a person must know, and may be called as often as wanted.
	Refresh(ctx context.Context)
	// RefreshUnfinished is Refresh of the documents that the editor left waiting: it
	// does not answer while it asks its user something. It is called when the editor
	// was heard of.
	RefreshUnfinished(ctx context.Context)
	// WatchLimited says, once, that not all folders can be watched.
	WatchLimited(err error)
}

var _ Refresher = (*Bridge)(nil)

// maxWatched folders are watched for a turn, those of open documents first.
const maxWatched = 1024

// refreshAll brings into open documents what a turn has written on the disk past
// us, in these paths or elsewhere in the session's folders, and lists those of
// the paths where it was merged into unsaved text, now or while the turn ran.
func (s *session) refreshAll(ctx context.Context, t *turn, paths []string) (caught []string) {
	if docs, ok := s.b.Editor.(openDocuments); ok {
		waiting := s.b.refreshes.waiting() // they were waited for a moment ago
		s.b.refreshThese(ctx, slices.DeleteFunc(docs.Paths(), func(path string) bool { return slices.Contains(waiting, path) }))
	}
	merged := map[string]bool{}
	for _, path := range s.b.refreshes.mergedIn(t.id) {
		merged[path], merged[really(path)] = true, true
	}
	for _, path := range paths {
		if len(merged) > 0 && (merged[path] || merged[really(path)]) {
			caught = append(caught, path)
		}
	}
	return caught
}

// watchTurn brings what is written past us into open documents while a turn runs,
// as it is written. stop ends that and waits for it.
func (s *session) watchTurn(*turn) (stop func()) {
	docs, ok := s.b.Editor.(openDocuments)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(s.b.life.ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.watch(ctx, docs) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// watch watches the session's folders once a document of them is open.
func (s *session) watch(ctx context.Context, docs openDocuments) {
	news, stop := docs.Follow()
	defer stop()
	for !slices.ContainsFunc(docs.Paths(), s.owns) {
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
	w := watch.New(watch.Options{
		Trees: s.folders(), Flat: foldersOf(docs.Paths()), Skip: heavy, MaxFolders: maxWatched, Limited: s.b.WatchLimited,
	})
	defer w.Close()
	for {
		select {
		case <-w.Events():
			s.b.refreshThese(ctx, docs.Paths())
		case <-news:
			w.Set(foldersOf(docs.Paths()))
		case <-ctx.Done():
			return
		}
	}
}

// foldersOf are the folders in which files lie.
func foldersOf(paths []string) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		list[i] = filepath.Dir(path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// heavy reports whether a folder is left out of watching: it has very many below
// it, and a document that is open there has its own folder watched.
func heavy(folder string) bool { return filepath.Base(folder) == "node_modules" }

// WatchLimited implements Refresher.
func (b *Bridge) WatchLimited(err error) {
	b.refreshes.mu.Lock()
	again := b.refreshes.limited
	b.refreshes.limited = true
	b.refreshes.mu.Unlock()
	if again || errors.Is(err, watch.ErrMaxFolders) { // those of open documents are watched
		b.Log.Info("watching is limited", "err", err)
		return
	}
	b.Display.Notice(Notice{
		Kind: NoticeConfig, Level: Warning,
		Text: "not every folder can be watched (" + err.Error() + "): what is written past the editor is seen later, when a turn ends or an agent reads",
		Hint: "on Linux raise fs.inotify.max_user_watches and fs.inotify.max_user_instances",
	})
}
