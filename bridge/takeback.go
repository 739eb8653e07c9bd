package bridge

import (
	"context"
	"path/filepath"
	"slices"

	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// Recorder is what the editors' side asks of a Bridge about turns; *Bridge
// implements it. folder is a session's, "" for all. Errors that a caller branches
// on: turns.ErrNotFound, turns.ErrAmbiguous, turns.ErrNothing, *turns.BusyError,
// *turns.GoneError, receipt.ErrNotFound, *NotKeptError, and ctx.Err().
type Recorder interface {
	// TurnList gives the newest turns, newest first; limit ≤ 0: all.
	TurnList(ctx context.Context, folder string, limit int) ([]turns.Row, error)
	// TurnShow gives what a turn changed, by path. turn is an id or its beginning,
	// "" the last one that can be taken back.
	TurnShow(ctx context.Context, folder, turn string) ([]turns.FileDiff, error)
	// TurnUndo takes a turn back, or does it again, through the editor where
	// documents are open. It is refused while an agent of the project has a turn.
	TurnUndo(ctx context.Context, u turns.Undo) (*turns.Undone, error)
	// Receipt gives the receipt of a turn; "" is the newest.
	Receipt(ctx context.Context, folder, turn string) (*receipt.Receipt, error)
	// ClearTaint takes the marks of untrusted content off a session.
	ClearTaint(ctx context.Context, session string) (Info, error)
	// DocumentSaved is called for every document that the editor has saved.
	DocumentSaved(path, hash string)
}

var _ Recorder = (*Bridge)(nil)

// NotKeptError says that this bridge keeps no turns.
type NotKeptError struct{}

func (*NotKeptError) Error() string { return "turns are not kept here" }

// TurnList implements Recorder.
func (b *Bridge) TurnList(ctx context.Context, folder string, limit int) ([]turns.Row, error) {
	if b.Turns == nil {
		return nil, &NotKeptError{}
	}
	return b.Turns.List(ctx, project(folder), limit)
}

// TurnShow implements Recorder.
func (b *Bridge) TurnShow(ctx context.Context, folder, turn string) ([]turns.FileDiff, error) {
	if b.Turns == nil {
		return nil, &NotKeptError{}
	}
	return b.Turns.Diff(ctx, project(folder), turn)
}

// Receipt implements Recorder.
func (b *Bridge) Receipt(ctx context.Context, folder, turn string) (*receipt.Receipt, error) {
	if b.Turns == nil {
		return nil, &NotKeptError{}
	}
	folder = project(folder)
	if turn == "" {
		for r, err := range b.Turns.Receipts().Newest(folder) {
			return r, err
		}
		return nil, receipt.ErrNotFound
	}
	row, err := b.Turns.Find(ctx, folder, turn)
	if err != nil {
		return nil, err
	}
	return b.Turns.Receipts().Find(row.Folder, row.Turn)
}

// project is a folder as the record has it.
func project(folder string) string {
	if folder == "" {
		return ""
	}
	return settled(folder)
}

// TurnUndo implements Recorder.
func (b *Bridge) TurnUndo(ctx context.Context, u turns.Undo) (*turns.Undone, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if b.Turns == nil {
		return nil, &NotKeptError{}
	}
	u.Folder = project(u.Folder)
	if !u.DryRun {
		if err := b.undoable(u.Folder); err != nil {
			return nil, err
		}
	}
	u.Editor = b.Editor
	done, err := b.Turns.Undo(ctx, u)
	if done != nil && !done.DryRun && len(done.Done) > 0 {
		b.takenBack(&u, done)
	}
	return done, err
}

// undoable refuses an undo while a turn runs on its folder, or on one that shares
// files with it. The store holds the same against other processes.
func (b *Bridge) undoable(folder string) error {
	for _, s := range b.all() {
		if t := s.recording(); t != nil && (folder == "" || s.owns(folder) || slices.ContainsFunc(s.folders(), func(own string) bool { return beneath(own, folder) })) {
			return &turns.BusyError{Turn: t.id, Kind: receipt.Turn, Folder: s.folder}
		}
	}
	return nil
}

// takenBack tells the sessions of an undo's files: what they have read of these
// is no base of a write any more, and their agents are told with the next prompt.
func (b *Bridge) takenBack(u *turns.Undo, done *turns.Undone) {
	what := "took back turn "
	if u.Redo {
		what = "did again what had been taken back of turn "
	}
	for _, s := range b.all() {
		var paths []string
		for _, p := range done.Done {
			if path := filepath.Join(p.Root, filepath.FromSlash(p.Path)); s.owns(path) {
				paths = append(paths, path)
			}
		}
		if len(paths) == 0 {
			continue
		}
		s.ground.files.Forget()
		s.state.mu.Lock()
		s.state.memory.notes.add("The user " + what + done.Of + ": " + s.list(paths) + " changed on the disk and in the editor. Read these files again before you change them.")
		s.state.mu.Unlock()
	}
}
