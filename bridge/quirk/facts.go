package quirk

// Fact is one quirk of one agent, with the recording that shows it.
type Fact struct {
	Quirk      Quirk
	Agent      string // as agentInfo.name says it
	Version    string // of the recording
	Transcript string // agent/scenario under testdata/realagents/transcripts
	Mended     string // the first version without it; empty: none is known
}

// The agents, as they call themselves in initialize.
const (
	claude   = "@agentclientprotocol/claude-agent-acp"
	codex    = "@agentclientprotocol/codex-acp"
	codexZed = "codex-acp"
	gemini   = "gemini-cli"
	opencode = "OpenCode"
	qwen     = "qwen-code"
)

// Facts lists what was seen of which agent. Each line is tested against its
// transcript.
func Facts() []Fact {
	seen := func(q Quirk, agent, transcript string) Fact {
		return Fact{Quirk: q, Agent: agent, Version: version(agent), Transcript: transcript}
	}
	return []Fact{
		seen(EchoWrites, opencode, "opencode-ask/write-refused"),
		seen(MissingReadsEmpty, gemini, "gemini/write-missing-error"),
		seen(LostReasons, gemini, "gemini/write-refused"),
		seen(LostReasons, qwen, "qwen/write-refused"),
		seen(UnannouncedCalls, gemini, "gemini/outside"),
		seen(UnannouncedCalls, qwen, "qwen/write"),
		seen(SilentReject, gemini, "gemini/write-reject"),
		seen(SilentReject, qwen, "qwen/write-reject"),
		seen(SilentReject, codex, "codex-acp-ro/write-reject"),
		seen(SilentReject, codexZed, "codex-acp-zed/write-reject"),
		seen(RejectEndsTurn, codex, "codex-acp-ro/write-reject"),
		seen(RejectEndsTurn, codexZed, "codex-acp-zed/write-reject"),
		seen(RejectEndsTurn, opencode, "opencode-ask/write-reject"),
		seen(DiffBefore, codex, "codex-acp-ro/write"),
		seen(RawPaths, opencode, "opencode-ask/outside"),
		seen(RawPaths, qwen, "qwen/outside"),
		seen(BareDiffPaths, qwen, "qwen/write"),
		seen(WideAlways, claude, "claude/write-always"),
		seen(WideAlways, gemini, "gemini/write-always"),
		seen(WideAlways, opencode, "opencode-ask/write-always"),
		seen(WideAlways, qwen, "qwen/write-always"),
		seen(ModeText, gemini, "gemini/write-always"),
		seen(AnyMode, qwen, "qwen/odd"),
		seen(TerminalContent, codex, "codex-acp-ro/shell"),
		seen(LateReplay, gemini, "gemini/load-later"),
		seen(LoadSameMinute, gemini, "gemini/load"),
		seen(LateChunks, claude, "claude/load"),
		seen(LateChunks, codex, "codex-acp/cancel-stream"),
		seen(NoQueue, codexZed, "codex-acp-zed/double-prompt"),
		seen(PromptCancels, gemini, "gemini/double-prompt"),
		seen(PromptCancels, qwen, "qwen/double-prompt"),
		seen(CommandsOutlive, codex, "codex-acp/cancel-shell"),
		seen(CommandsOutlive, codexZed, "codex-acp-zed/cancel-shell"),
		seen(StaysOnEOF, codexZed, "codex-acp-zed/eof-shell"),
		seen(StaysOnEOF, gemini, "gemini/eof-shell"),
		seen(ErrorAsText, codex, "codex-acp/error"),
		seen(UnaskedEdits, codex, "codex-acp/write"),
		seen(UnaskedEdits, opencode, "opencode/write"),
		seen(UnaskedCommands, claude, "claude/eof-shell"),
		seen(UnaskedCommands, codex, "codex-acp-ro/shell"),
		seen(UnaskedCommands, codexZed, "codex-acp-zed/shell"),
		seen(UnaskedCommands, opencode, "opencode/shell"),
		seen(UnaskedCommands, qwen, "qwen/cancel-shell"),
		seen(CommandInTitle, gemini, "gemini/shell"),
	}
}

// version is that of an agent's recordings, empty for an agent without any.
func version(agent string) string {
	switch agent {
	case claude:
		return "0.49.0"
	case codex:
		return "2.6.0"
	case codexZed:
		return "0.16.0"
	case gemini:
		return "0.61.0"
	case opencode:
		return "1.18.33"
	case qwen:
		return "0.15.10"
	default:
		return ""
	}
}
