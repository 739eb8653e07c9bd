package realtest

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"sallyport/bridge/bridgetest"
)

// scene is one thing that happens on a stage.
type scene struct {
	name string
	play func(*testing.T, *stage)
}

// scenes are played in this order, each whether or not the one before failed.
// The first act is one server's; then the editor is left and another one loads
// the session of the first.
func scenes() []scene {
	return []scene{
		{"the agent is found", found},
		{"a plain turn", plain},
		{"a new file", newFile},
		{"a read of unsaved text", readUnsaved},
		{"an edit while the user types", editWhileTyping},
		{"an edit of unsaved text", editUnsaved},
		{"an edit of what the user changes", editOverlap},
		{"a command", command},
		{"a harmless command", harmless},
		{"a command that writes outside", commandOutside},
		{"a refused edit", refused},
		{"a write outside the region", outside},
		{"a write to a reserved name", reserved},
		{"a cancel while a command runs", cancelled},
		{"a turn on the record", recorded},
		{"the editor ends politely", politeEnd},
		{"a session is loaded", loaded},
		{"it is loaded once more", loadedTwice},
		{"the agent is killed", agentKilled},
		{"the editor is killed", editorKilled},
		{"Sallyport is killed", serverKilled},
		{"a turn that was cut off is undone", cutOff},
		{"team rules judge", teamRules},
	}
}

// ids are the agents in the order in which they are shown.
func ids() (all []string) {
	for _, a := range bridgetest.Agents() {
		all = append(all, a.ID)
	}
	return all
}

func order(r Row) int { return slices.Index(ids(), r.Agent.ID) }

// TestAgents plays every scene with every real agent.
func TestAgents(t *testing.T) {
	model := bridgetest.StartModelScript(t, filepath.Join("testdata", "script.json"))
	var mu sync.Mutex
	var rows []Row
	t.Run("all", func(t *testing.T) { // waits for those that run beside each other
		for _, id := range ids() {
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				row := playAgent(t, id, model)
				if t.Failed() {
					return
				}
				mu.Lock()
				rows = append(rows, row)
				mu.Unlock()
				if !*update {
					compareRow(t, row)
				}
			})
		}
	})
	if *update && len(rows) > 0 {
		keepRows(t, rows)
	}
}

func playAgent(t *testing.T, id string, model bridgetest.Model) Row {
	s := newStage(t, id, model)
	s.raise(t)
	s.begun(t)
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) { sc.play(t, s) })
	}
	return *s.row
}
