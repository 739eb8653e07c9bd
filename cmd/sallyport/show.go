package main

import (
	"context"
	"io"

	"sallyport/server/wire"
)

const showHelp = `usage: sallyport show [TURN] [--stat] [--json]

Shows what a turn changed, file by file, with whose each change is: mediated
(written through Sallyport), declared (told by the agent), silent (found on the
disk), user, unsure. TURN is an id or its beginning; default: the newest.

  --stat      one line for each file
  --json      as JSON, with the fields of sallyport/turn/show
  --cwd DIR   the project; default: the current folder, or the next one above
              it that has turns
  --color WHEN  auto (default), always, never

On a terminal it goes through $PAGER, or less; PAGER=cat is none. In a pipe the
differences are as patch(1) wants them.

example:
  sallyport show
  sallyport show t-3f --stat
`

func show(c *call) int {
	f := c.flags("show", showHelp)
	var flags recordFlags
	flags.add(f)
	stat := f.Bool("stat", false, "")
	words, status, done := c.words(f)
	if done {
		return status
	}
	page, ok := c.page(flags)
	switch {
	case len(words) > 1:
		return c.usage("show", "give one turn")
	case !ok:
		return c.usage("show", badColour)
	}
	ctx := context.Background()
	r, status, done := c.openRecord(ctx, "show", flags)
	if done {
		return status
	}
	defer r.close()
	row, err := r.find(ctx, first(words))
	if err != nil {
		return c.failTurn("show", r, err)
	}
	files, err := r.Diff(ctx, row.Folder, row.Turn)
	switch {
	case err != nil:
		return c.failTurn("show", r, err)
	case flags.lines:
		return c.print("show", wire.TurnShowResult{Turn: row, Files: append([]wire.FileDiff{}, files...)})
	}
	return c.status("show", c.paged(func(w io.Writer) error {
		page.Out = w
		err := page.Head(row)
		switch {
		case err != nil:
			return err
		case *stat:
			return page.Stat(files)
		default:
			return page.Diffs(files)
		}
	}))
}

// first of a command's arguments, "" when there is none.
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
