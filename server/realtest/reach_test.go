package realtest

import (
	"slices"
	"testing"

	"sallyport/plugins/harness"
)

// TestReach compares what the manifests say of the agents' reach, of which
// postures are made, with what was seen.
func TestReach(t *testing.T) {
	set, problems, err := harness.Load(harness.Sources{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	for _, row := range keptRows(t) {
		t.Run(row.Agent.ID, func(t *testing.T) {
			h, err := set.Get(row.Agent.ID)
			if err != nil {
				t.Fatal(err)
			}
			said, seen := h.Own.Reach, reachOf(row)
			if said.Reads != seen.Reads || said.Writes != seen.Writes || said.Edits != seen.Edits || said.Commands != seen.Commands {
				t.Errorf("the manifest says %+v, seen was %+v", said, seen)
			}
			for _, ability := range []string{"load", "resume", "list"} {
				if slices.Contains(said.Sessions, ability) != slices.Contains(seen.Sessions, ability) {
					t.Errorf("the manifest's sessions are %q, seen were %q", said.Sessions, seen.Sessions)
				}
			}
			if h.Program.Tested.Oldest != row.Agent.Version || h.Program.Tested.Newest != row.Agent.Version {
				t.Errorf("the manifest was tested with %s to %s, the row is of %s", h.Program.Tested.Oldest, h.Program.Tested.Newest, row.Agent.Version)
			}
		})
	}
}

// reachOf is a row in the words of a manifest.
func reachOf(r Row) harness.Reach {
	reach := harness.Reach{Reads: "observed", Writes: "observed", Edits: "never", Commands: "never"}
	switch {
	case r.Files.Reads == Buffer:
		reach.Reads = "mediated"
	case r.Files.Edits == Buffer:
		reach.Reads = "partly"
	}
	if r.Files.Writes == Buffer {
		reach.Writes = "mediated"
	}
	if r.Asks.Edit {
		reach.Edits = "always"
	}
	switch {
	case r.Asks.Command && r.Asks.Harmless:
		reach.Commands = "always"
	case r.Asks.Command:
		reach.Commands = "writing"
	case r.Asks.Shell == Nowhere:
		reach.Commands = "sandbox"
	}
	if r.Life.Loaded {
		reach.Sessions = append(reach.Sessions, "load")
	}
	if r.Life.Restarted == "resumed" {
		reach.Sessions = append(reach.Sessions, "resume")
	}
	if r.Life.List {
		reach.Sessions = append(reach.Sessions, "list")
	}
	return reach
}
