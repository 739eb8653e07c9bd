package quirk

import (
	"strconv"
	"strings"
)

// Quirk is one way in which an agent departs from what the protocol leads to
// expect. Its text is the name that a harness manifest uses (acp.quirks).
type Quirk string

// The quirks. The numbers are those of the findings in the package comment; the
// agents, versions and transcripts are in Facts.
const (
	// EchoWrites: fs/write_text_file only repeats an edit that the agent makes
	// on the disk itself, whatever was announced and whatever is answered; its
	// text comes from the disk, so it knows nothing of unsaved text (2).
	EchoWrites Quirk = "write-echo"
	// MissingReadsEmpty: a file is read before it is created, and no error reply
	// works; a missing file is answered with empty text (4).
	MissingReadsEmpty Quirk = "reads-missing"
	// LostReasons: the model sees "[object Object]" for a refusal's reason, so
	// the reason has to go before the next prompt (5).
	LostReasons Quirk = "lost-reasons"
	// UnannouncedCalls: a permission request, or an update, is the first sight of
	// a tool call (6).
	UnannouncedCalls Quirk = "unannounced-calls"
	// SilentReject: after a refused permission no update closes the call (6).
	SilentReject Quirk = "silent-reject"
	// RejectEndsTurn: a refused permission ends the turn.
	RejectEndsTurn Quirk = "reject-ends-turn"
	// DiffBefore: the diff is in the tool call before, not in the request (7).
	DiffBefore Quirk = "diff-before"
	// RawPaths: paths come with the `..` that the model wrote (8).
	RawPaths Quirk = "raw-paths"
	// BareDiffPaths: the last diff of a call names a bare file (8).
	BareDiffPaths Quirk = "bare-paths"
	// WideAlways: allow_always stops the asking for far more than the call (9).
	WideAlways Quirk = "wide-always"
	// ModeText: a change of mode is told as a message chunk "[MODE_UPDATE] x" (9).
	ModeText Quirk = "mode-in-text"
	// AnyMode: session/set_mode answers well for a mode that does not exist.
	AnyMode Quirk = "any-mode"
	// TerminalContent: contents of type terminal for a terminal that nobody
	// made; what it printed is in _meta (10).
	TerminalContent Quirk = "terminal-unasked"
	// LateReplay: session/load is answered before the history was told (11).
	LateReplay Quirk = "late-history"
	// LoadSameMinute: a session loaded in the clock minute in which it was made
	// is lost (11); see [LoadWait].
	LoadSameMinute Quirk = "load-same-minute"
	// LateChunks: updates go on between a cancel and the answer to it, or after
	// an answer that should have come last (11, 12).
	LateChunks Quirk = "late-updates"
	// NoQueue: a second prompt while one runs is never answered (14).
	NoQueue Quirk = "one-prompt"
	// PromptCancels: a second prompt cancels the one that runs.
	PromptCancels Quirk = "prompt-cancels"
	// CommandsOutlive: a command goes on after a cancel (13).
	CommandsOutlive Quirk = "commands-outlive"
	// StaysOnEOF: the agent does not end when its input is closed (13).
	StaysOnEOF Quirk = "stays-on-eof"
	// ErrorAsText: a provider's error is a message, and the turn ends well.
	ErrorAsText Quirk = "error-as-text"
	// UnaskedEdits: as shipped, files are edited without a permission (3).
	UnaskedEdits Quirk = "unasked-edits"
	// UnaskedCommands: commands that the agent takes for harmless, or runs in a
	// sandbox of its own, are run without a permission (19).
	UnaskedCommands Quirk = "unasked-commands"
	// CommandInTitle: the permission for a command has no raw input; the whole
	// command is its title, so that is what rules have to judge.
	CommandInTitle Quirk = "command-in-title"
)

// Set is what is known of one agent. The zero value knows nothing.
type Set map[Quirk]bool

// Has reports whether the agent has the quirk.
func (s Set) Has(q Quirk) bool { return s[q] }

// For is the set of an agent: what its manifest names, and what was seen of the
// agent that calls itself agent (agentInfo.name of initialize), so that a custom
// command line has it, too. Unknown names are left out. version is compared
// with the version that mended a quirk, where one is known to have.
func For(names []string, agent, version string) Set {
	s := Set{}
	for _, name := range names {
		if Known(name) {
			s[Quirk(name)] = true
		}
	}
	for _, f := range Facts() {
		if f.Agent == agent && f.holds(version) {
			s[f.Quirk] = true
		}
	}
	return s
}

// Known reports whether a manifest's name for a quirk means something.
func Known(name string) bool {
	for _, f := range Facts() {
		if string(f.Quirk) == name {
			return true
		}
	}
	return false
}

// holds reports whether the quirk is to be expected of a version. One that
// cannot be compared is taken for an old one.
func (f Fact) holds(version string) bool {
	if f.Mended == "" {
		return true
	}
	have, want := strings.Split(version, "."), strings.Split(f.Mended, ".")
	for i, part := range want {
		if i >= len(have) {
			return true
		}
		a, errA := strconv.Atoi(have[i])
		b, errB := strconv.Atoi(part)
		if errA != nil || errB != nil {
			return true
		}
		if a != b {
			return a < b
		}
	}
	return false
}
