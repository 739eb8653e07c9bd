package realtest

import (
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// The official client sets a mode, and picks another real agent in a session that
// has spoken: that begins anew with it, and the one before is ended.
func TestPick(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	t.Parallel()
	s := newStage(t, "claude")
	s.isDefault(t)
	bridgetest.RealAgent(t, "codex-zed").Install(t, s.Place, s.ear.URL)
	p := s.plays(t, s.guarded(t))
	p.ends(t, "plain", "plain answer")
	p.play(t, "mode plan") // which Claude Code announces by all its options
	p.ends(t, "plain", "plain answer")
	if r := p.play(t, "pick codex-zed"); !slices.Contains(r.Answered, "sallyport.agent=codex-zed") {
		t.Errorf("pick: the answer has %q", r.Answered)
	}
	if !s.family.Lost(s.program(), nothingLeft) {
		t.Error("pick: the agent before is still there")
	}
	p.ends(t, "write")
	if got := s.disk(t, "created.txt"); got != "one\ntwo\n" {
		t.Errorf("pick: created.txt is %q", got)
	}
	p.ends(t, "receipt", "Codex (Zed's ad") // its columns are narrow
	p.ends(t, "undo", "is taken back")
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the client: %v", err)
	}
	s.family.Gone(t, nothingLeft)
	client, rules := read(t, s.wires.client), official(t)
	rules.checkAuthored(t, client)
	if told := params(client.down, "session/update", nil); !strings.Contains(strings.Join(told, ""), `"config_option_update"`) {
		t.Error("no options were told, so that ours could be missing")
	}
	rules.checkAdded(t, client, true)
}
