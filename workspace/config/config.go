package config

import (
	"log/slog"
	"slices"
	"time"
)

// Config is the user's configuration with every default filled in (see Default). It is
// not changed once handed out.
type Config struct {
	Agents             // which agents, how many, and how long they may take
	Files              // what happens to buffers around a turn
	Turns              // what is kept of a turn, and done around it
	Mode        Mode   `json:"mode"`
	Permissions Permit `json:"permissions"`
	Fences      Fences `json:"fences"`
	Kernel             // what is asked of the kernel for all agents; see KernelOf
	// LogLevel of standard error; default "info".
	LogLevel slog.Level `json:"logLevel"`
}

// Agents says which agents there are, and how many may live.
type Agents struct {
	// Agent is the id of the harness used when none is named; default none.
	Agent string `json:"agent"`
	// Custom harnesses, or overrides of known ones, by id; default none.
	Custom map[string]Agent `json:"agents"`
	// Prestart lists the ids of harnesses started before they are asked for; default none.
	Prestart []string `json:"prestart"`
	// MaxAgents live at once; default 4, at least 1.
	MaxAgents int `json:"maxAgents"`
	// IdleMinutes after which an unused agent is closed; default 60, at least 1.
	IdleMinutes int      `json:"idleMinutes"`
	Timeouts    Timeouts `json:"timeouts"`
	// Terminal: whether agents may run commands in the terminals of an ACP client; default
	// "strip".
	Terminal Terminal `json:"terminal"`
}

// Idle is the time after which an unused agent is closed.
func (a Agents) Idle() time.Duration { return time.Duration(a.IdleMinutes) * time.Minute }

// Agent is a harness of the user's own, or what overrides parts of a known one. Unset
// fields leave the known harness as it is.
type Agent struct {
	// Command line, split as a shell splits it and run without a shell.
	Command string `json:"command"`
	// Args come after those of Command.
	Args []string `json:"args"`
	Launch
	// FS: whether the agent reads and writes through fs/*; nil leaves it (default true).
	FS *bool `json:"fs"`
	// Modes maps our modes to the agent's own mode ids.
	Modes map[Mode]string `json:"modes"`
	// Name is shown to the user; default the id.
	Name string `json:"name"`
	Kernel
}

// Launch is the environment and the folder of an agent's process.
type Launch struct {
	// Env is added to the agent's environment.
	Env map[string]string `json:"env"`
	// PassEnv names variables of ours that the agent receives.
	PassEnv []string `json:"passEnv"`
	// RemoveEnv names variables that the agent does not receive, whatever adds them.
	RemoveEnv []string `json:"removeEnv"`
	// Cwd of the process; default the session's folder.
	Cwd string `json:"cwd"`
	// State are folders and files that the agent's own tools may write besides the region, such
	// as where it keeps its conversations; default those of its manifest, to which they add.
	State []string `json:"state"`
}

// Files says what happens to buffers before a prompt and after a write.
type Files struct {
	// Unsaved documents in the region before a prompt; default "ask". An editor that cannot
	// ask gets "send" for it.
	Unsaved Unsaved `json:"unsaved"`
	// SaveAfterWrite: whether a buffer is saved after an agent's write; default "whenClean".
	SaveAfterWrite SaveAfterWrite `json:"saveAfterWrite"`
}

// Permit is how permissions are settled: by rules, and by a policy when no rule and no
// person does. What a rule says is for plugins/rules to read.
type Permit struct {
	// Deny, Ask and Allow are rules in Claude Code's syntax, heard in this order; default none.
	Deny  []string `json:"deny"`
	Ask   []string `json:"ask"`
	Allow []string `json:"allow"`
	// ClaudeSettings are files of Claude Code's settings whose permissions count too: all of
	// them in a file named from / or ~/ on, deny and ask in one in the session's folder; default
	// none.
	ClaudeSettings []string `json:"claudeSettings"`
	// Deciders are programs that may settle permissions; default none.
	Deciders []Decider `json:"deciders"`
	// Project are the rules of a project's file, which allow nothing; see Effective.
	Project ProjectRules `json:"-"`
	// Policy when nobody answers; default "ask".
	Policy Policy `json:"policy"`
}

