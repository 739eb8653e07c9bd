package rules

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxProposal is the longest rule that is proposed, in bytes: a person reads all
// of it before it is kept.
const maxProposal = 200

// Propose is the narrowest rule that covers a request: one command exactly as it
// is spelt, one file, one host, one tool. False: there is none that covers the
// request and says nothing of others, as of a line with several commands, one of
// which not all is known, or a tool that is not known. The rule allows the request
// as an allow rule of a session in q.Folder, where no other rule minds.
func Propose(q Request) (rule string, ok bool) {
	switch q.Kind {
	case Command:
		rule = proposeCommand(q)
	case Edit, Read:
		rule = proposeFile(q)
	case Fetch:
		rule = proposeFetch(q)
	case MCP:
		rule = proposeMCP(q)
	}
	if rule == "" || len(rule) > maxProposal || !printable(rule) {
		return "", false
	}
	set, problems := Parse(Lists{Allow: []string{rule}}, Source{Root: q.Folder})
	if len(problems) > 0 || set.Decide(q).Say != Allow {
		return "", false
	}
	return rule, true
}

// printable refuses what a screen may show as something else.
func printable(rule string) bool {
	return !strings.ContainsFunc(rule, func(c rune) bool { return c < ' ' || c > '~' })
}

// proposeCommand is the rule of a line that is one simple command and of which
// every word is known. A word with white space in it is none: the rules do not tell
// a space in it from the end of a line. What is fed to a command is not in its rule.
func proposeCommand(q Request) string {
	if q.Cut || !simple(q.Command) {
		return ""
	}
	parts := partsOf(q.Command)
	for i, p := range parts {
		if p.unclear != "" || p.redirect || (p.allow == "") != (i > 0) {
			return ""
		}
	}
	if len(parts) == 0 || strings.ContainsAny(parts[0].allow, "\x01\x02\x03") {
		return ""
	}
	text := parts[0].allow
	words := strings.Split(text, " ")
	for i, w := range words {
		words[i] = specified(w)
	}
	spec := strings.Join(words, " ")
	if p := patternOf(spec); p.text != text || p.tail != "" {
		return ""
	}
	return "Bash(" + spec + ")"
}

// specified is a word as it stands for itself in a specifier.
func specified(word string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `"`, `\"`, `'`, `\'`).Replace(word)
	if operators(word) {
		return `"` + escaped + `"`
	}
	return escaped
}

// simple reports whether a line is one command with its words and assignments,
// and nothing around it.
func simple(command string) bool {
	if len(command) > maxProposal || !clean(command) {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	s := file.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && len(s.Redirs) == 0 && !s.Background && !s.Negated && !s.Coprocess && !s.Disown
}

// proposeFile is the rule of a request about one file. What is searched or listed
// is a folder, and the rule is of that tool alone.
func proposeFile(q Request) string {
	tool := q.Tool
	switch {
	case familyOf(tool) == "" || strings.ToLower(familyOf(tool)) != q.Kind:
		return ""
	case q.Kind == Edit:
		tool = "Edit"
	}
	names := slices.Clone(q.Paths)
	if len(names) == 0 && (tool == "Grep" || tool == "Glob" || tool == "LS") {
		names = []string{q.Folder}
	}
	at := place{folders: []string{q.Folder}, home: q.Home}
	for i, name := range names {
		files, known := at.files(name)
		if !known || len(files) != 1 {
			return ""
		}
		names[i] = files[0]
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) != 1 || !plainPath(names[0]) {
		return ""
	}
	spec := "//" + strings.TrimLeft(names[0], "/")
	if rel, err := filepath.Rel(q.Folder, names[0]); err == nil && filepath.IsLocal(rel) {
		spec = "./" + filepath.ToSlash(rel)
		if rel == "." {
			spec = "./**"
		}
	}
	return tool + "(" + spec + ")"
}

// plainPath reports whether a path stands for itself in a rule.
func plainPath(name string) bool {
	return !strings.ContainsAny(name, `*?[]{}\`) && strings.TrimSpace(name) == name
}

func proposeFetch(q Request) string {
	if q.Tool == "WebSearch" {
		return q.Tool
	}
	host := hostOf(q.URL)
	if q.Tool != "WebFetch" || !onlyLetters(host, ".-") || host[0] == '.' {
		return ""
	}
	return "WebFetch(domain:" + host + ")"
}

// proposeMCP is the rule of one tool of one server. What an agent calls
// mcp__server__unknown may be any tool.
func proposeMCP(q Request) string {
	server, tool, ok := strings.Cut(strings.TrimPrefix(q.Tool, "mcp__"), "__")
	if !strings.HasPrefix(q.Tool, "mcp__") || !ok || tool == "unknown" || !onlyLetters(server, "_.-") || !onlyLetters(tool, "_.-") {
		return ""
	}
	return q.Tool
}

// onlyLetters reports whether a name is of letters, digits and others.
func onlyLetters(name, others string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(others, c))
	})
}
