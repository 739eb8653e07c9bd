package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/home"
	"sallyport/server/terminal"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// record is the record of turns as one command uses it. No agent and no editor
// is involved: it is the state folder.
type record struct {
	*turns.Store
	home   *home.Home
	folder string // the project
}

// recordFlags are those of every command about the record.
type recordFlags struct {
	cwd, colour string
	lines       bool // JSON
}

func (r *recordFlags) add(f *flag.FlagSet) {
	f.StringVar(&r.cwd, "cwd", "", "")
	f.StringVar(&r.colour, "color", "auto", "")
	f.BoolVar(&r.lines, "json", false, "")
}

// openRecord opens the record, for the project that dir is in. The caller
// closes it. status is the exit status when done is true.
func (c *call) openRecord(ctx context.Context, name string, flags recordFlags) (r *record, status int, done bool) {
	dir, err := folder(flags.cwd)
	if err != nil {
		return nil, c.usage(name, "--cwd: "+err.Error()), true
	}
	log := c.log(slog.LevelWarn)
	h, err := home.Open(log)
	if err != nil {
		return nil, c.fail(name, err), true
	}
	store, err := h.Turns(ctx)
	if err != nil {
		h.Close()
		return nil, c.fail(name, err), true
	}
	r = &record{Store: store, home: h}
	r.folder = store.Project(dir)
	return r, 0, false
}

func (r *record) close() { r.home.Close() } // and the store

// keepTurns gives a bridge the record. Where that cannot be opened turns go on
// without it, and the bridge tells so before each.
func keepTurns(ctx context.Context, h *home.Home, b *bridge.Bridge) {
	store, err := h.Turns(ctx)
	if err != nil {
		b.Log.Error("opening the record of turns", "err", err)
		b.NoTurns = fmt.Errorf("turns are not recorded: %w", err)
		return
	}
	b.Turns = store
}

// find is the record with an id that begins so: one of the project, or, as ids
// are everybody's own, of another. Empty is the newest.
func (r *record) find(ctx context.Context, ref string) (turns.Row, error) {
	if ref == "" {
		rows, err := r.List(ctx, r.folder, 1)
		if err == nil && len(rows) == 0 {
			err = turns.ErrNotFound
		}
		if err != nil {
			return turns.Row{}, err
		}
		return rows[0], nil
	}
	row, err := r.Find(ctx, r.folder, ref)
	if errors.Is(err, turns.ErrNotFound) {
		return r.Find(ctx, "", ref)
	}
	return row, err
}

// failTurn tells an error of the record, and what to do about it.
func (c *call) failTurn(name string, r *record, err error) int {
	status := c.fail(name, err)
	hint := ""
	var busy *turns.BusyError
	var gone *turns.GoneError
	switch {
	case errors.Is(err, turns.ErrNothing), errors.Is(err, turns.ErrNotUndone):
		hint = "sallyport turns lists what is on the record of " + r.folder
	case errors.Is(err, turns.ErrNotFound), errors.Is(err, turns.ErrAmbiguous), errors.Is(err, receipt.ErrNotFound):
		hint = "sallyport turns lists those of " + r.folder + ", with --all those of every project"
	case errors.As(err, &busy):
		hint = "cancel it or wait for its end"
	case errors.As(err, &gone):
		hint = "sallyport receipt " + gone.Turn + " says what it did"
	}
	if hint != "" {
		fmt.Fprintf(c.stderr, "hint: %s\n", hint)
	}
	return status
}

// page is where a person reads; not ok for a --color that means nothing.
func (c *call) page(flags recordFlags) (p terminal.Page, ok bool) {
	painted, ok := c.colour(flags.colour)
	return terminal.Page{Colour: painted, Screen: painted || c.onTerminal()}, ok
}

// print writes JSON for programs.
func (c *call) print(name string, v any) int {
	raw, err := json.Marshal(v, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err == nil {
		_, err = c.stdout.Write(append(raw, '\n'))
	}
	return c.status(name, err)
}
