package plain

import (
	"path/filepath"
	"testing"

	"sallyport/bridge/bridgetest"
)

// TestGemini is a turn with a real agent in Neovim 0.12.
func TestGemini(t *testing.T) {
	t.Parallel()
	nvim := bridgetest.Editor(t, "nvim-0.12")
	agent := bridgetest.RealAgent(t, "gemini")
	p := newPlace(t)
	p.Write(t, "home/.config/sallyport/config.json", `{"agent": "gemini"}`)
	p.env = agent.Install(t, p.Place, bridgetest.StartModel(t).URL)
	p.scenario(nvim, filepath.Join("testdata", "real", "gemini.lua"), agentDeadline)
	if t.Failed() {
		t.Log(p.conversations())
	}
}
