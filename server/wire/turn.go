package wire

import (
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// TurnRow is one turn, undo or redo in a list.
type TurnRow = turns.Row

// FileDiff is what a turn made of one path.
type FileDiff = turns.FileDiff

// TurnListParams are the params of sallyport/turn/list.
type TurnListParams struct {
	Folder string `json:"cwd,omitzero"`   // the project; absent: the first workspace folder
	Limit  int    `json:"limit,omitzero"` // at most so many; absent: 100
}

// TurnListResult lists turns, undos and redos, the newest first, also those of
// other sessions, editors and the terminal.
type TurnListResult struct {
	Turns []TurnRow `json:"turns"`
}

// TurnParams name a turn: sallyport/turn/show, sallyport/receipt.
type TurnParams struct {
	Turn   string `json:"turnId,omitzero"` // or the beginning of one; absent: the newest
	Folder string `json:"cwd,omitzero"`    // the project; absent: the first workspace folder
}

// TurnShowResult is what a turn changed, file by file, by root and path.
type TurnShowResult struct {
	Turn  TurnRow    `json:"turn"`
	Files []FileDiff `json:"files"`
}

// UndoParams are the params of sallyport/turn/undo and sallyport/turn/redo.
type UndoParams struct {
	TurnParams          // absent turnId: the last one that can be taken back, or was
	Session    string   `json:"sessionId,omitzero"` // for the record
	Paths      []string `json:"paths,omitzero"`     // only these, with what is beneath them: absolute, or relative to cwd; absent: all
	DryRun     bool     `json:"dryRun,omitzero"`    // say what would be done
	Force      bool     `json:"force,omitzero"`     // take back also what changed since; what is overwritten can be had again by a redo
}

// Undone is what an undo or a redo did. What is in conflicts was left alone.
type Undone = turns.Undone

// ReceiptResult is the record of a turn; its schema is printed by sallyport
// receipt --schema.
type ReceiptResult struct {
	Receipt *receipt.Receipt `json:"receipt"`
}
