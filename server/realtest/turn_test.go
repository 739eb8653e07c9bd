package realtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// turn is what was seen of one turn.
type turn struct {
	wire.TurnResult
	err  error
	seen servertest.Seen  // only what came since the prompt
	told bridgetest.Words // what the model was told meanwhile
}

// prompt is a turn under way.
type prompt struct {
	before servertest.Seen
	heard  int
	done   chan turn
}

// begin prompts with a script of the model; cards are answered by answer.
func (s *stage) begin(t *testing.T, script string, answer func(wire.PermissionParams) string) *prompt {
	t.Helper()
	p := &prompt{done: make(chan turn, 1), heard: s.ear.Count()}
	ed := s.now.ed
	ed.SetHabits(func(h *servertest.Habits) {
		h.Permission = func(c wire.PermissionParams) (string, error) { return answer(c), nil }
		h.Choose = func(string, []string) (int, error) { return 0, nil } // of an editor without our plugin
	})
	ed.Look(func(seen *servertest.Seen) { p.before = *seen })
	params := rpc.RawJSON(fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"script:%s cwd=%s please"}]}`, s.now.info.ID, script, s.Project))
	ed.Go(wire.MethodPrompt, params, func(raw []byte, err error) {
		var d turn
		if d.err = err; err == nil {
			d.err = rpc.Unmarshal(raw, &d.TurnResult)
		}
		p.done <- d
	})
	return p
}

// wait waits for the turn's end.
func (s *stage) wait(t *testing.T, p *prompt) turn {
	t.Helper()
	ctx := s.ctx(t)
	select {
	case d := <-p.done:
		s.now.ed.Look(func(now *servertest.Seen) {
			d.seen = servertest.Seen{
				Updates:  slices.Clone(now.Updates[len(p.before.Updates):]),
				Notices:  slices.Clone(now.Notices[len(p.before.Notices):]),
				Asked:    slices.Clone(now.Asked[len(p.before.Asked):]),
				Called:   slices.Clone(now.Called[len(p.before.Called):]),
				Settled:  slices.Clone(now.Settled[len(p.before.Settled):]),
				Messages: slices.Clone(now.Messages[len(p.before.Messages):]),
				Edits:    slices.Clone(now.Edits[len(p.before.Edits):]),
			}
		})
		d.told = s.ear.Since(p.heard)
		if testing.Verbose() {
			t.Log(d.String())
		}
		return d
	case <-ctx.Done():
		t.Fatalf("the turn did not end: %v\n%s", ctx.Err(), s.now.stderr)
		return turn{}
	}
}

// play is begin and wait, for a turn that has to end by itself.
func (s *stage) play(t *testing.T, script string, answer func(wire.PermissionParams) string) turn {
	t.Helper()
	d := s.wait(t, s.begin(t, script, answer))
	if d.err != nil {
		t.Fatalf("the turn failed: %v\n%s", d.err, s.now.stderr)
	}
	return d
}

// allow picks the option that allows once, reject the one that refuses once.
func allow(c wire.PermissionParams) string  { return pick(c, "allow_once") }
func reject(c wire.PermissionParams) string { return pick(c, "reject_once") }

func pick(c wire.PermissionParams, kind string) string {
	for _, o := range c.Options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

// said is what the agent said in the turn.
func (d turn) said() string {
	var b strings.Builder
	for _, u := range d.seen.Updates {
		var x struct {
			Kind    string `json:"sessionUpdate"`
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		}
		if rpc.Unmarshal(u.Update, &x) == nil && x.Kind == "agent_message_chunk" {
			b.WriteString(x.Content.Text)
		}
	}
	return b.String()
}

// notices of a kind.
func (d turn) notices(kind bridge.NoticeKind) (all []wire.Notice) {
	for _, n := range d.seen.Notices {
		if n.Kind == kind {
			all = append(all, n)
		}
	}
	return all
}

// String shows a turn for a person.
func (d turn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stop %q (agent: %q), error %v, said %q\n", d.StopReason, d.AgentSaid, d.err, d.said())
	for _, c := range d.seen.Asked {
		fmt.Fprintf(&b, "  card %s %s %q paths %q input %s\n", c.Request.Kind, c.Request.Tool, c.Title, c.Paths, c.Request.Input)
		for _, x := range c.Diffs {
			old := "nil"
			if x.Old != nil {
				old = fmt.Sprintf("%q", *x.Old)
			}
			fmt.Fprintf(&b, "    diff %s %s -> %q\n", x.Path, old, x.New)
		}
		for _, o := range c.Options {
			fmt.Fprintf(&b, "    option %s %s\n", o.ID, o.Kind)
		}
	}
	for _, c := range d.seen.Settled {
		fmt.Fprintf(&b, "  settled %s %s %q: %+v\n", c.Request.Kind, c.Request.Tool, c.Title, c.Outcome)
	}
	for _, n := range d.seen.Notices {
		fmt.Fprintf(&b, "  notice %s %s: %q (hint %q, paths %q)\n", n.Level, n.Kind, n.Text, n.Hint, n.Paths)
	}
	for _, e := range d.seen.Edits {
		fmt.Fprintf(&b, "  edit %+v\n", e)
	}
	return b.String()
}
