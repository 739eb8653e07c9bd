package doctor

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/plugins/harness"
)

//go:embed report.schema.json
var schemaJSON []byte

// FormatURN names the format of a report; its schema has it as $id.
const FormatURN = "urn:sallyport:schema:doctor-report:1"

// Schema is the JSON Schema (draft 2020-12) of a report, as shipped.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// Report is what Check found.
type Report struct {
	Format    string            `json:"format"` // FormatURN
	Sallyport string            `json:"sallyport"`
	System    System            `json:"system"`
	Agents    []Agent           `json:"external_agents"`
	Problems  []harness.Problem `json:"problems"` // of manifests and configuration
	Sandbox   *Sandbox          `json:"sandbox,omitzero"`
}

// Sandbox is what the kernel can hold on this machine.
type Sandbox struct {
	Backend  string `json:"backend"` // bubblewrap, landlock, seatbelt, none
	Level    string `json:"level"`   // full, partial, none
	Version  string `json:"version,omitzero"`
	Landlock int    `json:"landlock,omitzero"` // ABI version
	Problem  string `json:"problem,omitzero"`  // why it is not full
	Fix      string `json:"fix,omitzero"`      // the one line that makes it so
}

// Held is what the kernel was seen to hold around an agent.
type Held struct {
	Level    string   `json:"level"` // full, partial, none
	Reads    bool     `json:"reads"`
	Writes   bool     `json:"writes"`
	Reserved bool     `json:"reserved"`
	Gaps     []string `json:"gaps,omitempty"`
	Why      string   `json:"why,omitzero"` // why there is none
}

// System is the machine that was checked.
type System struct {
	OS   string `json:"os"` // a GOOS value
	Arch string `json:"arch"`
}

// Agent is one harness on this machine.
type Agent struct {
	ID       string         `json:"id"`
	GlobalID string         `json:"globalId"`
	Name     string         `json:"name"`
	Origin   harness.Origin `json:"origin"`
	State    State          `json:",embed"`
	Modes    []string       `json:"modes"`
	Holds    Holds          `json:"holds"`
	Held     *Held          `json:"held,omitzero"`  // absent when its fence was not tried
	Probe    *Probe         `json:"probe,omitzero"` // absent when it was not started
}

// State is whether an agent can be used here.
type State struct {
	Available bool        `json:"available"`
	Ran       bool        `json:"ran"`              // its program was really run to find out
	Program   string      `json:"program,omitzero"` // command line; absent when none was found
	Version   VersionInfo `json:"version"`
	Problem   string      `json:"problem,omitzero"` // why it is not available, or is too old
	Fix       string      `json:"fix,omitzero"`     // the one line that mends Problem
	Note      string      `json:"note,omitzero"`    // worth knowing, nothing to mend
}

// VersionInfo is the version found and those tested.
type VersionInfo struct {
	Found  string          `json:"found,omitzero"`
	Status harness.Status  `json:"status"`
	Tested *harness.Tested `json:"tested,omitzero"`
}

// Holds is what holds for an agent without a sandbox: seen with the tested
// versions, "unknown" when never seen.
type Holds struct {
	Reads    string   `json:"reads"`    // mediated, partly, observed, unknown
	Writes   string   `json:"writes"`   // the same
	Edits    string   `json:"edits"`    // asked: always, never, unknown
	Commands string   `json:"commands"` // asked: always, writing, sandbox, never, unknown
	Resume   string   `json:"resume"`   // how a conversation goes on: resume, load, none, unknown
	Says     []string `json:"says"`     // the same as sentences
}

// Probe is what an agent said when it was started.
type Probe struct {
	Name     string   `json:"name,omitzero"`     // agentInfo.name
	Version  string   `json:"version,omitzero"`  // agentInfo.version
	Protocol int      `json:"protocol,omitzero"` // ACP version agreed on
	Millis   int64    `json:"millis"`            // from start to the answer to initialize
	Sessions []string `json:"sessions,omitempty"`
	Modes    []string `json:"modes,omitempty"` // its own mode ids
	Fix      string   `json:"fix,omitzero"`    // with an error: the line that mends it, such as a sign-in
}

// JSON is the report, indented, with a final newline.
func (r Report) JSON() ([]byte, error) {
	data, err := json.Marshal(r, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the doctor's report: %w", err)
	}
	return append(data, '\n'), nil
}

func holds(r harness.Reach) Holds {
	h := Holds{Reads: known(r.Reads), Writes: known(r.Writes), Edits: known(r.Edits), Commands: known(r.Commands), Resume: "unknown"}
	if len(r.Sessions) > 0 {
		h.Resume = resumes(r.Sessions)
	}
	h.Says = sentences(h)
	return h
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func resumes(sessions []string) string {
	switch {
	case slices.Contains(sessions, "resume"):
		return "resume"
	case slices.Contains(sessions, "load"):
		return "load"
	default:
		return "none"
	}
}

// sentences says what holds in words that promise nothing more.
func sentences(h Holds) []string {
	writes := map[string]string{
		"mediated": "edits land in your buffers, inside the fences",
		"partly":   "some edits pass through Sallyport, the others are seen afterwards",
		"observed": "writes to the disk by itself, seen afterwards",
	}
	reads := map[string]string{
		"mediated": "reads see unsaved text",
		"partly":   "reads the disk by itself, but sees unsaved text when it edits",
		"observed": "reads the disk by itself, past unsaved text",
	}
	edits := map[string]string{"always": "asks before edits", "never": "does not ask before edits"}
	commands := map[string]string{
		"always":  "asks before commands",
		"writing": "asks before commands that it takes to change something",
		"sandbox": "runs commands unasked in its own sandbox",
		"none":    "runs no commands",
		"never":   "runs commands unasked",
	}
	var out []string
	for _, s := range []string{writes[h.Writes], reads[h.Reads], edits[h.Edits], commands[h.Commands]} {
		if s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		out = append(out, "what holds has never been seen")
	}
	return out
}
