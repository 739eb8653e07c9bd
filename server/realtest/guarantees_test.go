package realtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// document is where the guarantees are told.
const document = "../../docs/GUARANTEES.md"

// TestGuarantees makes docs/GUARANTEES.md from the rows, or sees that it is
// what they make.
func TestGuarantees(t *testing.T) {
	rows := keptRows(t)
	var have []string
	for _, r := range rows {
		have = append(have, r.Agent.ID)
	}
	if !slices.Equal(have, ids()) {
		t.Errorf("%s has %q, want %q", golden, have, ids())
	}
	want := tell(rows)
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
		t.Errorf("%s is not what %s makes; run go test ./server/realtest -run Guarantees -update", document, golden)
	}
}

// tell writes the document.
func tell(rows []Row) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("\n## For every agent\n\n")
	fmt.Fprintf(&b, everyHead, names(rows, func(Row) bool { return true }))
	for _, p := range promises() {
		b.WriteString("- " + p.text)
		if not := names(rows, func(r Row) bool { return !p.holds(r) }); not != "" {
			b.WriteString(" Not so with " + not + ".")
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n## Agent by agent\n\n" + tableHead + "\n")
	table(&b, rows)
	b.WriteString(systems)
	b.WriteString("\n## What does not hold\n\n")
	for _, l := range limits(rows) {
		b.WriteString("- " + l + "\n")
	}
	return b.String()
}

const head = `# What holds, and what does not

<!-- made by go test ./server/realtest -update from server/realtest/testdata/guarantees.json; do not edit -->

This page says what was seen when real agents were driven through the real ` + "`sallyport serve`" + `, and no more. The tests are
in [server/realtest](../server/realtest); they fail when an agent does something else than is written here. The model behind
the agents was a scripted one, so what a real model tries is not foreseen: what is written here is what happened when an agent
tried it.

Grades, as the program uses them: *enforced* means that the kernel refuses it, to the agent and to all that it starts; *mediated* that
what passes through Sallyport is held; *observed* that it is only seen, afterwards and by the agent's word. What the kernel holds, and
where it does not, is in [FENCES.md](FENCES.md), try by try. Here the agents ran as root.
`

const everyHead = "Seen with %s, each started as Sallyport starts it in mode `default`:\n\n"

// promise is a sentence that was asserted for every agent, or that the rows
// decide.
type promise struct {
	text  string
	holds func(Row) bool
}

func always(Row) bool { return true } // asserted in a scene, so there is no row where it does not hold

func promises() []promise {
	return []promise{
		{"What you typed stays. A file was open with unsaved text, the agent edited it, and you typed elsewhere in it meanwhile; then you changed the very words that the agent was about to change. The open buffer held everything that you typed, byte for byte.", always},
		{"The agent's edit is in the buffer, too, as one step to undo, and the buffer stays unsaved. Where you changed the same words your text stays, and an agent that had written the disk by itself left its own there: a notice says that the two differ.", always},
		{"Your unsaved text is passed on: the document went along with the prompt and reached the model, and a notice said so.", func(r Row) bool { return r.Files.Sent }},
		{"You are asked before a file is edited, with a card that shows the file and the change. What you refuse is not written.", func(r Row) bool { return r.Asks.Edit }},
		{"When a file was written past Sallyport, with the agent's own tools, a notice names the file.", always},
		{"A write to a file outside the session's folder, and one to `.vscode/tasks.json`, did not happen although everything that was asked was allowed.", func(r Row) bool { return r.Asks.Outside != Open && r.Asks.Reserved != Open }},
		{"A command that changes a file in the project either was asked about, or changed nothing.", func(r Row) bool { return r.Asks.Command || r.Asks.Shell == Nowhere }},
		{"Inside the kernel's fence, and with everything allowed that was asked, the agent could not, by its file tools or by a command: read or list a private project beside the session's folder, write outside the folder, plant a git hook or change git's configuration, write or read Sallyport's own records, signal a process or read its environment. The posture said `enforced` before the first prompt, and each of these turns ended in order.", always},
		{"With the setting `sandbox` off the posture promised nothing of the kernel, and neither did anything else keep a command in the folder; what it wrote there without a word is on the receipt.", func(r Row) bool { return r.Asks.Shell != Nowhere }},
		{"A cancelled turn ends as cancelled, and the next prompt works.", always},
		{"A cancel ends the command that was running.", func(r Row) bool { return !r.Life.Outlives }},
		{"A session is loaded again by another process, its history is told and marked as history, and the model knows it.", func(r Row) bool { return r.Life.Loaded }},
		{"When the agent is killed in a turn you are told so, nothing of its command is left, and the next prompt starts it again, with the conversation.", func(r Row) bool { return r.Life.Restarted != "forgot" }},
		{"When the editor ends, or the editor or Sallyport itself is killed with SIGKILL while a command runs, no process of Sallyport, of the agent or of its command is left five seconds later.", always},
		{"A turn is taken back whole: it wrote a new file, edited one, deleted one and had a command change a fourth and a link, each with the tools that the agent has. `sallyport undo` and an editor's request each gave contents, modes, links and nothing where nothing was, byte for byte; so did each redo.", always},
		{"The receipt of that turn names every path that it changed, and whose the change is; `sallyport receipt verify` finds the record whole.", always},
		{"Git is not touched: the project was a repository in the middle of a merge, with staged, unstaged and untracked changes, a stash and settings that have git change line ends, and `git status`, the index, the refs and the merge were the same after each undo.", always},
		{"When Sallyport is killed with SIGKILL in the middle of a turn, the next one lists the turn as interrupted, and it is undone as any other.", always},
		{"With the decider Team rules of [examples/team-rules](../examples/team-rules) switched on, a command that they deny is refused in modes `default`, `acceptEdits`, `plan` and `bypassPermissions`, wherever the agent asks about it; who refused it and why reaches the model, with the next prompt at the latest. One that they allow runs and nobody is called. The rest is put to you in `default` and `acceptEdits`, allowed in `bypassPermissions` and refused in `plan`.", always},
		{"Nothing that Team rules deny was done.", func(r Row) bool { return !r.unasked(func(j Judged) Fate { return j.Denied }) }},
		{"At the end of a turn no tool call is left open, and every card is settled once.", always},
	}
}

// unasked reports whether a command was done in some mode, and nobody was asked.
func (r Row) unasked(of func(Judged) Fate) bool {
	for _, j := range r.Rules {
		if of(j).Itself == Done {
			return true
		}
	}
	return false
}

// names lists the agents for which f holds: "a, b and c"; "" for none.
func names(rows []Row, f func(Row) bool) string {
	var all []string
	for _, r := range rows {
		if f(r) {
			all = append(all, r.Agent.Name)
		}
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

const tableHead = `In the rows about files the file was open in the editor, with text that was not saved.
`

const systems = `
## System by system

| system | what was done |
| --- | --- |
| Linux, amd64 | everything on this page is tested here, with every agent |
| Linux, arm64 | built and vetted, not run |
| macOS, amd64 and arm64 | built and vetted, not run; a process that left its group and lost its parent may outlive the agent |
| Windows, amd64 and arm64 | built and vetted, not run |
`

// limits are the sentences on what does not hold.
func limits(rows []Row) []string {
	var all []string
	add := func(f func(Row) bool, sentence string) {
		if n := names(rows, f); n != "" {
			all = append(all, fmt.Sprintf(sentence, n))
		}
	}
	add(func(r Row) bool { return r.Files.Writes != Buffer }, "**Own tools for writing.** %s write the disk by themselves once you allowed it. Without the kernel's fence, one of Sallyport holds there only because the agent asks before.")
	add(func(r Row) bool { return r.Files.Writes != Buffer }, "**Two texts.** When one of %s and you changed the same words, the disk has the agent's and the buffer has yours. Saving the buffer takes the agent's change out of the file; the notice says so.")
	add(func(r Row) bool { return r.Files.Reads != Buffer }, "**Own tools for reading.** %s read the disk by themselves, without asking Sallyport: unsaved text is not in what they read. Without the kernel's fence, unreadable files and private projects are not closed to them.")
	add(func(r Row) bool { return r.Asks.Shell != Nowhere }, "**Commands.** Without the kernel's fence, a command that you allow %s does what it likes: it wrote outside the session's folder. It can read all that you can read.")
	add(func(r Row) bool { return r.Asks.Shell == Nowhere }, "**Unasked commands in a sandbox.** %s run commands without asking, in a sandbox of their own in which they read the whole disk and changed nothing. That sandbox is theirs, not Sallyport's.")
	add(func(r Row) bool { return !r.Asks.Harmless && r.Asks.Shell != Nowhere }, "**Unasked commands.** %s run a command without asking when they take it for harmless. The agent decides which are.")
	add(func(r Row) bool { return strings.HasPrefix(r.Asks.Rejected, "ended") }, "**A refusal ends the turn** with %s; the rest of what you asked for is not done.")
	add(func(r Row) bool { return r.Asks.Diff == "fragment" }, "**A part of the change.** The card of %s shows the words that are replaced, not the whole file.")
	add(func(r Row) bool { return r.Life.Outlives }, "**Commands after a cancel.** A command of %s can go on running after its turn was cancelled; it ends with the agent.")
	add(func(r Row) bool { return r.Life.Loaded && !r.Life.Twice }, "**One load.** %s did not have a conversation any more that had been loaded before: it removes it by itself when it is started again.")
	add(func(r Row) bool { return r.unasked(func(j Judged) Fate { return j.Rest }) }, "**Modes in which an agent asks less.** %s did commands without asking in some mode, in a sandbox of their own; the table says in which. What nobody asks about no decider denies.")
	return append(all,
		"**The network.** Nothing here keeps an agent or a command from it, unless the setting `network` says so.",
		"**Systems without a fence.** On Windows nothing is enforced; on macOS the fence was never run; where bubblewrap is not allowed, Landlock leaves gaps. The posture says so each time.",
		"**Other versions.** An agent of another version than the one in the table may behave differently; `sallyport doctor` says which one you have.",
		"**Other modes.** But for commands under Team rules, `acceptEdits`, `plan` and `bypassPermissions` are tested with a scripted agent only. An agent's own modes that nobody is sent to are not tested: Claude Code, in its own `plan`, was seen to run commands without asking, and Zed's adapter for Codex stayed in `auto` when it was set to `read-only` again.")
}
