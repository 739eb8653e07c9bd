package server

import (
	"context"
	"errors"
	"strings"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// record is the record of turns; an error where none is kept.
func (c *client) record() (bridge.Recorder, error) {
	if r, ok := c.sessions.(bridge.Recorder); ok {
		return r, nil
	}
	return nil, &bridge.NotKeptError{}
}

// defaultRows is how many turns are listed where nobody says.
const defaultRows = 100

func listTurns(ctx context.Context, c *client, p *wire.TurnListParams) (any, error) {
	folder, err := c.cwd(wire.MethodTurnList, p.Folder)
	if err != nil {
		return nil, err
	}
	rec, err := c.record()
	if err != nil {
		return nil, err
	}
	if p.Limit <= 0 {
		p.Limit = defaultRows
	}
	rows, err := rec.TurnList(ctx, folder, p.Limit)
	return wire.TurnListResult{Turns: append([]wire.TurnRow{}, rows...)}, err
}

// turnOf finds the record that a request means.
func turnOf(ctx context.Context, rec bridge.Recorder, folder, ref string) (turns.Row, error) {
	limit := 0
	if ref == "" {
		limit = 1
	}
	rows, err := rec.TurnList(ctx, folder, limit)
	if err != nil {
		return turns.Row{}, err
	}
	var found []turns.Row
	for _, row := range rows {
		if row.Turn == ref {
			return row, nil
		}
		if strings.HasPrefix(row.Turn, ref) {
			found = append(found, row)
		}
	}
	switch len(found) {
	case 0:
		return turns.Row{}, turns.ErrNotFound
	case 1:
		return found[0], nil
	default:
		return turns.Row{}, turns.ErrAmbiguous
	}
}

// named is the record that a turn's name means: the newest for none.
type named struct {
	bridge.Recorder
	folder string
	row    turns.Row
}

func (c *client) named(ctx context.Context, method string, p *wire.TurnParams) (n named, err error) {
	if n.folder, err = c.cwd(method, p.Folder); err != nil {
		return n, err
	}
	if n.Recorder, err = c.record(); err != nil {
		return n, err
	}
	n.row, err = turnOf(ctx, n.Recorder, n.folder, p.Turn)
	return n, err
}

func showTurn(ctx context.Context, c *client, p *wire.TurnParams) (any, error) {
	n, err := c.named(ctx, wire.MethodTurnShow, p)
	if err != nil {
		return nil, err
	}
	files, err := n.TurnShow(ctx, n.folder, n.row.Turn)
	return wire.TurnShowResult{Turn: n.row, Files: append([]wire.FileDiff{}, files...)}, err
}

func turnReceipt(ctx context.Context, c *client, p *wire.TurnParams) (any, error) {
	n, err := c.named(ctx, wire.MethodReceipt, p)
	if err != nil {
		return nil, err
	}
	r, err := n.Receipt(ctx, n.folder, n.row.Turn)
	return wire.ReceiptResult{Receipt: r}, err
}

func undoTurn(ctx context.Context, c *client, p *wire.UndoParams) (any, error) {
	return c.undoFor(ctx, wire.MethodTurnUndo, p, false)
}

func redoTurn(ctx context.Context, c *client, p *wire.UndoParams) (any, error) {
	return c.undoFor(ctx, wire.MethodTurnRedo, p, true)
}

func (c *client) undoFor(ctx context.Context, method string, p *wire.UndoParams, redo bool) (any, error) {
	folder, err := c.cwd(method, p.Folder)
	if err != nil {
		return nil, err
	}
	rec, err := c.record()
	if err != nil {
		return nil, err
	}
	u, err := rec.TurnUndo(ctx, turns.Undo{
		Folder: folder, Turn: p.Turn, Redo: redo, DryRun: p.DryRun, Force: p.Force, Paths: p.Paths, Session: p.Session,
	})
	c.standing.forget()
	if err != nil {
		return nil, err
	}
	return *whole(u), nil
}

// whole has no list that is null: plugins go through them.
func whole(u *turns.Undone) *turns.Undone {
	for _, list := range []*[]turns.PathState{&u.Done, &u.Conflicts, &u.Already} {
		if *list == nil {
			*list = []turns.PathState{}
		}
	}
	return u
}

// turnRefusal is the answer to an error of the record of turns; nil for others.
func turnRefusal(err error) *rpc.Error {
	var (
		busy *turns.BusyError
		gone *turns.GoneError
		none *bridge.NotKeptError
	)
	switch {
	case errors.As(err, &none):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorUnsupported})
	case errors.Is(err, turns.ErrNotFound), errors.Is(err, turns.ErrAmbiguous), errors.Is(err, receipt.ErrNotFound):
		return answer(wire.CodeInvalidParams, err.Error(), wire.ErrorData{Kind: wire.ErrorUnknownTurn, Field: "/turnId"})
	case errors.Is(err, turns.ErrNothing), errors.Is(err, turns.ErrNotUndone):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorNothing})
	case errors.As(err, &busy):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorBusy, Hint: "cancel it or wait for its end"})
	case errors.As(err, &gone):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorTurnGone, Hint: "sallyport receipt " + gone.Turn + " says what the turn did"})
	default:
		return nil
	}
}
