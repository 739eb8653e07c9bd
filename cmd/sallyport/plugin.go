package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/home"
	"sallyport/plugins/decider"
)

const pluginHelp = `usage: sallyport plugin test DIR [--json]
       sallyport plugin dev DIR
       sallyport plugin journal ID [--decisions] [--last N] [--json]

For deciders: programs that may settle an agent's permissions. DIR is the folder
of one, with its decider.json.

test plays requests: those in DIR/decisions/*.json, or the built-in ones where
there are none. It fails when the program starts slowly, or when an answer is
wrong or comes after 500 ms.

dev starts the program and plays what you type: "Bash rm -rf build", or a whole
request as JSON.

journal shows what a decider did, oldest first.

  --decisions   only what it decided and did not decide
  --last N      only the last N lines
  --json        a line of JSON for each

example:
  sallyport plugin test ./team-rules
  echo 'Bash npm test' | sallyport plugin dev ./team-rules
  sallyport plugin journal dev.example.team-rules --decisions

exit status: 0 done, 1 it failed or an answer was wrong or late, 2 usage
`

func plugin(c *call) int {
	f := c.flags("plugin", pluginHelp)
	lines := f.Bool("json", false, "")
	decisions := f.Bool("decisions", false, "")
	last := f.Int("last", 0, "")
	words, status, done := c.words(f)
	if done {
		return status
	}
	what := first(words)
	known := []string{"test", "dev", "journal"}
	switch {
	case what == "":
		return c.usage("plugin", "say what to do: "+strings.Join(known, ", "))
	case !slices.Contains(known, what):
		return c.usage("plugin", fmt.Sprintf("there is no %q: %s", what, strings.Join(known, ", ")))
	case len(words) != 2:
		return c.usage("plugin", what+" takes one argument")
	case what != "journal" && (*decisions || *last != 0):
		return c.usage("plugin", "--decisions and --last are for journal")
	case what == "dev" && *lines:
		return c.usage("plugin", "--json is for test and journal")
	case *last < 0:
		return c.usage("plugin", "--last is a number of lines")
	}
	h, err := home.Open(c.log(slog.LevelWarn))
	if err != nil {
		return c.fail("plugin", err)
	}
	defer h.Close()
	switch what {
	case "journal":
		return c.journal(h.Journals(), words[1], *decisions, *last, *lines)
	case "dev":
		return c.dev(h, words[1])
	default:
		return c.testPlugin(h, words[1], *lines)
	}
}

// journal shows the journal of a decider.
func (c *call) journal(folder, id string, decisions bool, last int, lines bool) int {
	var all []decider.Entry
	err := decider.ReadJournal(folder, id, func(e decider.Entry) bool {
		if !decisions || e.What == decider.Decided {
			all = append(all, e)
		}
		if last > 0 && len(all) > 2*last {
			all = slices.Delete(all, 0, len(all)-last)
		}
		return true
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(c.stderr, "sallyport plugin: %s has no journal\nhint: it has one once an agent has asked for something while the decider is on\n", id)
		return 1
	case err != nil:
		return c.fail("plugin", err)
	}
	if last > 0 && len(all) > last {
		all = all[len(all)-last:]
	}
	var b strings.Builder
	for _, e := range all {
		if lines {
			if err := json.MarshalWrite(&b, e); err != nil {
				return c.fail("plugin", err)
			}
		} else {
			b.WriteString(e.String())
		}
		b.WriteByte('\n')
	}
	_, err = c.stdout.WriteString(b.String())
	return c.status("plugin", err)
}
