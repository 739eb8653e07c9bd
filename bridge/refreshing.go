package bridge

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sallyport/workspace"
	"sallyport/workspace/fence"
)

const (
	// refreshTime is how long the end of a turn waits for the editor to take in
	// what was written on the disk.
	refreshTime = 3 * time.Second
	// refreshing is how many documents are brought up at once.
	refreshing = 8
)

// openDocuments is an Editor that can list its documents and say when they change.
type openDocuments interface {
	Paths() []string
	Follow() (news <-chan struct{}, stop func())
}

// waker is an Editor that can tell when it takes requests: it does not while it asks
// its user something. Awake returns then.
type waker interface {
	Awake(ctx context.Context) error
}

// refreshes is what is known of documents whose files changed past us.
type refreshes struct {
	// one is a one-slot channel. Who brings documents up has the slot, so that each
	// change is told once.
	one chan struct{}

	mu         sync.Mutex
	told       map[string]string // by path: what the user was told, until it is over
	merged     map[string]string // by path: the turn in which something was merged
	unfinished map[string]bool   // by path: the editor did not answer in time; true: it was not asked again
	awaited    bool              // somebody waits until the editor answers
	limited    bool
}

// keep forgets what was told of documents that are not open any more.
func (r *refreshes) keep(open []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.told, func(path, _ string) bool { return !slices.Contains(open, path) })
}

// leave notes whether the editor left a document waiting.
func (r *refreshes) leave(path string, unfinished bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !unfinished {
		delete(r.unfinished, path)
		return
	}
	if r.unfinished == nil {
		r.unfinished = map[string]bool{}
	}
	if _, again := r.unfinished[path]; !again {
		r.unfinished[path] = true
	}
}

// await reports whether the caller is to wait until the editor answers: something
// waits for it, and was not tried a second time.
func (r *refreshes) await() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.awaited {
		return false
	}
	for path, fresh := range r.unfinished {
		r.awaited = r.awaited || fresh
		r.unfinished[path] = false
	}
	return r.awaited
}

func (r *refreshes) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaited = false
}

// waiting lists the documents that the editor left waiting.
func (r *refreshes) waiting() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.unfinished))
}

// news notes what became of a document, and reports whether that is to be told.
func (r *refreshes) news(path, became string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = map[string]string{}
	}
	before := r.told[path]
	if became == "" {
		delete(r.told, path)
	} else {
		r.told[path] = became
	}
	return became != "" && became != before
}

func (r *refreshes) merge(path, turn string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.merged == nil {
		r.merged = map[string]string{}
	}
	r.merged[path] = turn
}

// mergedIn takes out what was merged in a turn.
func (r *refreshes) mergedIn(turn string) (paths []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, in := range r.merged {
		if in == turn {
			paths = append(paths, path)
			delete(r.merged, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Refresh implements Refresher.
func (b *Bridge) Refresh(ctx context.Context) {
	docs, ok := b.Editor.(openDocuments)
	if !ok {
		return
	}
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return
	}
	defer leave()
	paths := docs.Paths()
	b.refreshes.keep(paths)
	b.refreshThese(ctx, paths)
}

// RefreshUnfinished implements Refresher.
func (b *Bridge) RefreshUnfinished(ctx context.Context) {
	paths := b.refreshes.waiting()
	if len(paths) == 0 {
		return
	}
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return
	}
	defer leave()
	b.refreshThese(ctx, paths)
}

// refreshThese brings up open documents.
func (b *Bridge) refreshThese(ctx context.Context, paths []string) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	if inSlot(ctx, b.refreshes.one, func() error { b.refreshInSlot(ctx, paths); return nil }) != nil {
		b.Log.Debug("refreshing was given up")
	}
	if editor, ok := b.Editor.(waker); ok && b.refreshes.await() && !b.spawn(func() { b.whenAwake(editor) }) {
		b.refreshes.answered()
	}
}

// whenAwake brings up what the editor left waiting as soon as it answers.
func (b *Bridge) whenAwake(editor waker) {
	err := editor.Awake(b.life.ctx)
	b.refreshes.answered()
	if err == nil {
		b.RefreshUnfinished(b.life.ctx)
	}
}

func (b *Bridge) refreshInSlot(ctx context.Context, paths []string) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, refreshing)
	for _, path := range paths {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			b.refreshOne(ctx, path)
		})
	}
	wg.Wait()
}

