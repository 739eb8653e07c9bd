// Sallyport stands between editors and AI coding agents. This file has the
// table of its subcommands; each has a file of its own and no logic.
package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// version is set by the linker of a release; otherwise the build's own.
var version = ""

// command is one subcommand. run returns the exit status.
type command struct {
	name    string
	summary string
	run     func(*call) int
}

// call is one invocation.
type call struct {
	args           []string
	stdin          *os.File
	stdout, stderr *os.File
}

func commands() []command {
	return []command{
		{"serve", "speak LSP on stdio: what editors start", serve},
		{"acp", "speak ACP on stdio in an agent's place: what Zed starts", acp},
		{"run", "run one turn from this terminal", run},
		{"demo", "show what Sallyport does, with a built-in agent", demo},
		{"turns", "list what is on the record", listTurns},
		{"show", "show what a turn changed", show},
		{"undo", "take a turn back", undo},
		{"redo", "take back that it was taken back", redo},
		{"receipt", "show the record of a turn, or check all of them", showReceipt},
		{"agents", "list the known agents", agents},
		{"fences", "say what an agent may read and write here, and what holds it", fences},
		{"rules", "show the rules that settle permissions here, and explain one", rulesCommand},
		{"doctor", "say which agents work here, and what mends the others", doctorCommand},
		{"plugin", "try a decider, and show what one decided", plugin},
		{"fake-agent", "be a scripted agent, for tests", fakeAgent},
		{"version", "print the version", printVersion},
	}
}

func main() {
	c := &call{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.dispatch())
}

// dispatch runs the subcommand. Exit status: 0 done, 1 failed, 2 usage.
func (c *call) dispatch() int {
	name := "help"
	if len(c.args) > 0 {
		name, c.args = c.args[0], c.args[1:]
	}
	switch name {
	case "help", "-h", "-help", "--help":
		overview(c.stdout)
		return 0
	}
	for _, cmd := range commands() {
		if cmd.name == name {
			return cmd.run(c)
		}
	}
	fmt.Fprintf(c.stderr, "sallyport: unknown command %q\nhint: sallyport --help lists the commands\n", name)
	return 2
}

func overview(w io.Writer) {
	var b strings.Builder
	b.WriteString("usage: sallyport COMMAND [FLAGS]\n\nThe guarded passage between your editor and AI coding agents.\n\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "  %-11s %s\n", cmd.name, cmd.summary)
	}
	b.WriteString("\nexample:\n  sallyport demo\n  sallyport run --agent gemini \"fix the failing test\"\n\nsallyport COMMAND --help says more. Exit status: 0 done, 1 failed, 2 usage.\n")
	_, _ = io.WriteString(w, b.String()) // a closed stdout needs no word
}

// flags makes a command's flags, with its help.
func (c *call) flags(name, usage string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() { _, _ = io.WriteString(c.stdout, usage) }
	return f
}

// parse reads the flags. status is the exit status when done is true.
func (c *call) parse(f *flag.FlagSet) (status int, done bool) {
	err := f.Parse(c.args)
	switch {
	case err == flag.ErrHelp:
		return 0, true
	case err != nil:
		return c.usage(f.Name(), err.Error()), true
	default:
		return 0, false
	}
}

// words reads flags wherever they stand among the arguments, and returns the
// arguments.
func (c *call) words(f *flag.FlagSet) (words []string, status int, done bool) {
	for {
		if status, done := c.parse(f); done {
			return nil, status, true
		}
		if f.NArg() == 0 {
			return words, 0, false
		}
		words, c.args = append(words, f.Arg(0)), f.Args()[1:]
	}
}

// usage complains about the command line.
func (c *call) usage(name, what string) int {
	fmt.Fprintf(c.stderr, "sallyport %s: %s\nhint: sallyport %s --help\n", name, what, name)
	return 2
}

// fail tells an error.
func (c *call) fail(name string, err error) int {
	fmt.Fprintf(c.stderr, "sallyport %s: %v\n", name, err)
	return 1
}

// log is the program's log on stderr.
func (c *call) log(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: level}))
}

// folder makes an existing absolute folder of a flag; empty is the current one.
func folder(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", abs)
	}
	return abs, nil
}

// buildVersion is what this program is.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
