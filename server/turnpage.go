package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/server/conversation"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
	"sallyport/workspace/turns"
)

// pageRows is how many turns the page of turns has.
const pageRows = 50

// commandTurns shows the turns of a folder as a document, with the changes of
// the newest.
func (c *client) commandTurns(ctx context.Context, raw jsontext.Value) error {
	var a folderArgs
	if err := argument(raw, &a, "uri"); err != nil {
		return err
	}
	folder, rec, err := c.recordOf(a.URI)
	if err != nil {
		return err
	}
	rows, err := rec.TurnList(ctx, folder, pageRows)
	if err != nil {
		return failed("reading the turns: %v", err)
	}
	if len(rows) == 0 {
		return failed("there is no turn of this folder on the record yet")
	}
	page, err := c.book.page("turns of "+filepath.Base(folder), "Turns in "+folder)
	if err != nil {
		return failed("writing the page of turns: %v", err)
	}
	for _, row := range rows {
		page.Note(rowKind(row), row.Turn+rowWords(row))
	}
	if files, err := rec.TurnShow(ctx, folder, rows[0].Turn); err == nil {
		page.Items("Changed by "+string(rows[0].Kind)+" "+rows[0].Turn, fileItems(files))
		for _, f := range files {
			page.Patch(f.Unified)
		}
	}
	if err := page.Close(); err != nil {
		return failed("writing the page of turns: %v", err)
	}
	c.showConversation(ctx, page.Path(), true)
	return nil
}

// commandClear takes the marks of untrusted content off the session of a folder.
func (c *client) commandClear(ctx context.Context, raw jsontext.Value) error {
	var a folderArgs
	if err := argument(raw, &a, "uri"); err != nil {
		return err
	}
	folder, rec, err := c.recordOf(a.URI)
	if err != nil {
		return err
	}
	session, _, _ := c.talks.sessionOf(folder)
	if session == "" {
		return failed("there is no session in this folder yet")
	}
	_, err = rec.ClearTaint(ctx, session)
	return err
}

func rowKind(row turns.Row) string {
	switch row.Kind {
	case receipt.Undo:
		return "Undo"
	case receipt.Redo:
		return "Redo"
	default:
		return "Turn"
	}
}

// rowWords is a row after its id, for a person.
func rowWords(row turns.Row) string {
	words := []string{row.Started.Local().Format(time.DateTime)}
	switch {
	case row.Of != "":
		words = append(words, "of "+row.Of)
	case row.Agent != "":
		words = append(words, row.Agent)
	}
	words = append(words, count(row.Changed, "file")+" changed")
	switch {
	case row.Running:
		words = append(words, "running")
	case row.Undone:
		words = append(words, "undone")
	case row.Undoable:
		words = append(words, "can be undone")
	case row.Why != "":
		words = append(words, "cannot be undone: "+row.Why)
	}
	if row.Interrupted {
		words = append(words, "interrupted")
	}
	return ", " + strings.Join(words, ", ")
}

func fileItems(files []turns.FileDiff) (items []conversation.Item) {
	for _, f := range files {
		note := f.Kind + ", " + string(f.By)
		switch {
		case f.Binary:
			note += ", not text"
		case f.Omitted != "":
			note += ", not shown: " + f.Omitted
		}
		items = append(items, conversation.Item{Name: f.Path, Note: text.Visible(note)})
	}
	return items
}

// undoneItems are the paths of an undo.
func undoneItems(u *turns.Undone) (items []conversation.Item) {
	for _, part := range []struct {
		list []turns.PathState
		note string
	}{{u.Done, "done"}, {u.Conflicts, "left alone"}, {u.Already, "was so already"}} {
		for _, p := range part.list {
			note := part.note
			if p.Why != "" {
				note += ": " + p.Why
			}
			items = append(items, conversation.Item{Name: p.Path, Note: text.Visible(note)})
		}
	}
	return items
}

// changeItems are the paths that a turn changed.
func changeItems(changes []receipt.Change) (items []conversation.Item) {
	for _, ch := range changes {
		items = append(items, conversation.Item{Name: ch.Path, Note: fmt.Sprintf("%s, %s", ch.Kind, ch.By)})
	}
	return items
}
