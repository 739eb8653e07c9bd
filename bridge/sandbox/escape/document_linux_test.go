package escape

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// document is where the outcomes are told.
const document = "../../../docs/FENCES.md"

// TestDocument sees that docs/FENCES.md is what the kept outcomes make, or makes
// it; when these are made anew, TestMatrix makes it once more.
func TestDocument(t *testing.T) {
	want := tell(keptLines(t))
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what %s makes; run go test ./bridge/sandbox/escape -update", document, golden)
	}
}

const documentHead = `# What the kernel's fences hold

<!-- made by go test ./bridge/sandbox/escape -update from bridge/sandbox/escape/testdata/escape.json; do not edit -->

Sallyport starts an agent inside a fence that the kernel holds, for the agent and everything that it starts. This page is the list of
ways out that were tried, as small programs inside the fence, and of ordinary work that has to go on. Each was really run, as an
ordinary user and as root, and looked at from outside; the tests in [bridge/sandbox/escape](../bridge/sandbox/escape) fail when one of them comes out otherwise, for better or worse.
What real agents did is in [GUARANTEES.md](GUARANTEES.md).

- **bubblewrap** with Landlock's scopes on top is what Sallyport uses where it can. A session says *full*.
- **Landlock** alone is used where bubblewrap is missing or not allowed. A session says *partial*, and names what is not held.
- **no fence**: the same without one. It shows that the tries are real ones; what is held there is held by file permissions, or by the way in which every agent is started.
- **asked**: the same asked of Sallyport, as agents do that read and write through their editor. The backend does not matter there.

| word | means |
| --- | --- |
| held | it was tried and did not happen |
| works | it has to work, and did |
| refused | it has to work elsewhere, and does not here |
| **gap** | it happened |
| told | it happened, and the user was told: within a second, or when the turn ended |
| limit | it happened, and nothing here can hold it |
| not started | the agent was not started in such a place |
`

// columns are those of the tables.
var columns = []struct{ name, head string }{{bubblewrap, "bubblewrap"}, {landlock, "Landlock"}, {none, "no fence"}, {"fs", "asked"}}

// tell writes the document.
func tell(all []line) string {
	var b strings.Builder
	b.WriteString(documentHead)
	b.WriteString("\n## Counted\n\n")
	count(&b, all)
	for _, g := range []struct{ letter, title string }{
		{"W", "Writing"}, {"R", "Private projects and secrets"}, {"G", "Files that act later"},
		{"N", "Ways round the fence"}, {"S", "Sockets, signals, environment"}, {"P", "Processes"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n|  | tried | bubblewrap | Landlock | no fence | asked |\n| --- | --- | --- | --- | --- | --- |\n", g.title)
		for _, l := range all {
			if !strings.HasPrefix(l.ID, g.letter) {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", l.ID, l.About)
			for _, c := range columns {
				fmt.Fprintf(&b, " %s |", l.cell(c.name))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n## Not run\n\n")
	b.WriteString(notRun(all))
	return b.String()
}

// cell is what is said of both users.
func (l line) cell(column string) string {
	user, root := l.word(column+"/user"), l.word(column+"/root")
	switch {
	case user == root:
		return user
	case root == "":
		return user
	case user == "":
		return "as root: " + root
	default:
		return user + "; as root: " + root
	}
}

func (l line) word(cell string) string {
	if l.Not[cell] != "" {
		return "not run"
	}
	switch o := l.Seen[cell]; o {
	case allowed:
		return "works"
	case gap:
		return "**gap**"
	default:
		return string(o)
	}
}

// counted are the outcomes in the order in which they are counted.
var counted = []outcome{held, allowed, told, limit, gap, refused, barred}

// count writes how often each outcome was seen.
func count(b *strings.Builder, all []line) {
	b.WriteString("|  | held | works | told | limit | gap | refused | not started | not run |\n|" + strings.Repeat(" --- |", 9) + "\n")
	for _, c := range columns {
		for _, u := range []string{"user", "root"} {
			cell := c.name + "/" + u
			fmt.Fprintf(b, "| %s, %s |", c.head, map[string]string{"user": "as a user", "root": "as root"}[u])
			for _, o := range counted {
				n := 0
				for _, l := range all {
					if l.Seen[cell] == o {
						n++
					}
				}
				fmt.Fprintf(b, " %d |", n)
			}
			n := 0
			for _, l := range all {
				if l.Not[cell] != "" {
					n++
				}
			}
			fmt.Fprintf(b, " %d |\n", n)
		}
	}
}

// notRun lists what was not, and why.
func notRun(all []line) string {
	var b strings.Builder
	why := map[string][]string{}
	var order []string
	for _, l := range all {
		for _, c := range columns {
			for _, u := range []string{"user", "root"} {
				if reason := l.Not[c.name+"/"+u]; reason != "" {
					if why[reason] == nil {
						order = append(order, reason)
					}
					why[reason] = append(why[reason], fmt.Sprintf("%s (%s, %s)", l.ID, c.head, u))
				}
			}
		}
	}
	for _, reason := range order {
		fmt.Fprintf(&b, "- %s: %s.\n", reason, strings.Join(why[reason], ", "))
	}
	fmt.Fprintf(&b, "- macOS (sandbox-exec): all %d rows. The profile is written and its text is tested; it has not been run.\n", len(all))
	fmt.Fprintf(&b, "- Windows: all %d rows. There is no fence; a session says so.\n", len(all))
	b.WriteString("- Ubuntu with AppArmor's limit on user namespaces, containers, WSL: not run there. Which fence works is found out by running it, at every start.\n")
	return b.String()
}
