package realtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// holds checks what must hold of every turn, whichever agent.
func (s *stage) holds(t *testing.T, d turn) {
	t.Helper()
	if d.Turn == "" {
		t.Error("the turn has no id")
	}
	s.checkUpdates(t, d)
	s.checkSettled(t, d)
	for _, n := range d.seen.Notices {
		if n.Kind != bridge.NoticeStarting && (n.Session != s.now.info.ID || n.Turn != d.Turn) {
			t.Errorf("a notice of another session or turn: %+v", n)
		}
	}
	if !s.plain { // else it is told by messages
		s.checkTurn(t, d)
	}
	s.checkLog(t)
}

// checkTurn sees that the user was told what the turn changed, and of what holds
// only that it got weaker or that the turn can be undone.
func (s *stage) checkTurn(t *testing.T, d turn) {
	t.Helper()
	var paths []string
	for _, c := range d.Changes {
		paths = append(paths, filepath.Join(c.Root, filepath.FromSlash(c.Path)))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths) // on the disk and in a document
	told := d.notices(bridge.NoticeTurn)
	switch {
	case len(paths) == 0 && len(told) == 0:
	case len(told) != 1 || !strings.Contains(told[0].Hint, d.Turn):
		t.Errorf("it was told %+v of the changes %q", told, paths)
	default:
		got := slices.Compact(slices.Sorted(slices.Values(told[0].Paths)))
		if !slices.Equal(got, paths) || !d.Undoable {
			t.Errorf("it was told that %q changed, and the turn has %q; undoable %t", got, paths, d.Undoable)
		}
	}
	for _, n := range d.notices(bridge.NoticePosture) {
		if !strings.HasPrefix(n.Text, "a copy was taken and the turn can be undone") && !strings.Contains(n.Text, "posture is lower now: ") {
			t.Errorf("a notice says %q", n.Text)
		}
	}
}

// checkUpdates sees that updates belong to the turn, and that every tool call
// has ended with it.
func (s *stage) checkUpdates(t *testing.T, d turn) {
	t.Helper()
	open := map[string]bool{}
	for _, u := range d.seen.Updates {
		var x struct {
			Kind   string `json:"sessionUpdate"`
			Call   string `json:"toolCallId"`
			Status string `json:"status"`
		}
		if err := rpc.Unmarshal(u.Update, &x); err != nil {
			t.Errorf("an update that is no object: %v", err)
			continue
		}
		if u.Replay && u.Turn == "" { // one agent tells the history after session/load
			continue
		}
		if u.Session != s.now.info.ID || u.Replay {
			t.Errorf("an update of another session, or a replay in a turn: %+v", u)
		}
		switch {
		case x.Kind != "tool_call" && x.Kind != "tool_call_update":
		case u.Turn != d.Turn:
			t.Errorf("a tool call of turn %q in turn %q", u.Turn, d.Turn)
		case x.Status == "completed" || x.Status == "failed":
			open[x.Call] = false
		case x.Status != "":
			open[x.Call] = true
		}
	}
	for id, still := range open {
		if still {
			t.Errorf("tool call %s has no end", id)
		}
	}
}

// checkSettled sees that each card was settled once, and as the person said.
func (s *stage) checkSettled(t *testing.T, d turn) {
	t.Helper()
	times := map[string]int{}
	for _, x := range d.seen.Settled {
		times[x.ID]++
		if x.Session != s.now.info.ID || x.Turn != d.Turn || x.Title == "" {
			t.Errorf("a permission was settled elsewhere: %+v", x)
		}
		if tool := x.Request.Tool; x.Request.Kind == permit.Tool && tool != "Delete" && tool != "Move" {
			t.Errorf("it cannot be told what a permission is about: %+v", x)
		}
		if x.Outcome.By == permit.ByUser && !slices.ContainsFunc(d.seen.Asked, func(c wire.PermissionParams) bool { return c.ID == x.ID }) {
			t.Errorf("settled by a user who was not asked: %+v", x)
		}
	}
	for _, c := range d.seen.Asked {
		if c.Session != s.now.info.ID || c.Turn != d.Turn || c.Title == "" || len(c.Options) == 0 {
			t.Errorf("a card that is not whole: %+v", c)
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("permission %s was settled %d times", id, n)
		}
	}
	if len(times) < len(d.seen.Asked) {
		t.Errorf("%d cards, %d of them settled", len(d.seen.Asked), len(times))
	}
}

// ended checks a turn that ended by itself.
func (s *stage) ended(t *testing.T, d turn, reason bridge.StopReason) {
	t.Helper()
	if d.StopReason != reason || d.AgentSaid != "" {
		t.Errorf("the turn ended with %q (agent: %q), want %q", d.StopReason, d.AgentSaid, reason)
	}
	s.holds(t, d)
}

// noticed checks that a turn gave just these kinds of notices, in any order,
// besides those that checkTurn looks at.
func noticed(t *testing.T, d turn, want ...bridge.NoticeKind) {
	t.Helper()
	var got []bridge.NoticeKind
	for _, n := range d.seen.Notices {
		if n.Kind != bridge.NoticeTurn && n.Kind != bridge.NoticePosture {
			got = append(got, n.Kind)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("notices %q, want %q\n%s", got, want, d)
	}
}

// editCard is the one card of a turn, about one edit of one file.
func (s *stage) editCard(t *testing.T, d turn, tool, name string) (wire.PermissionParams, permit.Diff) {
	t.Helper()
	if len(d.seen.Asked) != 1 {
		t.Fatalf("%d cards, want one\n%s", len(d.seen.Asked), d)
	}
	c := d.seen.Asked[0]
	if c.Request.Kind != permit.Edit || c.Request.Tool != tool {
		t.Errorf("the card is about %s %s, want %s %s", c.Request.Kind, c.Request.Tool, permit.Edit, tool)
	}
	if !slices.Equal(c.Paths, []string{s.path(name)}) {
		t.Errorf("the card names %q, want %q", c.Paths, s.path(name))
	}
	if len(c.Diffs) != 1 || c.Diffs[0].Path != s.path(name) {
		t.Fatalf("the card shows %+v, want one diff of %s", c.Diffs, s.path(name))
	}
	return c, c.Diffs[0]
}

// byUser checks that the turn's one card was settled by the person with an
// option of a kind.
func byUser(t *testing.T, d turn, kind string) {
	t.Helper()
	if len(d.seen.Settled) != 1 || len(d.seen.Asked) != 1 {
		t.Fatalf("%d cards and %d outcomes, want one each\n%s", len(d.seen.Asked), len(d.seen.Settled), d)
	}
	o := d.seen.Settled[0].Outcome
	if o.By != permit.ByUser || o.Allowed != (kind == "allow_once") || o.Option != pick(d.seen.Asked[0], kind) || o.Option == "" {
		t.Errorf("settled %+v, want %s by the user", o, kind)
	}
}

// directly checks the notice that the agent wrote a file with its own tools: a
// warning where no kernel held it meanwhile.
func (s *stage) directly(t *testing.T, d turn, name string) {
	t.Helper()
	all := d.notices(bridge.NoticeDirect)
	if len(all) != 1 || !slices.Equal(all[0].Paths, []string{s.path(name)}) {
		t.Errorf("notices %+v, want one that %s was written with its own tools", all, name)
		return
	}
	if held := strings.Contains(all[0].Text, "within the kernel's fence"); held != (all[0].Level == bridge.Plain) {
		t.Errorf("the notice %+v is of the wrong level", all[0])
	}
}
