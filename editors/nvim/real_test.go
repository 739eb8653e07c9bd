package nvim

import (
	"path/filepath"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
)

// realDeadline bounds a turn of a real agent, which may need 90 s to start.
const realDeadline = 300 * time.Second

// TestRealAgents is one turn of each of three real agents: one that writes
// through Sallyport, and two that write the disk themselves.
func TestRealAgents(t *testing.T) {
	for _, id := range []string{"gemini", "opencode", "claude"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			nvim := bridgetest.Editor(t, "nvim-0.12")
			agent := bridgetest.RealAgent(t, id)
			p := newPlace(t)
			p.Write(t, "home/.config/sallyport/config.json", `{"agent": "`+id+`"}`)
			env := agent.Install(t, p.Place, bridgetest.StartModel(t).URL)
			p.run(nvim, filepath.Join("spec", "real", "edit.lua"), env, realDeadline)
		})
	}
}
