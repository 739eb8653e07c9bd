package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// row is a turn of the record.
func row(id string, kind receipt.Kind, undoable bool) turns.Row {
	return turns.Row{
		RowHead:  turns.RowHead{Turn: id, Kind: kind, Agent: "fake"},
		When:     receipt.When{Started: time.Date(2026, 4, 30, 14, 2, 0, 0, time.UTC)},
		Changed:  2,
		RowState: turns.RowState{Undoable: undoable},
	}
}

// kindOf is the kind of an answer that is an error.
func kindOf(t *testing.T, err error) wire.ErrorKind {
	t.Helper()
	var said *rpc.Error
	var data wire.ErrorData
	if !errors.As(err, &said) || json.Unmarshal(said.Data, &data) != nil {
		t.Fatalf("%v is no answer of ours", err)
	}
	return data.Kind
}

func TestTurnRequests(t *testing.T) {
	r := plugin(t)
	all := []turns.Row{row("t-2b", receipt.Turn, true), row("t-2a", receipt.Turn, true), row("t-1", receipt.Turn, false)}
	r.ss.Rows = func() []turns.Row { return all }
	r.ss.Files = []turns.FileDiff{{Path: "a.txt", Kind: receipt.Added, By: receipt.BySilent, Shown: turns.Shown{Unified: "+x\xff\n"}}}
	r.ss.Undo = func(u turns.Undo) (*turns.Undone, error) { return &turns.Undone{Turn: "u-1", Of: u.Turn}, nil }
	r.start()
	var list wire.TurnListResult
	if err := r.ed.Call(r.ctx, wire.MethodTurnList, wire.TurnListParams{Limit: 2}, &list); err != nil || len(list.Turns) != 2 || list.Turns[0].Turn != "t-2b" {
		t.Errorf("turn/list: %+v, %v", list, err)
	}
	var shown wire.TurnShowResult
	for ref, want := range map[string]string{"": "t-2b", "t-1": "t-1", "t-2a": "t-2a"} {
		if err := r.ed.Call(r.ctx, wire.MethodTurnShow, wire.TurnParams{Turn: ref}, &shown); err != nil || shown.Turn.Turn != want || len(shown.Files) != 1 {
			t.Errorf("turn/show %q: %+v, %v, want %s", ref, shown, err, want)
		}
	}
	for _, ref := range []string{"t-2", "t-9"} {
		for _, method := range []string{wire.MethodTurnShow, wire.MethodReceipt} {
			if err := r.ed.Call(r.ctx, method, wire.TurnParams{Turn: ref}, nil); kindOf(t, err) != wire.ErrorUnknownTurn {
				t.Errorf("%s %q: %v", method, ref, err)
			}
		}
	}
	var got wire.ReceiptResult
	if err := r.ed.Call(r.ctx, wire.MethodReceipt, wire.TurnParams{Turn: "t-1"}, &got); err != nil || got.Receipt.Turn != "t-1" {
		t.Errorf("receipt: %+v, %v", got, err)
	}
	for method, redo := range map[string]string{wire.MethodTurnUndo: "false", wire.MethodTurnRedo: "true"} {
		var done map[string]jsontext.Value
		p := wire.UndoParams{TurnParams: wire.TurnParams{Turn: "t-1"}, Paths: []string{"a"}, DryRun: true, Force: true}
		if err := r.ed.Call(r.ctx, method, p, &done); err != nil {
			t.Fatal(err)
		}
		if string(done["done"]) != "[]" || string(done["conflicts"]) != "[]" || string(done["already"]) != "[]" || string(done["of"]) != `"t-1"` {
			t.Errorf("%s: %s", method, done)
		}
		want := "TurnUndo " + r.ed.Folder + " t-1 redo " + redo + ` dry true force true ["a"]`
		if !slices.Contains(r.ss.Made(), want) {
			t.Errorf("%s: called %q, want %q", method, r.ss.Made(), want)
		}
	}
	if err := r.ed.Call(r.ctx, wire.MethodTurnList, wire.TurnListParams{Folder: "engine"}, nil); kindOf(t, err) != wire.ErrorParams {
		t.Errorf("a relative cwd: %v", err)
	}
}

func TestTurnErrors(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		kind wire.ErrorKind
	}{
		{turns.ErrNothing, wire.CodeFailed, wire.ErrorNothing},
		{fmt.Errorf("finding t: %w", turns.ErrNotFound), wire.CodeInvalidParams, wire.ErrorUnknownTurn},
		{turns.ErrAmbiguous, wire.CodeInvalidParams, wire.ErrorUnknownTurn},
		{&turns.BusyError{Turn: "t-1", Kind: receipt.Turn, Folder: "/p"}, wire.CodeFailed, wire.ErrorBusy},
		{&turns.GoneError{Turn: "t-1", Why: "its checkpoint is not kept"}, wire.CodeFailed, wire.ErrorTurnGone},
		{errors.New("the disk is full"), wire.CodeFailed, wire.ErrorInternal},
	} {
		r := plugin(t)
		r.ss.Undo = func(turns.Undo) (*turns.Undone, error) { return nil, test.err }
		r.start()
		err := r.ed.Call(r.ctx, wire.MethodTurnUndo, wire.UndoParams{}, nil)
		if codeOf(err) != test.code || kindOf(t, err) != test.kind || !strings.Contains(err.Error(), test.err.Error()) {
			t.Errorf("%v: answered %v, want %d %s", test.err, err, test.code, test.kind)
		}
	}
}
