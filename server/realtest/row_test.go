package realtest

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/workspace/receipt"
)

// Row is what was seen of one agent.
type Row struct {
	Agent Agent `json:"agent"`
	Files Files `json:"files"`
	Asks  Asks  `json:"asks"`
	Life  Life  `json:"life"`
	// Record is whose the changes of the turn on the record are, by path.
	Record map[string]receipt.Attribution `json:"record"`
	// Rules is what became of commands under Team rules, by the session's mode.
	Rules map[permit.Mode]Judged `json:"rules"`
}

// Agent is which agent it was.
type Agent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Package string `json:"package"`
	Version string `json:"version"`
}

// Files is how it came to texts, and brought its own back.
type Files struct {
	// Reads: its tool for reading gave the text of the buffer, or the disk's.
	Reads Where `json:"reads"`
	// Edits: its tool for editing started from the buffer, or from the disk.
	Edits Where `json:"edits"`
	// Sent: unsaved text that went along with a prompt reached the model.
	Sent bool `json:"sent"`
	// Writes: it wrote through us, into the buffer, or the disk, by itself.
	Writes Where `json:"writes"`
}

// Where a text was.
type Where string

// The places.
const (
	Buffer Where = "buffer"
	Disk   Where = "disk"
)

// Asks is what it asked before it acted, and what became of it.
type Asks struct {
	Edit     bool   `json:"edit"`     // before it wrote a file
	Command  bool   `json:"command"`  // before a command that writes
	Harmless bool   `json:"harmless"` // before "cat" of a file in the project
	Shell    Shell  `json:"shell"`    // how far a command came
	Outside  Gate   `json:"outside"`  // what kept it from a file outside the region
	Reserved Gate   `json:"reserved"` // and from one with a reserved name
	Diff     string `json:"diff"`     // what its card showed of an edit: "whole buffer", "whole file on disk", "fragment"
	Rejected string `json:"rejected"` // what a refused edit did to the turn: "went on", "ended"
}

// Shell is how far an allowed command came.
type Shell string

// The ways.
const (
	Anywhere Shell = "anywhere"  // it wrote outside the region
	Inside   Shell = "project"   // it wrote in the project only
	Nowhere  Shell = "read-only" // its own sandbox let it write nothing
)

// Gate is what kept an agent from writing a file.
type Gate string

// The gates.
const (
	Fence Gate = "fence" // it asked, and a fence of ours refused
	Self  Gate = "agent" // it refused by itself
	Open  Gate = "open"  // nothing did
)

// Life is how it went on and how it ended.
type Life struct {
	// Outlives: a command can go on running after a cancel: it was seen here, or
	// is in the recordings that the harness's quirks come from.
	Outlives bool `json:"outlives"`
	List     bool `json:"list"` // it lists its sessions
	// Loaded: another process told the history again, and the model knew it.
	Loaded bool `json:"loaded"`
	// Twice: the same once more.
	Twice bool `json:"twice"`
	// Restarted: how it came back after it was killed: "resumed", "loaded again",
	// "forgot".
	Restarted string `json:"restarted"`
}

// golden is where the rows are kept.
const golden = "testdata/guarantees.json"

func keptRows(t *testing.T) []Row {
	t.Helper()
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	if err := json.Unmarshal(b, &rows, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	return rows
}

func indexOf(rows []Row, id string) int {
	return slices.IndexFunc(rows, func(r Row) bool { return r.Agent.ID == id })
}

// compareRow compares what was seen with what is kept.
func compareRow(t *testing.T, row Row) {
	t.Helper()
	rows := keptRows(t)
	i := indexOf(rows, row.Agent.ID)
	if i < 0 {
		t.Errorf("%s has no row for %s; run with -update", golden, row.Agent.ID)
		return
	}
	if !reflect.DeepEqual(rows[i], row) {
		t.Errorf("%s is not as it was: look at what the agent does now, then run with -update\n got %+v\nwant %+v", row.Agent.ID, row, rows[i])
	}
}

// keepRows puts rows in the place of those of the same agents.
func keepRows(t *testing.T, seen []Row) {
	t.Helper()
	var rows []Row
	if _, err := os.Stat(golden); err == nil {
		rows = keptRows(t)
	}
	for _, row := range seen {
		if i := indexOf(rows, row.Agent.ID); i >= 0 {
			rows[i] = row
		} else {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return order(a) - order(b) })
	b, err := json.Marshal(rows, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(golden, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
