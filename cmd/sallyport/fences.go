package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/home"
)

const fencesHelp = `usage: sallyport fences [--agent ID] [--cwd FOLDER] [--json] [PATH]...

Says what an agent may read and write here, by whom that is held, and why. The
fence is tried: a program that does nothing is started in it. "enforced" means
that the kernel refuses the agent's own tools and commands, too; "mediated" that
only what it asks Sallyport for is refused.

  --agent ID    the agent (default: the configuration's)
  --cwd FOLDER  the session's folder (default: this one)
  --json        for scripts

example:
  sallyport fences
  sallyport fences .git/hooks/pre-commit ~/.ssh/id_ed25519
  sallyport fences --agent codex --json .env | jq '.paths[].read'
`

func fences(c *call) int {
	f := c.flags("fences", fencesHelp)
	agent := f.String("agent", "", "")
	cwd := f.String("cwd", ".", "")
	asJSON := f.Bool("json", false, "")
	if status, done := c.parse(f); done {
		return status
	}
	dir, err := folder(*cwd)
	if err != nil {
		return c.fail("fences", err)
	}
	h, err := home.Open(c.log(slog.LevelWarn))
	if err != nil {
		return c.fail("fences", err)
	}
	defer h.Close()
	found, err := h.Fences(context.Background(), buildVersion(), *agent, dir)
	if err != nil {
		return c.fail("fences", err)
	}
	var paths []bridge.Explained
	for _, path := range f.Args() {
		paths = append(paths, found.Explain(absolute(path)))
	}
	if *asJSON {
		return c.status("fences", json.MarshalWrite(c.stdout, fencesReport(found, paths), jsontext.WithIndent("  ")))
	}
	return c.status("fences", printFences(c.stdout, found, paths))
}

// fencesReport is what --json prints.
func fencesReport(f *bridge.Fences, paths []bridge.Explained) any {
	return struct {
		Agent   string             `json:"agent"`
		Folder  string             `json:"folder"`
		Posture bridge.Posture     `json:"posture"`
		Kernel  any                `json:"kernel"`
		Rules   any                `json:"rules"`
		State   []string           `json:"state"`
		Paths   []bridge.Explained `json:"paths"`
	}{f.Agent, f.Folder, f.Posture, f.Report, f.Rules, f.State, paths}
}

// printFences prints for a person: paths, or where there are none all rules.
func printFences(w io.Writer, f *bridge.Fences, paths []bridge.Explained) error {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(p.Path)
		if p.Resolved != "" {
			b.WriteString(" -> " + p.Resolved)
		}
		fmt.Fprintf(&b, "\n  read   %s\n  write  %s\n", accessWords(p.Read), accessWords(p.Write))
	}
	if len(paths) == 0 {
		fmt.Fprintf(&b, "%s in %s\n%s\n", f.Agent, f.Folder, f.Posture.Sentence)
		for _, r := range f.Rules {
			fmt.Fprintf(&b, "  %-10s  %-14s  %s  (%s)\n", r.Fence, r.Access, r.What, r.Why)
		}
		for _, s := range f.State {
			fmt.Fprintf(&b, "  %-10s  %-14s  %s  (state of the agent)\n", "open", "write", s)
		}
		for _, g := range f.Report.Gaps {
			b.WriteString("not held: " + g + "\n")
		}
		for _, l := range f.Report.Limits {
			b.WriteString("limit: " + l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// accessWords is one line on one access.
func accessWords(a bridge.Access) string {
	switch {
	case a.Asked && a.Tools:
		return "allowed"
	case a.Asked:
		return fmt.Sprintf("only through Sallyport (%s): %s", a.Grade, a.Why)
	case a.Fence != "":
		return fmt.Sprintf("refused (%s, %s fence): %s", a.Grade, a.Fence, a.Why)
	default:
		return fmt.Sprintf("refused (%s): %s", a.Grade, a.Why)
	}
}

// absolute makes a path of the command line one of the current folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
