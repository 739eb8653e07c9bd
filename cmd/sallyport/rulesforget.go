package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sallyport/workspace/answers"
)

// forgetWithin is how long others that keep answers are waited for.
const forgetWithin = 10 * time.Second

// forgetRule takes back answers for good in a project: the one of a number in the
// list, or all of a rule.
func (c *call) forgetRule(store answers.Store, project, which string) int {
	all, err := store.List(project)
	if err != nil {
		return c.fail("rules", err)
	}
	match := func(a answers.Answer) bool { return a.Rule == strings.TrimSpace(which) }
	if n, err := strconv.Atoi(which); err == nil {
		if n < 1 || n > len(all) {
			return c.fail("rules", fmt.Errorf("there is no answer %d here: `sallyport rules` numbers them, %d in all", n, len(all)))
		}
		picked := all[n-1]
		match = func(a answers.Answer) bool { return a == picked }
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetWithin)
	defer cancel()
	gone, err := store.Forget(ctx, project, match)
	if err != nil {
		return c.fail("rules", err)
	}
	if len(gone) == 0 {
		return c.fail("rules", errors.New("nothing was answered for good about "+printable(which)+" in "+printable(project)+": `sallyport rules` lists what was; the rules of a configuration are taken back in its file"))
	}
	for _, a := range gone {
		fmt.Fprintf(c.stdout, "taken back: %s %s, answered %s on %s\n", a.Say, printable(a.Rule), printable(a.Agent), a.Kept.Local().Format(time.DateOnly))
	}
	return 0
}
