package main

import (
	"context"

	"sallyport/server/wire"
)

const turnsHelp = `usage: sallyport turns [--all] [-n N] [--json]

Lists the turns on the record, the newest first: those of the project that the
current folder is in. Undos and redos are turns of their own.

  --all       of every project
  -n N        at most N; default 20, 0 is all
  --json      as JSON, with the fields of sallyport/turn/list
  --cwd DIR   the project; default: the current folder, or the next one above
              it that has turns
  --color WHEN  auto (default), always, never

example:
  sallyport turns
  sallyport turns --all -n 5
`

func listTurns(c *call) int {
	const few = 20
	f := c.flags("turns", turnsHelp)
	var flags recordFlags
	flags.add(f)
	all, n := f.Bool("all", false, ""), f.Int("n", few, "")
	words, status, done := c.words(f)
	if done {
		return status
	}
	page, ok := c.page(flags)
	switch {
	case len(words) > 0:
		return c.usage("turns", "there are no arguments")
	case !ok:
		return c.usage("turns", badColour)
	case *n < 0:
		return c.usage("turns", "-n is 0 or more")
	}
	ctx := context.Background()
	r, status, done := c.openRecord(ctx, "turns", flags)
	if done {
		return status
	}
	defer r.close()
	where := r.folder
	if *all {
		where = ""
	}
	rows, err := r.List(ctx, where, *n)
	switch {
	case err != nil:
		return c.fail("turns", err)
	case flags.lines:
		return c.print("turns", wire.TurnListResult{Turns: append([]wire.TurnRow{}, rows...)})
	case len(rows) == 0 && *all:
		_, err = c.stderr.WriteString("sallyport turns: no turn is on the record yet\nhint: sallyport run PROMPT, or an editor, makes one\n")
		return c.status("turns", err)
	case len(rows) == 0:
		_, err = c.stderr.WriteString("sallyport turns: no turn of " + where + " is on the record\nhint: sallyport turns --all lists those of every project\n")
		return c.status("turns", err)
	}
	page.Out, page.Folders = c.stdout, *all
	return c.status("turns", page.Turns(rows))
}

const badColour = "--color is auto, always or never"
