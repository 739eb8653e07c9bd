package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"sallyport/workspace/turns"
)

const undoHelp = `usage: sallyport undo [TURN] [--dry-run] [--path PATH]… [--force] [--json]

Takes a turn back: exactly the files that it changed become what they were
before it. A file that changed since is left alone and named. An undo is itself
on the record: sallyport redo brings it back. TURN is an id or its beginning;
default: the last one that can be taken back.

  --dry-run    say what would be done, with the differences
  --path PATH  only this file, or what is beneath this folder; may be repeated
  --force      take back also what changed since; what is overwritten is kept
  --json       as JSON, with the fields of sallyport/turn/undo
  --cwd DIR    the project; default: the current folder, or the next one above
               it that has turns
  --color WHEN   auto (default), always, never

example:
  sallyport undo --dry-run
  sallyport undo t-3f --path src/pump.go

exit status: 0 done, 1 it failed or files were left alone, 2 usage
`

const redoHelp = `usage: sallyport redo [TURN] [--dry-run] [--path PATH]… [--force] [--json]

Takes back that a turn was taken back. TURN is an id or its beginning, of the
turn or of its undo; default: the last one that was taken back.

  --dry-run    say what would be done, with the differences
  --path PATH  only this file, or what is beneath this folder; may be repeated
  --force      overwrite also what changed since; what is overwritten is kept
  --json       as JSON, with the fields of sallyport/turn/redo
  --cwd DIR    the project; default: the current folder, or the next one above
               it that has turns
  --color WHEN   auto (default), always, never

example:
  sallyport redo

exit status: 0 done, 1 it failed or files were left alone, 2 usage
`

func undo(c *call) int { return takeBack(c, "undo", undoHelp, false) }

func redo(c *call) int { return takeBack(c, "redo", redoHelp, true) }

func takeBack(c *call, name, help string, redo bool) int {
	f := c.flags(name, help)
	var flags recordFlags
	flags.add(f)
	u := turns.Undo{Redo: redo}
	f.BoolVar(&u.DryRun, "dry-run", false, "")
	f.BoolVar(&u.Force, "force", false, "")
	f.Func("path", "", func(s string) error {
		if s == "" {
			return errors.New("it is empty")
		}
		abs, err := filepath.Abs(s)
		u.Paths = append(u.Paths, abs)
		return err
	})
	words, status, done := c.words(f)
	if done {
		return status
	}
	page, ok := c.page(flags)
	switch {
	case len(words) > 1:
		return c.usage(name, "give one turn")
	case !ok:
		return c.usage(name, badColour)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	r, status, done := c.openRecord(ctx, name, flags)
	if done {
		return status
	}
	defer r.close()
	u.Folder = r.folder
	if len(words) > 0 {
		row, err := r.find(ctx, words[0])
		if err != nil {
			return c.failTurn(name, r, err)
		}
		u.Folder, u.Turn = row.Folder, row.Turn
	}
	result, err := r.Undo(ctx, u)
	if err != nil {
		return c.failTurn(name, r, err)
	}
	status = 0
	if len(result.Conflicts) > 0 && !u.DryRun {
		status = 1
	}
	if flags.lines {
		return max(status, c.print(name, result))
	}
	err = c.paged(func(w io.Writer) error {
		page.Out = w
		if err := page.Undone(result, redo); err != nil {
			return err
		}
		return page.Diffs(result.Diffs)
	})
	return max(status, c.status(name, err))
}

// untilInterrupted is a context that ends with Ctrl-C or TERM: an undo stops
// then where it may.
func untilInterrupted() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	first := interrupts()
	go func() { // lives as long as the process
		<-first
		cancel()
	}()
	return ctx, cancel
}
