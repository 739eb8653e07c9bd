package bridge

import (
	"context"
	"slices"
	"time"

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
	u.Editor = b.editorOf(u.Session)
	return b.Turns.Undo(ctx, u)
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

// maxUndos is how many records are looked through for undos before a prompt.
const maxUndos = 50

// hearUndos learns what was taken back since the session's last turn, by this
// process or another: what was read of these files is no base of a write any more,
// and the agent is told with the prompt. It is called once no undo can run.
func (s *session) hearUndos(ctx context.Context) {
	s.state.mu.Lock()
	last, since := s.state.turns.last, s.state.turns.lastAt.Truncate(time.Millisecond)
	s.state.mu.Unlock()
	if last == "" || s.b.Turns == nil {
		return // the agent has read nothing yet
	}
	rows, err := s.b.Turns.List(ctx, s.folder, maxUndos)
	if err != nil {
		s.b.Log.Warn("looking for undos", "session", s.id, "err", err)
		return
	}
	for _, row := range slices.Backward(rows) {
		if row.Kind == receipt.Turn || row.Ended.Before(since) {
			continue
		}
		s.ground.files.Forget()
		note := "The user took back turn " + row.Of
		if row.Kind == receipt.Redo {
			note = "The user did again what had been taken back of turn " + row.Of
		}
		if r, err := s.b.Turns.Receipts().Find(row.Folder, row.Turn); err == nil && len(r.Did.Changes.List) > 0 {
			paths := make([]string, len(r.Did.Changes.List))
			for i, c := range r.Did.Changes.List {
				paths[i] = pathOf(c)
			}
			note += ": " + s.list(paths) + " changed"
		}
		s.state.mu.Lock()
		s.state.memory.notes.add(note + ". Read these files again before you change them.")
		s.state.mu.Unlock()
	}
}
