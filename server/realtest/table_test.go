package realtest

import (
	"fmt"
	"strings"
	"testing"
)

// table writes the rows as columns.
func table(b *strings.Builder, rows []Row) {
	line := func(label string, cell func(Row) string) {
		fmt.Fprintf(b, "| %s |", label)
		for _, r := range rows {
			fmt.Fprintf(b, " %s |", cell(r))
		}
		b.WriteByte('\n')
	}
	line("", func(r Row) string { return r.Agent.Name })
	fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(rows)+1))
	line("harness", func(r Row) string { return "`" + r.Agent.ID + "`" })
	line("package", func(r Row) string { return r.Agent.Package })
	line("version", func(r Row) string { return r.Agent.Version })
	for _, c := range cells() {
		line(c.label, c.tell)
	}
}

// cell is one line of the table.
type cell struct {
	label string
	tell  func(Row) string
}

func cells() []cell {
	return []cell{
		{"reading a file gives it", func(r Row) string { return r.Files.Reads.reading() }},
		{"unsaved text sent with the prompt", func(r Row) string { return choose(r.Files.Sent, "reached the model", "did not reach the model") }},
		{"an edit starts from", func(r Row) string { return r.Files.Edits.reading() }},
		{"an edit goes", func(r Row) string { return r.Files.Writes.writing() }},
		{"asks before an edit", func(r Row) string { return choose(r.Asks.Edit, "yes", "no") }},
		{"its card shows", func(r Row) string { return r.Asks.Diff }},
		{"a refused edit", func(r Row) string { return refusal(r.Asks.Rejected) }},
		{"asks before a command that writes", func(r Row) string { return choose(r.Asks.Command, "yes", "no, its sandbox let it write nothing") }},
		{"asks before a harmless command", func(r Row) string { return choose(r.Asks.Harmless, "yes", "no") }},
		{"an allowed command could write", func(r Row) string { return r.Asks.Shell.tell() }},
		{"a write outside the folder", func(r Row) string { return r.Asks.Outside.tell() }},
		{"a write to a reserved name", func(r Row) string { return r.Asks.Reserved.tell() }},
		{"a cancel, with a command running", func(r Row) string { return choose(r.Life.Outlives, "can leave it running", "ends it") }},
		{"a new file is on the receipt as", func(r Row) string { return string(r.Record["made.txt"]) }},
		{"an edit", func(r Row) string { return string(r.Record["edited.txt"]) }},
		{"a deleted file", func(r Row) string { return string(r.Record["deleted.txt"]) }},
		{"what a command changed", func(r Row) string { return string(r.Record["shell.txt"]) }},
		{"`rm -rf build`, which Team rules deny", func(r Row) string { return r.judged(func(j Judged) Fate { return j.Denied }) }},
		{"`npm test`, which they allow", func(r Row) string { return r.judged(func(j Judged) Fate { return j.Allowed }) }},
		{"a command that they leave to you", func(r Row) string { return r.judged(func(j Judged) Fate { return j.Rest }) }},
		{"lists its sessions", func(r Row) string { return choose(r.Life.List, "yes", "no") }},
		{"loads a session", func(r Row) string { return loads(r.Life) }},
		{"after it was killed the conversation was", func(r Row) string { return r.Life.Restarted }},
	}
}

// judged tells what became of a command under Team rules: the modes in their order,
// those with one fate together.
func (r Row) judged(of func(Judged) Fate) string {
	var fates []Fate
	modes := map[Fate][]string{}
	for _, mode := range fourModes {
		f := of(r.Rules[mode])
		if len(modes[f]) == 0 {
			fates = append(fates, f)
		}
		modes[f] = append(modes[f], "`"+string(mode)+"`")
	}
	if len(fates) == 1 {
		return fates[0].tell() + ", in every mode"
	}
	var all []string
	for _, f := range fates {
		all = append(all, f.tell()+" in "+strings.Join(modes[f], ", "))
	}
	return strings.Join(all, "; ")
}

func (f Fate) tell() string {
	by := map[By]string{ByTeam: "settled by them", ByPerson: "you are asked", ByItsMode: "settled by the mode", "": "nothing is asked"}[f.By]
	switch f.Itself {
	case Done:
		if f.By == "" {
			return "**done without asking**"
		}
		return "**done in its own sandbox without asking**, and to leave it, " + by
	case Nothing:
		if f.By == "" {
			return "not asked about, and nothing came of it"
		}
		return "its own sandbox let it do nothing, and to leave it, " + by
	default:
		return by
	}
}

func choose(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

func loads(l Life) string {
	switch {
	case !l.Loaded:
		return "without its history"
	case !l.Twice:
		return "once, with its history"
	default:
		return "with its history"
	}
}

func refusal(what string) string {
	if reason, ended := strings.CutPrefix(what, "ended: "); ended {
		return "ends the turn (`" + reason + "`)"
	}
	return "goes on in the turn"
}

func (w Where) reading() string {
	return map[Where]string{Buffer: "the buffer's text", Disk: "the disk's text"}[w]
}

func (w Where) writing() string {
	return map[Where]string{
		Buffer: "through Sallyport, into the buffer",
		Disk:   "on the disk, with its own tools; Sallyport merges it into the buffer",
	}[w]
}

func (s Shell) tell() string {
	return map[Shell]string{Anywhere: "anywhere", Inside: "in the project", Nowhere: "nothing: its own sandbox"}[s]
}

func (g Gate) tell() string {
	return map[Gate]string{Fence: "refused by Sallyport's fence when it asked", Self: "refused by the agent itself", Open: "**written**"}[g]
}

// TestTable sees that nothing in a row is without words.
func TestTable(t *testing.T) {
	for _, row := range keptRows(t) {
		for _, c := range cells() {
			if c.tell(row) == "" {
				t.Errorf("%s: nothing to say about %q", row.Agent.ID, c.label)
			}
		}
	}
}
