package permit

import "strings"

// KindOf is the kind of a tool that is named as Claude Code names it.
func KindOf(tool string) Kind {
	switch tool {
	case "Bash":
		return Command
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return Edit
	case "Read", "Grep", "Glob", "LS":
		return Read
	case "WebFetch", "WebSearch":
		return Fetch
	case "ExitPlanMode", "EnterPlanMode":
		return Plan
	case "AskUserQuestion":
		return Question
	}
	if strings.HasPrefix(tool, "mcp__") {
		return MCP
	}
	return Tool
}

// claudeName translates the tool names of other agents, exactly as they spell
// them; a name that Claude Code itself has stays.
func claudeName(agents string) (string, bool) {
	if KindOf(agents) != Tool {
		return agents, true
	}
	switch agents {
	case "bash", "shell", "local_shell", "exec_command", "run_shell_command", "unified_exec", "run_terminal_cmd",
		"run_command", "powershell", "Shell", "write_bash", "write_stdin", "send_command_input":
		return "Bash", true
	case "edit", "replace", "apply_patch", "str_replace", "search_replace",
		"replace_file_content", "multi_replace_file_content", "StrReplace":
		return "Edit", true
	case "write", "write_file", "create_file", "create", "write_to_file":
		return "Write", true
	case "multiedit":
		return "MultiEdit", true
	case "notebook_edit":
		return "NotebookEdit", true
	case "read", "read_file", "read_many_files", "view_file", "view":
		return "Read", true
	case "grep", "grep_search", "search_file_content", "ripgrep", "rg":
		return "Grep", true
	case "glob", "file_search", "find_by_name":
		return "Glob", true
	case "ls", "list", "list_dir", "list_directory":
		return "LS", true
	case "webfetch", "web_fetch", "fetch", "read_url_content":
		return "WebFetch", true
	case "websearch", "web_search", "google_web_search", "search_web":
		return "WebSearch", true
	case "exit_plan_mode", "plan_exit":
		return "ExitPlanMode", true
	case "enter_plan_mode", "plan_enter":
		return "EnterPlanMode", true
	case "ask_user", "ask_user_question", "request_user_input", "question":
		return "AskUserQuestion", true
	default:
		return "", false
	}
}

// mcpName recognises the tool of an MCP server and spells it
// mcp__server__tool. Agents name it mcp__server__tool (claude, qwen) or
// mcp.server.tool (codex-acp, in the title, which does not count), or give
// server and tool in the raw input, there or under `invocation` (both codex
// adapters).
func mcpName(c *Call) (string, bool) {
	if strings.HasPrefix(c.ToolName, "mcp__") && len(c.ToolName) > len("mcp__") {
		return c.ToolName, true
	}
	if rest, ok := strings.CutPrefix(c.ToolName, "mcp."); ok {
		if server, tool, ok := strings.Cut(rest, "."); ok && server != "" && tool != "" {
			return "mcp__" + server + "__" + tool, true
		}
	}
	for _, object := range [][]byte{c.Input, member(c.Input, "invocation")} {
		server, tool := textMember(object, "server"), textMember(object, "tool")
		if _, command := commandOf(object); server != "" && tool != "" && !command {
			return "mcp__" + server + "__" + tool, true
		}
	}
	return "", false
}
