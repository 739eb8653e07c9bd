package realtest

import (
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
	"sallyport/server/wire"
)

// bashCard checks the cards of a turn with one command.
func bashCard(t *testing.T, d turn, line string) (asked bool) {
	t.Helper()
	if len(d.seen.Asked) == 0 {
		return false
	}
	byUser(t, d, "allow_once")
	c := d.seen.Asked[0]
	var input struct {
		Command string `json:"command"`
	}
	if err := rpc.Unmarshal(c.Request.Input, &input); err != nil {
		t.Errorf("the card's input is %s: %v", c.Request.Input, err)
	}
	if c.Request.Kind != permit.Command || c.Request.Tool != "Bash" || input.Command != line {
		t.Errorf("the card is about %s %s %q, want %s Bash %q", c.Request.Kind, c.Request.Tool, input.Command, permit.Command, line)
	}
	return true
}

func command(t *testing.T, s *stage) {
	d := s.play(t, "shell", allow)
	s.ended(t, d, "end_turn")
	s.row.Asks.Command = bashCard(t, d, "printf made-by-shell > by-shell.txt; cat notes.txt")
	switch got := s.disk(t, "by-shell.txt"); got {
	case "made-by-shell":
		s.row.Asks.Shell = Inside
		noticed(t, d, bridge.NoticeDirect)
		s.directly(t, d, "by-shell.txt")
	case missing:
		s.row.Asks.Shell = Nowhere
		noticed(t, d)
	default:
		t.Errorf("the disk has %q", got)
	}
	if !s.row.Asks.Command && s.row.Asks.Shell != Nowhere {
		t.Error("a command wrote a file and nobody was asked")
	}
	if !strings.Contains(d.told.Tools, "gamma") {
		t.Errorf("the model did not get what the command printed: %q", d.told.Tools)
	}
}

func harmless(t *testing.T, s *stage) {
	d := s.play(t, "look", allow)
	s.ended(t, d, "end_turn")
	noticed(t, d)
	s.row.Asks.Harmless = bashCard(t, d, "cat created.txt")
}

func commandOutside(t *testing.T, s *stage) {
	d := s.play(t, "escape", allow)
	s.ended(t, d, "end_turn")
	noticed(t, d)
	asked := bashCard(t, d, "printf made-by-shell > ../by-shell.txt; echo done")
	if s.disk(t, "../by-shell.txt") != missing {
		s.row.Asks.Shell = Anywhere
		if !asked {
			t.Error("a command wrote outside the region and nobody was asked")
		}
	}
}

// refused: the person says no.
func refused(t *testing.T, s *stage) {
	d := s.play(t, "reject", reject)
	s.holds(t, d)
	s.editCard(t, d, "Write", "rejected.txt")
	byUser(t, d, "reject_once")
	noticed(t, d)
	if got := s.disk(t, "rejected.txt"); got != missing {
		t.Errorf("it was written all the same: %q", got)
	}
	switch {
	case strings.Contains(d.said(), "After the refusal."):
		s.row.Asks.Rejected = "went on"
	default:
		s.row.Asks.Rejected = "ended: " + string(d.StopReason)
	}
}

func outside(t *testing.T, s *stage) {
	s.row.Asks.Outside = s.gated(t, "outside", "../outside.txt", "region fence")
}

func reserved(t *testing.T, s *stage) {
	s.row.Asks.Reserved = s.gated(t, "reserved", ".vscode/tasks.json", "reserved fence")
}

// gated plays a write that no fence allows, while the person allows everything.
func (s *stage) gated(t *testing.T, script, name, fence string) Gate {
	t.Helper()
	d := s.play(t, script, allow)
	s.holds(t, d)
	for _, c := range d.seen.Asked {
		if c.Request.Kind == permit.Edit {
			t.Errorf("a person was asked about a write that a fence refuses: %s", d)
		}
	}
	gate := Self
	for _, x := range d.seen.Settled {
		if o := x.Outcome; o.By == permit.ByFence {
			gate = Fence
			if o.Allowed || o.Name != fence || o.Why == "" || o.Option == "" {
				t.Errorf("settled %+v, want refused by the %s", o, fence)
			}
		}
	}
	if refusals := d.notices(bridge.NoticeRefused); gate == Fence && len(refusals) == 0 {
		t.Errorf("the user was not told of the refusal: %s", d)
	}
	if len(d.notices(bridge.NoticeDirect)) > 0 || s.disk(t, name) != missing {
		gate = Open
		t.Errorf("it was written: %s", d)
	}
	return gate
}

// sleeper is in the command line of the command that does not end by itself.
const sleeper = "tail -f /dev/null"

// sleeping begins a turn and returns when its command runs.
func (s *stage) sleeping(t *testing.T) *prompt {
	t.Helper()
	p := s.begin(t, "sleep", allow)
	s.family.Find(t, sleeper, patience)
	return p
}

// cancelled: the turn is cancelled while a command runs. The next one works.
func cancelled(t *testing.T, s *stage) {
	p := s.sleeping(t)
	if err := s.now.ed.Notify(wire.MethodCancel, wire.SessionParams{Session: s.now.info.ID}); err != nil {
		t.Fatal(err)
	}
	d := s.wait(t, p)
	if d.err != nil || d.StopReason != "cancelled" {
		t.Errorf("the turn ended with %q, %v; want cancelled", d.StopReason, d.err)
	}
	s.holds(t, d)
	s.row.Life.Outlives = !s.family.Lost(sleeper, nothingLeft) || s.quirks(t)[harness.CommandsOutlive]
	plain(t, s)
}

// quirks are those of the agent's manifest.
func (s *stage) quirks(t *testing.T) map[harness.Quirk]bool {
	t.Helper()
	set, _, err := harness.Load(harness.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := set.Get(s.agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	all := map[harness.Quirk]bool{}
	for _, q := range h.Own.Quirks {
		all[q] = true
	}
	return all
}
