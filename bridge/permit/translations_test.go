package permit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
)

// Where a row of TestTranslations comes from, when not from a recording: read in
// public sources, and seen from no agent here.
const (
	codexRead    = "openai/codex: codex-rs/core, the names of its tools"
	openRead     = "anomalyco/opencode: packages/opencode/src/tool and src/acp"
	geminiRead   = "google-gemini/gemini-cli: packages/core/src/tools"
	vibeRead     = "mistralai/mistral-vibe: vibe/acp/tools/session_update.py and vibe/acp/tools/builtins"
	copilotRead  = "github/copilot-cli: issues 407 (its tools) and 989 (its permissions)"
	cursorRead   = "cursor.com/docs/cli/acp, and the kinds and tools of its permissions"
	antigravRead = "the tools that Antigravity tells its model of"
)

// TestTranslations: the tools of the agents that P024 names, in Claude Code's words.
// One that was recorded names its scenario, which has to hold such a request.
func TestTranslations(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "permissions.golden"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		command = `"rawInput":{"command":"ls"}`
		file    = `"locations":[{"path":"/p/a"}]`
	)
	for _, tt := range []struct {
		agent      string
		seen, read string // a scenario of the recordings, or where it was read
		kind, name string // as the agent says them
		rest       string // of its tool call
		want       string // kind, tool
	}{
		{"Codex", "codex-acp-ro/edit", "", "edit", "", `"content":[{"type":"diff","path":"/p/a","oldText":"1","newText":"2"}]`, "edit Edit"},
		{"Codex", "codex-acp-ro/write", "", "edit", "", `"content":[{"type":"diff","path":"/p/a","newText":"2"}]`, "edit Write"},
		{"Codex (Zed)", "codex-acp-zed/edit", "", "edit", "", `"rawInput":{"changes":{"/p/a":{"type":"update"}}},"content":[{"type":"diff","path":"/p/a","oldText":"1","newText":"2"}]`, "edit Edit"},
		{"Codex", "", codexRead, "execute", "exec_command", `"rawInput":{"command":["bash","-lc","ls"]}`, "command Bash"},
		{"Codex", "", codexRead, "other", "shell", command, "command Bash"},
		{"Codex", "", codexRead, "other", "unified_exec", command, "command Bash"},
		{"Codex", "", codexRead, "execute", "write_stdin", `"rawInput":{"chars":"y"}`, "command Bash"},
		{"Codex", "", codexRead, "edit", "apply_patch", file, "edit Edit"},
		{"Codex", "", codexRead, "search", "web_search", `"rawInput":{"query":"x"}`, "fetch WebSearch"},
		{"Codex", "", codexRead, "execute", "", `"rawInput":{"server":"db","tool":"query"}`, "mcp mcp__db__query"},

		{"OpenCode", "opencode-ask/shell", "", "execute", "", command, "command Bash"},
		{"OpenCode", "opencode-ask/edit", "", "edit", "", `"rawInput":{"filepath":"/p/a","diff":"x"},"content":[{"type":"diff","path":"/p/a","oldText":"1","newText":"2"}]`, "edit Edit"},
		{"OpenCode", "opencode-ask/write", "", "edit", "", `"rawInput":{"filepath":"/p/a","diff":"x"},"content":[{"type":"diff","path":"/p/a","oldText":"","newText":"2"}]`, "edit Write"},
		{"OpenCode", "", openRead, "fetch", "webfetch", `"rawInput":{"url":"https://h"}`, "fetch WebFetch"},
		{"OpenCode", "", openRead, "search", "websearch", `"rawInput":{"query":"x"}`, "fetch WebSearch"},
		{"OpenCode", "", openRead, "search", "grep", `"rawInput":{"pattern":"x"}`, "read Grep"},
		{"OpenCode", "", openRead, "search", "glob", `"rawInput":{"pattern":"*"}`, "read Glob"},
		{"OpenCode", "", openRead, "read", "list", file, "read LS"},
		{"OpenCode", "", openRead, "other", "question", "", "question AskUserQuestion"},
		{"OpenCode", "", openRead, "other", "plan_exit", "", "plan ExitPlanMode"},

		{"Gemini CLI", "gemini/shell", "", "execute", "", `"title":"ls"`, "command Bash"},
		{"Gemini CLI", "gemini/write", "", "edit", "", `"content":[{"type":"diff","path":"/p/a","newText":"2"}]`, "edit Write"},
		{"Gemini CLI", "gemini/edit", "", "edit", "", `"content":[{"type":"diff","path":"/p/a","oldText":"1","newText":"2"}]`, "edit Edit"},
		{"Gemini CLI", "", geminiRead, "execute", "run_shell_command", command, "command Bash"},
		{"Gemini CLI", "", geminiRead, "edit", "replace", `"rawInput":{"file_path":"/p/a","old_string":"1"}`, "edit Edit"},
		{"Gemini CLI", "", geminiRead, "fetch", "web_fetch", `"rawInput":{"prompt":"https://h"}`, "fetch WebFetch"},
		{"Gemini CLI", "", geminiRead, "search", "google_web_search", `"rawInput":{"query":"x"}`, "fetch WebSearch"},
		{"Gemini CLI", "", geminiRead, "search", "search_file_content", `"rawInput":{"pattern":"x"}`, "read Grep"},
		{"Gemini CLI", "", geminiRead, "search", "list_directory", file, "read LS"},
		{"Gemini CLI", "", geminiRead, "read", "read_many_files", file, "read Read"},
		{"Gemini CLI", "", geminiRead, "other", "exit_plan_mode", "", "plan ExitPlanMode"},
		{"Gemini CLI", "", geminiRead, "other", "ask_user", "", "question AskUserQuestion"},

		{"Mistral Vibe", "", vibeRead, "execute", "bash", `"rawInput":"{\"command\":\"ls\"}"`, "command Bash"},
		{"Mistral Vibe", "", vibeRead, "edit", "search_replace", `"rawInput":"{\"file_path\":\"/p/a\",\"content\":\"x\"}","content":[{"type":"diff","path":"/p/a","oldText":"1","newText":"2"}]`, "edit Edit"},
		{"Mistral Vibe", "", vibeRead, "edit", "write_file", `"rawInput":"{\"path\":\"/p/a\",\"content\":\"x\"}"`, "edit Write"},
		{"Mistral Vibe", "", vibeRead, "read", "read_file", file, "read Read"},
		{"Mistral Vibe", "", vibeRead, "search", "grep", `"rawInput":"{\"pattern\":\"x\"}"`, "read Grep"},
		{"Mistral Vibe", "", vibeRead, "fetch", "web_fetch", `"rawInput":"{\"url\":\"https://h\"}"`, "fetch WebFetch"},
		{"Mistral Vibe", "", vibeRead, "search", "web_search", `"rawInput":"{\"query\":\"x\"}"`, "fetch WebSearch"},

		{"Copilot CLI", "", copilotRead, "execute", "bash", command, "command Bash"},
		{"Copilot CLI", "", copilotRead, "execute", "powershell", command, "command Bash"},
		{"Copilot CLI", "", copilotRead, "other", "write_bash", `"rawInput":{"input":"y"}`, "command Bash"},
		{"Copilot CLI", "", copilotRead, "edit", "create", `"rawInput":{"path":"/p/a","file_text":"x"}`, "edit Write"},
		{"Copilot CLI", "", copilotRead, "edit", "edit", `"rawInput":{"path":"/p/a","old_str":"1","new_str":"2"}`, "edit Edit"},
		{"Copilot CLI", "", copilotRead, "read", "view", file, "read Read"},

		{"Cursor CLI", "", cursorRead, "execute", "Shell", command, "command Bash"},
		{"Cursor CLI", "", cursorRead, "edit", "StrReplace", file, "edit Edit"},
		{"Cursor CLI", "", cursorRead, "edit", "Write", file, "edit Write"},
		{"Cursor CLI", "", cursorRead, "read", "Read", file, "read Read"},
		{"Cursor CLI", "", cursorRead, "search", "Grep", `"rawInput":{"pattern":"x"}`, "read Grep"},

		{"Antigravity CLI", "", antigravRead, "execute", "run_command", `"rawInput":{"CommandLine":"ls","Cwd":"/p"}`, "command Bash"},
		{"Antigravity CLI", "", antigravRead, "other", "send_command_input", `"rawInput":{"Input":"y"}`, "command Bash"},
		{"Antigravity CLI", "", antigravRead, "edit", "write_to_file", file, "edit Write"},
		{"Antigravity CLI", "", antigravRead, "edit", "replace_file_content", file, "edit Edit"},
		{"Antigravity CLI", "", antigravRead, "edit", "multi_replace_file_content", file, "edit Edit"},
		{"Antigravity CLI", "", antigravRead, "read", "view_file", file, "read Read"},
		{"Antigravity CLI", "", antigravRead, "search", "grep_search", `"rawInput":{"Query":"x"}`, "read Grep"},
		{"Antigravity CLI", "", antigravRead, "search", "find_by_name", `"rawInput":{"Pattern":"x"}`, "read Glob"},
		{"Antigravity CLI", "", antigravRead, "read", "read_url_content", `"rawInput":{"Url":"https://h"}`, "fetch WebFetch"},
		{"Antigravity CLI", "", antigravRead, "search", "search_web", `"rawInput":{"query":"x"}`, "fetch WebSearch"},
	} {
		if tt.seen != "" && !strings.Contains(string(golden), tt.seen+"\n\t"+tt.want+" ") {
			t.Errorf("%s: %s holds no %s", tt.agent, tt.seen, tt.want)
		}
		if (tt.seen == "") == (tt.read == "") {
			t.Errorf("%s %s: say where it comes from", tt.agent, tt.name)
		}
		call := `{"toolCallId":"c","kind":"` + tt.kind + `"`
		if tt.name != "" {
			call += `,"_meta":{"tool_name":"` + tt.name + `"}`
		}
		if tt.rest != "" {
			call += "," + tt.rest
		}
		r := &permit.Reader{Session: "s", CommandInTitle: tt.agent == "Gemini CLI"}
		c, err := r.Read("t", jsontext.Value(`{"options":[],"toolCall":`+call+`}}`))
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		if got := string(c.Request.Kind) + " " + c.Request.Tool; got != tt.want {
			t.Errorf("%s: %s:\n got %s\nwant %s", tt.agent, call, got, tt.want)
		}
		if reads := strings.Contains(call, "ls"); tt.want == "command Bash" && reads && !strings.Contains(string(c.Request.Input), `"command":"ls"`) {
			t.Errorf("%s: %s: the input is %s", tt.agent, call, c.Request.Input)
		}
		if edits := strings.HasPrefix(tt.want, "edit "); edits && strings.Join(c.Paths, " ") != "/p/a" {
			t.Errorf("%s: %s: the files are %q", tt.agent, call, c.Paths)
		}
	}
}
