package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// scene is where the demo's turn was.
type scene struct {
	project, path, turn string
}

// takeBack tells the second half of the story: the turn is taken back, whole,
// with nothing of the person's lost, and that is taken back, too.
func (d *Demo) takeBack(ctx context.Context, rec bridge.Recorder, editor *Buffers, at scene) error {
	t := d.Terminal
	page := Page{Out: t.Out, Colour: t.Colour, Screen: true}
	made := filepath.Join(at.project, d.Story.Made)
	text := func() string {
		doc, _ := editor.Documents.Get(at.path)
		return doc.Text
	}
	after := text()

	t.Heading("You take the turn back. The agent also wrote " + d.Story.Made + ", with a tool of its own:")
	first, err := d.undo(ctx, rec, page, turns.Undo{Folder: at.project, Turn: at.turn})
	if err != nil {
		return err
	}
	err = d.checked([]check{
		{"what the agent wrote past Sallyport is gone, too", missing(made) && paths(first.Done) == d.Story.Made},
		{"you typed into " + d.Story.File + " meanwhile: it is left alone, not guessed at", paths(first.Conflicts) == d.Story.File && text() == after},
	})
	if err != nil {
		return err
	}

	t.Heading("You say that you mean it: --force")
	forced, err := d.undo(ctx, rec, page, turns.Undo{Folder: at.project, Turn: at.turn, Force: true})
	if err != nil {
		return err
	}
	disk, err := os.ReadFile(at.path)
	if err != nil {
		return err
	}
	doc, _ := editor.Documents.Get(at.path)
	err = d.checked([]check{
		{"the buffer is what it was before the turn, unsaved as it was", doc.Text == d.Story.Unsaved && doc.Dirty},
		{"so is the disk", string(disk) == d.Story.Saved && missing(made)},
	})
	if err != nil {
		return err
	}

	t.Heading("That was an undo too many. An undo is a turn, too:")
	if _, err := d.undo(ctx, rec, page, turns.Undo{Folder: at.project, Turn: forced.Turn}); err != nil {
		return err
	}
	if err := d.checked([]check{{"nothing that you typed is lost", text() == after}}); err != nil {
		return err
	}
	return d.receipt(ctx, rec, at)
}

// undo takes back, and prints what that did.
func (d *Demo) undo(ctx context.Context, rec bridge.Recorder, page Page, u turns.Undo) (*turns.Undone, error) {
	done, err := rec.TurnUndo(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("taking turn %s back: %w", u.Turn, err)
	}
	return done, page.Undone(done, false)
}

// receipt shows the turn's record, and looks at what it says.
func (d *Demo) receipt(ctx context.Context, rec bridge.Recorder, at scene) error {
	t := d.Terminal
	t.Heading("The record of the turn:")
	r, err := rec.Receipt(ctx, at.project, at.turn)
	if err != nil {
		return err
	}
	if err := r.Print(t.Out, receipt.PrintOptions{Colour: t.Colour}); err != nil {
		return err
	}
	var changed []string
	for _, c := range r.Did.Changes.List {
		changed = append(changed, c.Path+" "+string(c.By))
	}
	slices.Sort(changed)
	return d.checked([]check{
		{"it names both files, and whose each change is", slices.Equal(changed, []string{d.Story.File + " " + string(receipt.ByUnsure), d.Story.Made + " " + string(receipt.BySilent)})},
		{"it has the permission, and both refusals", r.Did.Permissions.Total > 0 && r.Did.Refusals.Total == 2},
	})
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// paths are the only path in a list; else something that is none.
func paths(list []turns.PathState) string {
	if len(list) != 1 {
		return fmt.Sprintf("%d files", len(list))
	}
	return list[0].Path
}