// Decider is a program that may settle permissions. Naming it is the user's consent.
type Decider struct {
	// Folder with its decider.json.
	Folder string `json:"folder"`
	// Off are projects whose agents' requests it is not told; default none.
	Off []string `json:"off"`
	// Private are private projects that it is on for; it is told nothing of the others.
	Private []string `json:"private"`
}

// ProjectRules are rules that a project's file adds.
type ProjectRules struct {
	Folder string // of the file, absolute: what /path in its rules is relative to
	Deny   []string
	Ask    []string
}

// Fences are the user's rules on files. Paths may be relative to the session's folder.
type Fences struct {
	// Region: folders or globs that agents may write in; empty = the session's folder.
	Region []string `json:"region"`
	// Reserved names, besides the built-in ones.
	Reserved []string `json:"reserved"`
	// CI: whether the folders of continuous integration are reserved too; default false.
	CI bool `json:"ci"`
	// Unreadable globs by name; nil = the built-in list, which a non-nil list replaces.
	Unreadable []string `json:"unreadable"`
	// AlsoUnreadable globs come on top of Unreadable; default none. A project's are here.
	AlsoUnreadable []string `json:"alsoUnreadable"`
	// Private project folders; default none.
	Private []string `json:"private"`
}

// UnreadableOf joins both lists, with builtin in place of a nil Unreadable.
func (f Fences) UnreadableOf(builtin []string) []string {
	if f.Unreadable != nil {
		builtin = f.Unreadable
	}
	return slices.Concat(builtin, f.AlsoUnreadable)
}

// Timeouts of an agent.
type Timeouts struct {
	// StartSeconds for initialize and session/new; default 90.
	StartSeconds int `json:"startSeconds"`
	// CancelGraceSeconds between a cancel and the end of the agent; default 5.
	CancelGraceSeconds int `json:"cancelGraceSeconds"`
}

// Start is the time an agent has to answer initialize and session/new.
func (t Timeouts) Start() time.Duration { return time.Duration(t.StartSeconds) * time.Second }

// CancelGrace is the time between a cancel and the end of the agent.
func (t Timeouts) CancelGrace() time.Duration {
	return time.Duration(t.CancelGraceSeconds) * time.Second
}

// Default is the configuration of a user who has written none.
func Default() *Config {
	return &Config{
		Agents: Agents{MaxAgents: 4, IdleMinutes: 60, Timeouts: Timeouts{StartSeconds: 90, CancelGraceSeconds: 5}, Terminal: TerminalStrip},
		Files:  Files{Unsaved: UnsavedAsk, SaveAfterWrite: WhenClean},
		Turns: Turns{
			Checkpoint: Checkpoint{Seconds: 10, MaxFileMiB: 32, Ignored: IgnoredSmall},
			Retention:  Retention{Days: 30, MiB: 2048},
		},
		Mode:        Ask,
		Permissions: Permit{Policy: PolicyAsk},
		Kernel:      Kernel{Sandbox: SandboxAuto, Network: NetworkOn},
		LogLevel:    slog.LevelInfo,
	}
}

// Terminal is what becomes of an ACP client's offer to run commands for agents.
type Terminal string

// The choices: it is not told to agents; it is, and each command is a permission, but runs
// outside of every fence.
const (
	TerminalStrip Terminal = "strip"
	TerminalPass  Terminal = "pass"
)

// Mode of a session, from strict to free: plan, default, acceptEdits, bypassPermissions.
type Mode string

// The modes.
const (
	Plan        Mode = "plan"
	Ask         Mode = "default"
	AcceptEdits Mode = "acceptEdits"
	Bypass      Mode = "bypassPermissions"
)

// Unsaved is what is done with dirty documents before a prompt.
type Unsaved string

// The choices for unsaved documents.
const (
	UnsavedAsk   Unsaved = "ask"
	UnsavedSave  Unsaved = "save"
	UnsavedSend  Unsaved = "send"
	UnsavedLeave Unsaved = "leave"
)

// SaveAfterWrite is whether a buffer is saved after an agent's write.
type SaveAfterWrite string

// The choices for saving.
const (
	WhenClean SaveAfterWrite = "whenClean"
	Always    SaveAfterWrite = "always"
	Never     SaveAfterWrite = "never"
)

// Policy settles a permission when nobody answers, from strict to free: deny, ask, record.
type Policy string

// The policies.
const (
	PolicyDeny   Policy = "deny"
	PolicyAsk    Policy = "ask"
	PolicyRecord Policy = "record"
)
