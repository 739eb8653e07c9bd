package permit

import (
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Classify says what a call is about, in the words that rules and deciders
// know. names is the harness's own table (acp.tools): the agent's name of a
// tool of kind other → Claude Code's name.
//
// The kind, the tool's name and the raw input decide; the title never does,
// except that goose writes the tool's name there, before " · ", and then only a
// name in names counts. Where they contradict each other, the act that can do
// more harm is taken: a command in a read is a command.
func Classify(c Call, names map[string]string) Request {
	tool := toolOf(&c, names)
	kind := KindOf(tool)
	if c.Kind == "switch_mode" {
		kind = Plan
	}
	return Request{ID: c.ID, Kind: kind, Tool: cutName(tool), Input: inputOf(&c, tool)}
}

func toolOf(c *Call, names map[string]string) string {
	if name, ok := mcpName(c); ok {
		return name
	}
	if name, ok := elicitation(c); ok {
		return name
	}
	own, translated := claudeName(c.ToolName)
	switch {
	case own == "AskUserQuestion" || KindOf(own) == Plan:
		return own
	case own == "Bash" || c.Kind == "execute" || isArray(member(c.Input, "command")):
		return "Bash"
	}
	within := func(kind Kind, otherwise string) string {
		if KindOf(own) == kind {
			return own
		}
		return otherwise
	}
	switch kind := KindOf(own); { // it does more than the agent's kind says
	case kind == Edit && (c.Kind == "read" || c.Kind == "search" || c.Kind == "fetch"),
		kind == Fetch && (c.Kind == "read" || c.Kind == "search"):
		return own
	}
	switch c.Kind {
	case "edit":
		return within(Edit, editOrWrite(c))
	case "read":
		return within(Read, "Read")
	case "search":
		return within(Read, "Grep")
	case "fetch":
		return within(Fetch, "WebFetch")
	case "delete":
		return "Delete"
	case "move":
		return "Move"
	case "switch_mode":
		return "ExitPlanMode"
	}
	if name, ok := names[c.ToolName]; ok && c.ToolName != "" {
		return name
	}
	if before, _, ok := strings.Cut(c.Title, " · "); ok && c.ToolName == "" {
		if name, ok := names[before]; ok {
			return name
		}
	}
	switch {
	case translated && own == c.ToolName: // Claude Code's own name
		return own
	case c.ToolName != "":
		return c.ToolName
	case c.Kind != "":
		return c.Kind
	default:
		return "other"
	}
}

// elicitation recognises what codex-acp passes on from an MCP server as a
// permission: leave to call a tool, or a question of the server's own.
func elicitation(c *Call) (string, bool) {
	server := textMember(c.Input, "serverName")
	if server == "" || null(member(c.Input, "schema")) && null(member(c.Input, "url")) {
		return "", false
	}
	if c.Kind == "execute" {
		return "mcp__" + server + "__unknown", true
	}
	return "AskUserQuestion", true
}

// editOrWrite tells a change of a file from the writing of a whole one.
func editOrWrite(c *Call) string {
	for _, name := range []string{"old_string", "oldString", "oldText", "old_str"} {
		if !null(member(c.Input, name)) {
			return "Edit"
		}
	}
	diffs := c.Diffs()
	for _, d := range diffs {
		if d.Old != nil && *d.Old != "" {
			return "Edit"
		}
	}
	if len(diffs) > 0 || !null(member(c.Input, "content")) {
		return "Write"
	}
	return "Edit"
}

// commandOf is the command line in a raw input: a text as it is; an argument
// list as a shell would be given it, and what a shell is told to run by -c.
func commandOf(input jsontext.Value) (string, bool) {
	for _, name := range []string{"command", "cmd", "script", "CommandLine"} {
		value := member(input, name)
		if isArray(value) {
			var args []string
			EachElement(value, func(item []byte) { args = append(args, str(item)) })
			return commandLine(args), true
		}
		if s := str(value); s != "" {
			return s, true
		}
	}
	return "", false
}

func commandLine(args []string) string {
	if len(args) == 3 && isShell(args[0]) && (args[1] == "-c" || args[1] == "-lc" || args[1] == "-ic" || args[1] == "-lic") {
		return args[2]
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// isShell reports whether a program is one of the system's shells.
func isShell(program string) bool {
	switch folder, name := path.Split(program); folder { // a program of that name may lie anywhere
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/":
		return name == "sh" || name == "bash" || name == "zsh" || name == "dash" || name == "ksh"
	default:
		return false
	}
}

// quote spells one argument so that a POSIX shell reads it back as it was.
func quote(arg string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if arg != "" && strings.TrimFunc(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
