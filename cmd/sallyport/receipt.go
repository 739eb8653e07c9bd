package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"sallyport/workspace/receipt"
)

const receiptHelp = `usage: sallyport receipt [TURN] [--json | --schema]
       sallyport receipt verify [--all] [--json]

Shows the record of a turn: who did what when, what was allowed by whom, what
was refused, and what changed. It has no contents, no prompts and no secrets.
TURN is an id or its beginning; default: the newest.

verify checks that no receipt of the project was edited, dropped or reordered,
and names those that were.

  --all       verify those of every project
  --json      as JSON
  --schema    print the JSON Schema of a receipt
  --cwd DIR   the project; default: the current folder, or the next one above
              it that has turns
  --color WHEN  auto (default), always, never

example:
  sallyport receipt
  sallyport receipt t-3f --json | jq .did.changes
  sallyport receipt verify --all

exit status: 0 done, 1 it failed or a receipt is not as it was written, 2 usage
`

func showReceipt(c *call) int {
	f := c.flags("receipt", receiptHelp)
	var flags recordFlags
	flags.add(f)
	all, schema := f.Bool("all", false, ""), f.Bool("schema", false, "")
	words, status, done := c.words(f)
	if done {
		return status
	}
	page, ok := c.page(flags)
	verify := first(words) == "verify"
	switch {
	case len(words) > 1:
		return c.usage("receipt", "give one turn")
	case *all && !verify:
		return c.usage("receipt", "--all is for verify")
	case !ok:
		return c.usage("receipt", badColour)
	case *schema:
		_, err := c.stdout.Write(receipt.Schema())
		return c.status("receipt", err)
	}
	ctx := context.Background()
	r, status, done := c.openRecord(ctx, "receipt", flags)
	if done {
		return status
	}
	defer r.close()
	if verify {
		return c.verify(ctx, r, *all, flags.lines)
	}
	row, err := r.find(ctx, first(words))
	if err != nil {
		return c.failTurn("receipt", r, err)
	}
	found, err := r.Receipts().Find(row.Folder, row.Turn)
	switch {
	case err != nil:
		return c.failTurn("receipt", r, err)
	case flags.lines:
		return c.print("receipt", found)
	}
	return c.status("receipt", c.paged(func(w io.Writer) error {
		return found.Print(w, receipt.PrintOptions{Width: c.width(), Colour: page.Colour})
	}))
}

// verify looks for receipts that are not as they were written.
func (c *call) verify(ctx context.Context, r *record, all, lines bool) int {
	where := r.folder
	if all {
		where = ""
	}
	report, err := r.Receipts().Verify(ctx, where)
	if err != nil {
		return c.fail("receipt", err)
	}
	status := 0
	if !report.Sound() {
		status = 1
	}
	if lines {
		return max(status, c.print("receipt", report))
	}
	var b strings.Builder
	for _, p := range report.Projects {
		folder := p.Folder
		if folder == "" {
			folder = p.Key
		}
		if p.Total == 0 {
			fmt.Fprintf(&b, "%s: %d receipts, all as they were written\n", folder, p.Receipts)
			continue
		}
		fmt.Fprintf(&b, "%s: %d receipts are as they were written, %d findings\n", folder, p.Receipts, p.Total)
		for _, x := range p.Findings {
			b.WriteString("  " + findingWords(x) + "\n")
		}
		if more := p.Total - len(p.Findings); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	if len(report.Projects) == 0 {
		b.WriteString("no receipts yet\n")
	}
	_, err = c.stdout.WriteString(b.String())
	return max(status, c.status("receipt", err))
}

// findingWords is one finding in a line.
func findingWords(x receipt.Finding) string {
	s := x.What + ":"
	if x.Seq > 0 {
		s += fmt.Sprintf(" receipt %d", x.Seq)
		if x.Last > x.Seq {
			s = fmt.Sprintf("%s: receipts %d to %d", x.What, x.Seq, x.Last)
		}
	}
	if x.Turn != "" {
		s += " of turn " + x.Turn
	}
	if x.File != "" {
		s += fmt.Sprintf(", %s line %d", x.File, x.Line)
	}
	return s + ": " + x.Why
}
