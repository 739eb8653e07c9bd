package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/home"
	"sallyport/plugins/decider"
	"sallyport/plugins/rules"
	"sallyport/workspace/answers"
	"sallyport/workspace/config"
)

const rulesHelp = `usage: sallyport rules [list] [--cwd DIR] [--json]
       sallyport rules explain 'TOOL(WHAT)' [--cwd DIR] [--json]
       sallyport rules forget RULE|N [--cwd DIR]

list shows the rules that settle permissions in a folder, yours and those of the
project's file, which allows nothing, what you answered there for good, and the
deciders that are asked besides.

explain says what the rules make of one request, part by part: which rule decides,
and why. Deciders are not asked, and fences and modes are not looked at. An answer
holds for the agent that it names.

forget takes back what you answered for good: by its rule, to every agent, or by its
number in the list. It holds no more from the next request on.

  --cwd DIR   the session's folder; default: the current one
  --json      as JSON

example:
  sallyport rules
  sallyport rules explain 'Bash(git status && git push -f)'
  sallyport rules explain 'Edit(src/main.go)' --json | jq -r .say
  sallyport rules forget 'Bash(npm test)'
`

func rulesCommand(c *call) int {
	f := c.flags("rules", rulesHelp)
	cwd, lines := f.String("cwd", ".", ""), f.Bool("json", false, "")
	words, status, done := c.words(f)
	if done {
		return status
	}
	what := first(words)
	switch {
	case len(words) == 0, what == "list" && len(words) == 1, what == "explain" && len(words) == 2, what == "forget" && len(words) == 2:
	case what == "list":
		return c.usage("rules", "list takes no argument")
	case what == "explain":
		return c.usage("rules", "explain takes one request, in quotes")
	case what == "forget":
		return c.usage("rules", "forget takes one rule, in quotes, or its number in the list")
	default:
		return c.usage("rules", fmt.Sprintf("there is no %q: list, explain, forget", what))
	}
	dir, err := folder(*cwd)
	if err != nil {
		return c.usage("rules", "--cwd: "+err.Error())
	}
	h, err := home.Open(c.log(slog.LevelWarn))
	if err != nil {
		return c.fail("rules", err)
	}
	defer h.Close()
	project, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return c.fail("rules", err)
	}
	if what == "forget" {
		return c.forgetRule(h.Answers(), project, words[1])
	}
	effective, err := h.Config(dir)
	if err != nil {
		return c.fail("rules", err)
	}
	configured, err := bridge.RulesOf(effective.Permissions, dir)
	if err != nil {
		return c.fail("rules", err)
	}
	kept, err := h.Answers().List(project)
	if err != nil {
		return c.fail("rules", err)
	}
	answered, err := bridge.AnswerRules(kept, project)
	if err != nil {
		return c.fail("rules", err)
	}
	all := rules.Join(configured, answered)
	if what == "explain" {
		q, err := requestOf(words[1], dir)
		if err != nil {
			return c.usage("rules", err.Error())
		}
		return c.explainRules(all.Explain(q), *lines)
	}
	return c.listRules(effective.Permissions, kept, *lines)
}

// requestOf reads TOOL(WHAT).
func requestOf(text, dir string) (rules.Request, error) {
	tool, what, scoped := strings.Cut(strings.TrimSpace(text), "(")
	if scoped {
		var closed bool
		if what, closed = strings.CutSuffix(what, ")"); !closed {
			return rules.Request{}, fmt.Errorf("write the request as TOOL(WHAT), such as 'Bash(git push -f)'")
		}
	}
	if tool == "" {
		return rules.Request{}, fmt.Errorf("write the request as TOOL(WHAT), such as 'Bash(git push -f)'")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return rules.Request{}, err
	}
	userHome, err := os.UserHomeDir()
	if err != nil {
		userHome = "" // rules below ~ cover nothing that can be told
	}
	q := rules.Request{Kind: decider.KindOf(tool), Tool: tool, Folder: real, Home: userHome}
	switch q.Kind {
	case rules.Command:
		q.Command = what
	case rules.Fetch:
		q.URL = what
	case rules.Edit, rules.Read:
		if what == "" {
			break
		}
		q.Paths = []string{what}
		path := what
		if !filepath.IsAbs(path) {
			path = filepath.Join(real, path)
		}
		if leads, err := filepath.EvalSymlinks(path); err == nil && leads != filepath.Clean(path) {
			q.Paths = append(q.Paths, leads) // the rules know a file by both
		}
	}
	return q, nil
}