// refreshOne brings up one document: for the session whose turn may have changed
// it, else for nobody in particular.
func (b *Bridge) refreshOne(ctx context.Context, path string) {
	doc, open, err := b.Editor.Text(ctx, path)
	if err != nil || !open || !doc.FileChanged() {
		b.refreshes.news(path, "")
		b.refreshes.leave(path, false)
		return
	}
	s, t := b.ownerOf(path)
	policy, err := b.policyFor(s, path)
	if err != nil {
		b.Log.Debug("refreshing", "path", path, "err", err)
		return
	}
	// The Editor itself: nothing is saved here, and all that it can do is needed.
	files := &workspace.Files{Editor: b.Editor, Policy: policy}
	refresh := files.RefreshLater
	if t != nil {
		refresh = files.Refresh
	}
	r, err := refresh(ctx, path)
	b.refreshes.leave(path, errors.Is(ctx.Err(), context.DeadlineExceeded)) // else somebody ended it, who looks after it
	if ctx.Err() != nil {
		b.Log.Debug("the editor did not answer in time", "path", path, "err", err)
		return
	}
	if t != nil && r.Became == workspace.Merged {
		b.refreshes.merge(path, t.id)
	}
	var conflict *workspace.ConflictError
	if t != nil && r.Hash != "" && (r.Became != workspace.Same || errors.As(err, &conflict)) {
		t.record.found(path, r.Hash) // an editor that takes it on and saves it saves nothing of the user's
	}
	b.tellRefreshed(s, t, r, err)
}

// ownerOf is the session to which a file belongs, with the turn that runs in it:
// a session with a turn first, then the one that was used last. Nil: there is none.
func (b *Bridge) ownerOf(path string) (owner *session, running *turn) {
	var used time.Time
	for _, s := range b.all() {
		t := s.recording()
		at, _ := s.idleSince()
		switch {
		case !s.owns(path):
		case t != nil && running == nil, (t != nil) == (running != nil) && (owner == nil || at.After(used)):
			owner, running, used = s, t, at
		}
	}
	return owner, running
}

// policyFor is what a text must pass that comes into an open document.
func (b *Bridge) policyFor(s *session, path string) (*fence.Policy, error) {
	if s != nil {
		return s.ground.policy, nil
	}
	folder := filepath.Dir(path)
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, err
	}
	return fence.New(folder, fence.Rules{
		Unreadable: c.Fences.UnreadableOf(fence.DefaultUnreadable()), Private: c.Fences.Private, Own: b.Home.Own,
	})
}

// tellRefreshed tells what a person must know of a document whose file was
// written past us, once for each state of the file.
func (b *Bridge) tellRefreshed(s *session, t *turn, r workspace.Refreshed, err error) {
	name := filepath.Base(r.Path)
	if s != nil {
		name = s.relative(r.Path)
	}
	n, became := aboutFailed(name, err)
	if err == nil {
		n, became = aboutRefreshed(name, r.Became, t != nil)
	} else if became == "" {
		b.Log.Debug("refreshing", "path", r.Path, "err", err)
		return
	}
	if became != "" {
		became += " " + r.Hash
	}
	if !b.refreshes.news(r.Path, became) {
		return
	}
	n.Paths = []string{r.Path}
	switch {
	case t != nil:
		n.Turn = t.id
		s.caused(n)
	case s != nil:
		s.notice(n)
	default:
		b.Display.Notice(n)
	}
}

// aboutRefreshed is what to tell of a document that was brought up, and a word for
// it; "": nothing. What was merged in a turn is told at its end.
func aboutRefreshed(name string, became workspace.Became, inTurn bool) (n Notice, word string) {
	n = Notice{Level: Warning, Kind: NoticeDisk}
	switch {
	case became == workspace.Gone:
		n.Text = name + " was deleted on the disk; its text is still open in the editor"
		n.Hint = "saving it makes the file again"
	case became == workspace.Kept:
		n.Text = name + " on the disk is no text any more, or too large, or closed to us; the editor has the text from before"
		n.Hint = "saving it overwrites the file"
	case became == workspace.Merged && !inTurn:
		n.Level, n.Text = Plain, name+" changed on the disk, and that was merged into your unsaved text"
		n.Hint = "undo takes it out again"
	default:
		return Notice{}, ""
	}
	return n, string(became)
}

// aboutFailed is the same of one that could not be brought up.
func aboutFailed(name string, err error) (n Notice, word string) {
	n = Notice{Level: Warning, Kind: NoticeDisk}
	var conflict *workspace.ConflictError
	var refusal *fence.Refusal
	switch {
	case errors.As(err, &conflict):
		n.Kind = NoticeConflict
		n.Text = name + " changed on the disk where it has unsaved text of yours, and both are kept: " + conflict.Err.Error()
		n.Hint = "saving your text takes that change out of the file: compare them first"
		return n, "conflict"
	case errors.Is(err, workspace.ErrReadOnly), errors.Is(err, workspace.ErrNotApplied), errors.Is(err, workspace.ErrNotSeen):
		n.Text = name + " changed on the disk, and the editor did not take that in: " + err.Error()
		n.Hint = "load the file again in the editor"
		return n, "refused"
	case errors.As(err, &refusal) && refusal.Fence != fence.Reserved: // our own state is, which changes all the time
		n.Level, n.Text = Plain, name+" changed on the disk, and is not brought into the editor: "+refusal.Why
		n.Hint = "load the file again in the editor"
		return n, "fenced"
	default:
		return Notice{}, ""
	}
}
