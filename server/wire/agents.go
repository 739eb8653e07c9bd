package wire

import "sallyport/bridge"

// AgentsParams are the params of sallyport/agents: none.
type AgentsParams struct{}

// AgentsResult lists every known harness, also those that cannot run here.
type AgentsResult struct {
	Agents []Agent `json:"agents"`
}

// Agent is one harness as it stands on this machine now.
type Agent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Default bool   `json:"default"` // what session/new starts without an agent
	State
	Program Program           `json:"program"`
	Modes   []bridge.ModeInfo `json:"modes"`
	Grades  *Grades           `json:"grades,omitzero"` // what would hold for a session; absent: not known before one runs
}

// State says whether an agent can run here.
type State struct {
	Available bool   `json:"available"`       // its program was found and ran
	Reason    string `json:"reason,omitzero"` // why not, one sentence
	Fix       string `json:"fix,omitzero"`    // the one command line that makes it available
}

// Program is what was found of an agent's program.
type Program struct {
	Path    string `json:"path,omitzero"`    // where it was found
	Version string `json:"version,omitzero"` // as it said itself
	Oldest  string `json:"oldest,omitzero"`  // the versions that were tried with it
	Newest  string `json:"newest,omitzero"`
	Tested  bool   `json:"tested"` // version lies between oldest and newest
}

// Grades says how strongly the fences hold: enforced, mediated or observed.
type Grades struct {
	Reads    bridge.Grade `json:"reads"`
	Writes   bridge.Grade `json:"writes"`
	Commands bridge.Grade `json:"commands"`
}
