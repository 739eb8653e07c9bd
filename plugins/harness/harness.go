package harness

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Harness is the description of one agent: how its program is found, started
// and spoken to. It is not changed after it was made, and safe to share.
// Its JSON is an entry of contributes.harnesses.
type Harness struct {
	Identity `json:",embed"`
	Program  ProgramSpec `json:",embed"`
	Install  InstallSpec `json:",embed"`
	Caps     Caps        `json:"caps,omitzero"`
	Models   []Model     `json:"models,omitempty"`
	ACP      ACP         `json:"acp"`
	Own      Own         `json:"x-sallyport,omitzero"`
}

// Identity is who a harness is.
type Identity struct {
	ID      string `json:"id"`               // short, unique in its plugin
	Name    string `json:"name"`             // for people
	Speaker string `json:"speaker,omitzero"` // what its agents are called in texts; default Name
	Writer  string `json:"writer,omitzero"`  // who writes the texts; default Name
	From    From   `json:"-"`
}

// From is where a harness comes from.
type From struct {
	Origin  Origin
	Plugin  string // id of its plugin; "" for a user's own
	Version string // of its plugin
	File    string // its manifest, for messages; "" for a user's own
}

// Global is the id of the harness among all: plugin:<plugin>:<harness>, or
// user:<harness> for one from the user's configuration.
func (h *Harness) Global() string {
	if h.From.Origin == User {
		return "user:" + h.ID
	}
	return GlobalID{Plugin: h.From.Plugin, Harness: h.ID}.String()
}

// ProgramSpec says which program it is.
type ProgramSpec struct {
	Locate      Locate   `json:"locate"`
	VersionArgs []string `json:"versionArgs,omitempty"` // default --version
	Tested      Tested   `json:"tested,omitzero"`
	AccountVar  string   `json:"accountVar,omitzero"` // variable that gives an account its configuration folder
}

// Locate is how the program is found: names on PATH for a manifest, Command
// for a user's harness.
type Locate struct {
	Names   []string `json:"names,omitempty"`
	Command []string `json:"-"` // only with Origin User: program (bare name or absolute path) and arguments
}

// Tested is the range of versions that were tried; zero when none is claimed.
type Tested struct {
	Oldest string `json:"oldest"`
	Newest string `json:"newest"`
}

// InstallSpec is the lines that a person may run. We run none of them.
type InstallSpec struct {
	Lines  Lines  `json:"install,omitzero"`
	Update string `json:"updateCommand,omitzero"`
}

// Lines has one command line for each kind of system.
type Lines struct {
	Windows string `json:"windows,omitzero"`
	Unix    string `json:"unix,omitzero"`
}

// For is the line for a GOOS value; "" when there is none.
func (l Lines) For(goos string) string {
	if goos == "windows" {
		return l.Windows
	}
	return l.Unix
}

// Caps is what the agent can do. What is not said, it does not do.
type Caps struct {
	Modes    []Mode          `json:"modes,omitempty"`
	Images   bool            `json:"images,omitzero"`
	PDF      bool            `json:"pdf,omitzero"`
	ReadOnly bool            `json:"readOnly,omitzero"`
	More     map[string]bool `json:",embed"` // abilities that have no field here
}

// Mode is one entry of the mode menu.
type Mode struct {
	ID      string // default, acceptEdits, plan, bypassPermissions, or one of the agent's own
	Meaning Text   // what it does and how far it reaches
}

// modeObject is a mode written with its meaning.
type modeObject struct {
	ID      string `json:"id"`
	Meaning Text   `json:"meaning,omitempty"`
}

// UnmarshalJSONFrom reads "default" or {"id": "default", "meaning": …}.
func (m *Mode) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &m.ID)
	}
	var o modeObject
	if err := json.UnmarshalDecode(dec, &o); err != nil {
		return fmt.Errorf("reading a mode: %w", err)
	}
	*m = Mode(o)
	return nil
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (m Mode) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(m.Meaning) == 0 {
		return enc.WriteToken(jsontext.String(m.ID))
	}
	return json.MarshalEncode(enc, modeObject(m))
}

