package bridge

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/plugins/rules"
	"sallyport/workspace"
	"sallyport/workspace/config"
)

// RuleError says that a rule of the configuration cannot be read. No session
// starts then: the rule may be one that forbids.
type RuleError struct{ Problem rules.Problem }

func (e *RuleError) Error() string { return "reading the permissions: " + e.Problem.Error() }

// RulesOf are the rules of a configuration for a session in folder: the user's, the
// project's, and those of other files that the user named; without what was
// remembered. The error is a *RuleError, or says what file cannot be read.
func RulesOf(p config.Permit, folder string) (*rules.Rules, error) {
	user, problems := rules.Parse(rules.Lists{Deny: p.Deny, Ask: p.Ask, Allow: p.Allow}, rules.Source{})
	project, more := rules.Parse(rules.Lists{Deny: p.Project.Deny, Ask: p.Project.Ask}, rules.Source{Name: "the project", Root: p.Project.Folder})
	for _, problem := range append(problems, more...) {
		return nil, &RuleError{problem}
	}
	imported, err := importedRules(p.ClaudeSettings, folder)
	if err != nil {
		return nil, err
	}
	return rules.Join(append(imported, user, project)...), nil
}

// changes is what the rules say about the diffs of a card that is no edit;
// Allow where there are none.
func changes(all *rules.Rules, c *permit.Card, folder, home string) rules.Verdict {
	if len(c.Diffs) == 0 || c.Request.Kind == permit.Edit {
		return rules.Verdict{Say: rules.Allow}
	}
	q := rules.Request{Kind: rules.Edit, Tool: "Edit", Folder: folder, Home: home}
	for _, d := range c.Diffs {
		q.Paths = append(q.Paths, pathsOf(d.Path, folder)...)
	}
	return all.Decide(q)
}

// verdictOf is the stricter of what is said about an act and about its diffs.
func verdictOf(act, diffs rules.Verdict) permit.Verdict {
	v := act
	switch {
	case diffs.Say > v.Say:
		if diffs.Say > rules.Allow {
			v = diffs
		}
	case diffs.Say == rules.None && v.Say == rules.Allow:
		v = diffs
	}
	out := permit.Verdict{By: permit.ByDecider, Name: "rule " + v.Rule.Text, Why: v.Why}
	if v.Rule.Text == "" {
		out.Name = "rules"
	}
	if v.Rule.From != "" {
		out.Name += " of " + v.Rule.From
	}
	switch v.Say {
	case rules.Deny:
		out.Say = permit.Refuse
	case rules.Ask:
		out.Say = permit.AskUser
	case rules.Allow:
		out.Say = permit.Allow
	default:
		return permit.Verdict{}
	}
	return out
}

// ruleRequest is a card in the words of rules.
func ruleRequest(c *permit.Card, folder, home string) rules.Request {
	q := rules.Request{Kind: string(c.Request.Kind), Tool: c.Request.Tool, Folder: folder, Home: home}
	for _, p := range c.Paths {
		q.Paths = append(q.Paths, pathsOf(p, folder)...)
	}
	switch c.Request.Kind {
	case permit.Edit:
		for _, d := range c.Diffs {
			q.Paths = append(q.Paths, pathsOf(d.Path, folder)...)
		}
	case permit.Read:
		if c.Request.Tool == "Glob" {
			q.Paths = append(q.Paths, searched(c, folder)...)
		}
	case permit.Command:
		var known bool
		q.Command, known = inputText(c, "command")
		q.Cut = !known
		q.In = commandFolder(c, folder)
		q.Foreign = runtime.GOOS == "windows" // cmd or PowerShell, perhaps
	case permit.Fetch:
		q.URL, _ = inputText(c, "url")
	}
	return q
}

// searched is the folder that the pattern of a Glob leads to before its first wildcard:
// it may climb, or be absolute, whatever path is named beside it.
func searched(c *permit.Card, folder string) []string {
	pattern, _ := inputText(c, "pattern")
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		pattern = pattern[:i]
	}
	to := pattern[:strings.LastIndexByte(pattern, '/')+1]
	if to == "" {
		return nil
	}
	base := "" // the session's folder
	if len(c.Paths) > 0 {
		base = pathsOf(c.Paths[0], folder)[0]
	}
	if !filepath.IsAbs(to) && to[0] != '~' {
		to = filepath.Join(base, to)
	}
	return pathsOf(to, folder)
}

// commandFolder is the folder that an agent names for a command, by the member
// names that agents use, where links lead; empty: it names none.
func commandFolder(c *permit.Card, session string) string {
	for _, name := range []string{"cwd", "workdir", "working_directory", "workingDirectory", "dir_path", "directory"} {
		if folder, _ := inputText(c, name); folder != "" {
			names := pathsOf(folder, session)
			return names[len(names)-1]
		}
	}
	return ""
}

// inputText is a text of a card's input, and whether it is there as a whole.
func inputText(c *permit.Card, name string) (string, bool) {
	value, ok := rpc.Member(c.Request.Input, name)
	var text string
	if !ok || json.Unmarshal(value, &text) != nil {
		return "", false
	}
	cuts, _ := rpc.Member(c.Request.Input, permit.CutMember)
	_, cut := rpc.Member(cuts, name)
	return text, !cut
}

// pathsOf are the names by which rules know a file that an agent names, perhaps
// as a URI: its own, and where links lead. A rule that forbids holds by either,
// and one that allows has to cover both.
func pathsOf(name, folder string) []string {
	if path, err := workspace.PathOf(name); err == nil {
		name = path
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	path = filepath.Clean(path)
	if real := followed(path); real != path {
		return []string{name, real}
	}
	return []string{name}
}
