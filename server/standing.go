package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

const (
	// standingHolds is how long it is taken as known what can be taken back in a
	// folder: other editors and the terminal change it, too.
	standingHolds = 5 * time.Second
	// standingWaits is how long code actions wait for it.
	standingWaits = time.Second
	// standingRows is how far back it is looked.
	standingRows = 20
)

// standing knows what can be taken back in each folder, for code actions, which
// editors ask for at every move. The zero value is ready.
type standing struct {
	mu       sync.Mutex
	byFolder map[string]stand
	age      int // grows with each forget
}

// stand is the turn that can be taken back, and the one that was just before;
// empty: none.
type stand struct {
	undo, redo turns.Row
	seen       time.Time
}

// forget has every folder looked at anew.
func (s *standing) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age++
	clear(s.byFolder)
}

// of is what can be taken back in a folder.
func (s *standing) of(ctx context.Context, rec bridge.Recorder, folder string) (stand, error) {
	s.mu.Lock()
	known, age := s.byFolder[folder], s.age
	s.mu.Unlock()
	if !known.seen.IsZero() && time.Since(known.seen) < standingHolds {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, standingWaits)
	defer cancel()
	rows, err := rec.TurnList(ctx, folder, standingRows)
	if err != nil {
		return stand{}, fmt.Errorf("looking what can be taken back in %s: %w", folder, err)
	}
	now := standOf(rows)
	now.seen = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.age == age { // else something happened meanwhile
		if s.byFolder == nil {
			s.byFolder = map[string]stand{}
		}
		s.byFolder[folder] = now
	}
	return now, nil
}

// standOf reads it off the newest rows.
func standOf(rows []turns.Row) (s stand) {
	for i, row := range rows {
		switch {
		case row.Running:
			return stand{}
		case i == 0 && row.Kind == receipt.Undo && row.Undoable:
			s.redo = row
		case row.Kind == receipt.Turn && row.Undoable:
			s.undo = row
			return s
		}
	}
	return s
}

// undoActions are the code actions that take a turn back, for editors without
// our plugin.
func (c *client) undoActions(ctx context.Context, p *codeActionParams) (list []action) {
	rec, err := c.record()
	if err != nil || len(c.able.features) > 0 || p.Context.Trigger == triggerAutomatic {
		return nil
	}
	folder, err := c.folder(p.Document.URI)
	if err != nil {
		return nil
	}
	now, err := c.standing.of(ctx, rec, folder)
	if err != nil {
		c.log.Debug("code actions go without undo", "error", err)
		return nil
	}
	add := func(title, command, turn string) {
		list = append(list, action{title: title, kind: kindTurn, command: command, argument: undoArgs{Turn: turn, folderArgs: folderArgs{p.Document.URI}}})
	}
	if now.undo.Turn != "" {
		add("Undo the agent's last turn ("+count(now.undo.Changed, "file")+")", commandUndo, now.undo.Turn)
	}
	if now.redo.Turn != "" {
		add("Redo the agent's turn that was undone ("+count(now.redo.Changed, "file")+")", commandRedo, now.redo.Of)
	}
	return list
}

const (
	// triggerAutomatic is LSP's CodeActionTriggerKind of an editor that asks by
	// itself, to show that there is something to do here.
	triggerAutomatic = 2
	// kindTurn is a kind of actions that belong to no place in a file.
	kindTurn = string(protocol.CodeActionKindSource) + ".sallyport"
)