// Model is one entry of the model menu.
type Model struct {
	ID    string `json:"id"`
	Label string `json:"label,omitzero"` // default ID
}

// ACP is how to start the agent and speak with it.
type ACP struct {
	Args               []string    `json:"args,omitempty"`
	Environment        Environment `json:",embed"`
	FS                 bool        `json:"fs"` // a claim: it works on files through the client. Default true in a manifest
	FenceOnPermissions bool        `json:"fenceOnPermissions,omitzero"`
	Switches           Switches    `json:",embed"`
	Tools              ToolNames   `json:",embed"`
	QuestionsInText    bool        `json:"questionsInText,omitzero"`
	Extensions         []string    `json:"extensions,omitempty"`
}

// Environment is what a manifest says about the agent's environment; Own has
// the names to pass on. Built up in this order: the basic variables, Env,
// Own.PassEnv, minus RemoveEnv, then AccountVar.
type Environment struct {
	Env       map[string]string `json:"env,omitempty"`
	RemoveEnv []string          `json:"removeEnv,omitempty"`
}

// Switches is how the agent's mode and model are set.
type Switches struct {
	Modes        map[string]string `json:"modes,omitempty"`       // our mode to the agent's; a mode without entry is held by us alone
	ReadOnlyMode string            `json:"readOnlyMode,omitzero"` // the agent's mode that changes nothing
	ModelOption  string            `json:"modelOption,omitzero"`  // config option of the model; "": session/set_model
}

// ToolNames turns the agent's own tool names into Claude Code's.
type ToolNames struct {
	Names     map[string]string `json:"tools,omitempty"`
	Subagents []string          `json:"subagentTools,omitempty"` // tools that start a subagent
}

// Own is what Sallyport needs and the format has no place for: the object
// x-sallyport of a harness, which other hosts ignore.
type Own struct {
	PassEnv    []string    `json:"passEnv,omitempty"`   // names of the user's variables to pass on
	ModeOption string      `json:"modeOption,omitzero"` // config option of the mode; "": session/set_mode
	AgentInfo  []string    `json:"agentInfo,omitempty"` // names it announces in the answer to initialize
	Package    PackageSpec `json:",embed"`
	Quirks     []Quirk     `json:"quirks,omitempty"`
	Reach      Reach       `json:"reach,omitzero"`
	Footprint  Footprint   `json:",embed"`
	Self       bool        `json:"self,omitzero"` // the program is Sallyport itself; only built-in
}

// PackageSpec ties a program to the npm package that it comes from.
type PackageSpec struct {
	Npm    string            `json:"npm,omitzero"`
	NotNpm []string          `json:"notNpm,omitempty"` // packages with a program of the same name that is another agent
	Needs  map[string]string `json:"needs,omitempty"`  // programs needed besides, with their oldest version
}

// Reach is what was seen to hold with the tested versions. "" is not known.
type Reach struct {
	Reads    string   `json:"reads,omitzero"`     // mediated, partly, observed
	Writes   string   `json:"writes,omitzero"`    // mediated, partly, observed
	Edits    string   `json:"edits,omitzero"`     // asked: always, never
	Commands string   `json:"commands,omitzero"`  // asked: always, writing, sandbox (unasked, in its own), never; none: it runs none
	Sessions []string `json:"sessions,omitempty"` // load, resume, list, close, fork, delete
}

// Footprint is the agent's own files. A path begins with ~/ (the user's home),
// $TMPDIR/, or nothing (the session's folder), with forward slashes.
type Footprint struct {
	State    []string `json:"state,omitempty"`    // it must be able to write these
	Settings []string `json:"settings,omitempty"` // its configuration: closed to its writes
	Sockets  []string `json:"sockets,omitempty"`  // it must be able to reach these
	// Moves are the variables that move its state elsewhere, each with the path that its value stands for. In a private
	// project the agent gets a state of its own by them.
	Moves map[string]string `json:"moves,omitempty"`
}

// HasQuirk reports whether the manifest names the quirk.
func (h *Harness) HasQuirk(q Quirk) bool {
	for _, own := range h.Own.Quirks {
		if own == q {
			return true
		}
	}
	return false
}