// explained is what explain --json prints of a request, and of each part.
type explained struct {
	Say   string      `json:"say"` // none, allow, ask, deny
	Rule  string      `json:"rule,omitzero"`
	From  string      `json:"from,omitzero"`
	Text  string      `json:"text,omitzero"`
	Why   string      `json:"why,omitzero"`
	Parts []explained `json:"parts,omitempty"`
}

func (c *call) explainRules(e rules.Explanation, lines bool) int {
	if !lines {
		_, err := c.stdout.WriteString(e.String())
		return c.status("rules", err)
	}
	out := explained{Say: e.Say.String(), Rule: e.Rule.Text, From: e.Rule.From, Why: e.Why}
	for _, p := range e.Parts {
		out.Parts = append(out.Parts, explained{Say: p.Say.String(), Rule: p.Rule.Text, From: p.Rule.From, Text: p.Text, Why: p.Why})
	}
	return c.status("rules", json.MarshalWrite(c.stdout, out, jsontext.WithIndent("  ")))
}

// listed is what list --json prints.
type listed struct {
	Policy   config.Policy    `json:"policy"`
	Rules    []explained      `json:"rules"`
	Files    []string         `json:"claudeSettings"`
	Deciders []config.Decider `json:"deciders"`
	Answers  []answers.Answer `json:"answers"` // the first is number 1
}

func (c *call) listRules(p config.Permit, kept []answers.Answer, lines bool) int {
	out := listed{Policy: p.Policy, Rules: []explained{}, Deciders: p.Deciders, Files: p.ClaudeSettings, Answers: slices.Concat([]answers.Answer{}, kept)}
	for _, list := range []struct {
		say, from string
		rules     []string
	}{
		{"deny", "you", p.Deny}, {"deny", "the project", p.Project.Deny},
		{"ask", "you", p.Ask}, {"ask", "the project", p.Project.Ask}, {"allow", "you", p.Allow},
	} {
		for _, rule := range list.rules {
			out.Rules = append(out.Rules, explained{Say: list.say, Rule: rule, From: list.from})
		}
	}
	if lines {
		return c.status("rules", json.MarshalWrite(c.stdout, out, jsontext.WithIndent("  ")))
	}
	var b strings.Builder
	for _, r := range out.Rules {
		fmt.Fprintf(&b, "%-5s  %s", r.Say, printable(r.Rule))
		if r.From != "you" {
			b.WriteString("  (of " + r.From + ")")
		}
		b.WriteByte('\n')
	}
	for i, a := range kept {
		fmt.Fprintf(&b, "%-5s  %s  (answer %d, of %s to %s", a.Say, printable(a.Rule), i+1, a.Kept.Local().Format(time.DateOnly), printable(a.Agent))
		if !a.Until.IsZero() {
			b.WriteString(", until " + a.Until.Local().Format(time.DateOnly))
		}
		b.WriteString(")\n")
	}
	for _, name := range out.Files {
		fmt.Fprintf(&b, "rules of %s\n", printable(name))
	}
	for _, d := range out.Deciders {
		name := d.Folder
		if m, err := decider.ReadManifest(d.Folder); err == nil {
			name = m.Name + ", " + m.ID + ", in " + d.Folder
		} else {
			name += " (" + err.Error() + ")"
		}
		fmt.Fprintf(&b, "asked  %s\n", printable(name))
	}
	if b.Len() == 0 {
		b.WriteString("no rules and no deciders: you are asked\n")
	}
	_, err := c.stdout.WriteString(b.String())
	return c.status("rules", err)
}
