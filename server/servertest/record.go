package servertest

import (
	"context"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// Record is a record of turns that is what its fields say. The zero value has
// no turns and takes nothing back.
type Record struct {
	// Rows are all records, the newest first; nil: none.
	Rows func() []turns.Row
	// Files is what each of them changed.
	Files []turns.FileDiff
	// Undo takes back; nil: there is nothing.
	Undo func(turns.Undo) (*turns.Undone, error)
}

// TurnList gives the first of Rows.
func (s *Sessions) TurnList(_ context.Context, folder string, limit int) ([]turns.Row, error) {
	s.note("TurnList %s %d", folder, limit)
	if s.Rows == nil {
		return nil, nil
	}
	rows := s.Rows()
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, nil
}

// TurnShow gives Files.
func (s *Sessions) TurnShow(_ context.Context, folder, turn string) ([]turns.FileDiff, error) {
	s.note("TurnShow %s %s", folder, turn)
	return s.Files, nil
}

// TurnUndo runs Undo.
func (s *Sessions) TurnUndo(_ context.Context, u turns.Undo) (*turns.Undone, error) {
	s.note("TurnUndo %s %s redo %t dry %t force %t %q", u.Folder, u.Turn, u.Redo, u.DryRun, u.Force, u.Paths)
	if s.Undo == nil {
		return nil, turns.ErrNothing
	}
	return s.Undo(u)
}

// Receipt gives a receipt that has only its id.
func (s *Sessions) Receipt(_ context.Context, folder, turn string) (*receipt.Receipt, error) {
	s.note("Receipt %s %s", folder, turn)
	return &receipt.Receipt{Head: receipt.Head{Turn: turn}}, nil
}

// ClearTaint notes the session.
func (s *Sessions) ClearTaint(_ context.Context, session string) (bridge.Info, error) {
	s.note("ClearTaint %s", session)
	return s.Info(session)
}

// DocumentSaved notes the document.
func (s *Sessions) DocumentSaved(path, hash string) { s.note("DocumentSaved %s %s", path, hash) }
