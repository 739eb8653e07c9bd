package harness

// Quirk names one way in which an agent departs from what the protocol leads
// to expect. A manifest only names it; what to do about it is the bridge's.
// A name that is not listed here is reported and does nothing.
type Quirk string

// The quirks, each seen on the wire of a real agent.
const (
	// WriteEcho: fs/write_text_file only repeats an edit that the agent makes
	// on the disk itself, whatever the answer; its text comes from the disk.
	WriteEcho Quirk = "write-echo"
	// ReadsMissing: a file is read before it is made, and an error for it
	// fails the write: a missing file must be answered with empty text.
	ReadsMissing Quirk = "reads-missing"
	// LostReasons: the model never sees why something was refused.
	LostReasons Quirk = "lost-reasons"
	// ModeInText: a change of mode is told as a message chunk "[MODE_UPDATE] x".
	ModeInText Quirk = "mode-in-text"
	// AnyMode: session/set_mode accepts ids that do not exist.
	AnyMode Quirk = "any-mode"
	// SilentReject: after a rejected permission the tool call gets no update.
	SilentReject Quirk = "silent-reject"
	// RejectEndsTurn: a rejected permission ends the turn.
	RejectEndsTurn Quirk = "reject-ends-turn"
	// UnannouncedCalls: the permission request is the first sight of a tool call.
	UnannouncedCalls Quirk = "unannounced-calls"
	// DiffBefore: the diff is in the tool call, not in the permission request.
	DiffBefore Quirk = "diff-before"
	// BarePaths: the path of a final diff is a bare file name.
	BarePaths Quirk = "bare-paths"
	// RawPaths: paths come with ".." in them.
	RawPaths Quirk = "raw-paths"
	// WideAlways: allow_always is wider than the call: it switches a mode.
	WideAlways Quirk = "wide-always"
	// TerminalUnasked: terminal content for a terminal that nobody made.
	TerminalUnasked Quirk = "terminal-unasked"
	// OnePrompt: a second prompt while one runs is never answered.
	OnePrompt Quirk = "one-prompt"
	// PromptCancels: a second prompt cancels the first.
	PromptCancels Quirk = "prompt-cancels"
	// LateUpdates: updates go on after a cancel, or after an answer that
	// should have come last.
	LateUpdates Quirk = "late-updates"
	// LateHistory: session/load is answered before its history was sent.
	LateHistory Quirk = "late-history"
	// LoadSameMinute: a session loaded in the clock minute in which it was made
	// is lost.
	LoadSameMinute Quirk = "load-same-minute"
	// StaysOnEOF: it does not end when its input is closed.
	StaysOnEOF Quirk = "stays-on-eof"
	// CommandsOutlive: a command goes on after a cancel.
	CommandsOutlive Quirk = "commands-outlive"
	// ErrorAsText: a provider's error comes as a message, and the turn ends well.
	ErrorAsText Quirk = "error-as-text"
	// UnaskedEdits: started as the manifest says, it edits without asking.
	UnaskedEdits Quirk = "unasked-edits"
	// UnaskedCommands: it runs some commands without asking.
	UnaskedCommands Quirk = "unasked-commands"
	// CommandInTitle: the command is only in the title of its permission request.
	CommandInTitle Quirk = "command-in-title"
)

// Quirks lists every quirk.
func Quirks() []Quirk {
	return []Quirk{
		WriteEcho, ReadsMissing, ModeInText, AnyMode, SilentReject, RejectEndsTurn, UnannouncedCalls,
		DiffBefore, BarePaths, RawPaths, WideAlways, TerminalUnasked, OnePrompt, PromptCancels,
		LateUpdates, LateHistory, LoadSameMinute, StaysOnEOF, CommandsOutlive, ErrorAsText, LostReasons,
		UnaskedEdits, UnaskedCommands, CommandInTitle,
	}
}
