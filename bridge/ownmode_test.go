package bridge_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/config"
)

const (
	yolo    = `"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "ask"}, {"id": "yolo", "name": "yolo"}, {"id": "plan", "name": "plan"}]}`
	saysAsk = `{"update": {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}}`
	says    = `{"update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}`
	// yoloOption has its modes as a config option; the agent is in yolo.
	yoloOption = `"configOptions": [{"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "yolo", "options": [{"value": "yolo", "name": "yolo"}, {"value": "ask", "name": "ask"}]}]`
	lists      = `{"update": {"sessionUpdate": "config_option_update", ` + yoloOption + `}}`
	// stands lets the put back of the fake agent go by: its answer is on the wire
	// before the answer to this.
	stands = `{"read": {"path": "${cwd}/none", "as": "x"}}`
)

// maps maps our modes to the fake agent's.
func maps(r *rig) {
	setModes(r, map[string]string{"default": "ask", "plan": "plan", "bypassPermissions": "ask"})
}

// askingOption is yoloOption of an agent that asks at first.
func askingOption() string {
	return strings.Replace(yoloOption, `"currentValue": "yolo"`, `"currentValue": "ask"`, 1)
}

// TestTheAgentsOwnChangesOfMode: one that stops its asking is told and put back,
// unless somebody here set it, or it was so all the time.
func TestTheAgentsOwnChangesOfMode(t *testing.T) {
	for _, test := range []struct {
		name, offer, steps string
		before             func(*rig, bridge.Info)
		told               int
	}{
		{"by current_mode_update", yolo, says, nil, 1},
		{"by config_option_update", askingOption(), lists, nil, 1},
		{"a stricter one", yolo, `{"update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}`, nil, 0},
		{"one that nobody knows", yolo, `{"update": {"sessionUpdate": "current_mode_update", "currentModeId": "swift"}}`, nil, 1},
		{"as it was offered", yoloOption, lists, nil, 0},
		{"by its mode", yolo, says, func(r *rig, i bridge.Info) {
			if _, err := r.SetConfigOption(r.ctx(), i.ID, "mode", jsontext.Value(`"yolo"`)); err != nil {
				r.t.Log(err) // it has no such option
			}
		}, 1},
		{"by its config option", askingOption(), says, func(r *rig, i bridge.Info) {
			if _, err := r.SetConfigOption(r.ctx(), i.ID, "mode", jsontext.Value(`"yolo"`)); err != nil {
				r.t.Error(err)
			}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{`+test.offer+`, "prompts": [{"steps": [`+test.steps+`]}]}`)
			if test.offer != yoloOption {
				maps(r)
			}
			r.display.answer = reject
			info := r.open()
			if test.before != nil {
				test.before(r, info)
			}
			if _, err := r.prompt(info.ID, "go"); err != nil {
				t.Fatal(err)
			}
			n := append(r.display.noticed(bridge.NoticePosture), r.display.noticed(bridge.NoticeRefused)...)
			if len(n) != test.told {
				t.Errorf("%d notices, want %d: %+v", len(n), test.told, n)
			}
			if sent := r.heard("session/set_mode") + r.heard("session/set_config_option"); test.told > 0 && sent < 1 {
				t.Error("it was not put back")
			}
		})
	}
}

// TestASwitchIsPutBackUnlessTheUserLetsIt: at once, before anybody has answered; the
// user's leave sets it again, and counts for the session.
func TestASwitchIsPutBackUnlessTheUserLetsIt(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(context.Context, *permit.Card) (permit.Answer, error)
		policy config.Policy
		modes  string // that the agent was set to
		alarms []string
	}{
		{"let", allow, config.PolicyAsk, "ask yolo", []string{`"yolo", in which it asks less`, `put back to mode "ask"`, `the user let the agent switch to mode "yolo"`}},
		{"kept", reject, config.PolicyAsk, "ask ask", []string{`"yolo", in which it asks less`, `put back to mode "ask"`}},
		{"nobody there", allow, config.PolicyDeny, "ask ask", []string{`"yolo", in which it asks less`, `put back to mode "ask"`}},
		{"whatever the mode", reject, config.PolicyRecord, "ask ask", []string{`"yolo", in which it asks less`, `put back to mode "ask"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{`+yolo+`, "prompts": [{"steps": [`+says+`, {"waitCancel": true}]}, {"steps": [`+says+`]}]}`, maps, keeping)
			r.config.Permissions.Policy = test.policy
			r.display.answer = func(ctx context.Context, c *permit.Card) (permit.Answer, error) {
				if n := r.heard("session/set_mode"); n != 1 || c.Request.Kind != permit.Question || !strings.Contains(c.Title, `"yolo"`) {
					t.Errorf("asked %q (%s) after %d put backs, want a question after one", c.Title, c.Request.Kind, n)
				}
				return test.answer(ctx, c)
			}
			if test.name == "whatever the mode" {
				r.config.Mode = "bypassPermissions"
			}
			info := r.open()
			ends := r.start(info.ID, "go")
			r.display.until(t, "the settled question", func(d *display) bool { return len(d.settled) == 1 })
			if strings.HasSuffix(test.modes, "yolo") {
				r.awaits("session/set_mode", 2)
			}
			r.Cancel(r.ctx(), info.ID)
			first := r.end(ends)
			if _, err := r.prompt(info.ID, "again"); err != nil { // nobody is asked again
				t.Fatal(err)
			}
			if got := modesSet(r); got != test.modes {
				t.Errorf("the agent was set to %q, want %q", got, test.modes)
			}
			if n := len(r.display.asked); n > 1 {
				t.Errorf("asked %d times", n)
			}
			alarms := r.receiptOf(first.Turn).Did.Alarms.List
			if len(alarms) != len(test.alarms) {
				t.Fatalf("alarms are %+v, want %q", alarms, test.alarms)
			}
			for i, want := range test.alarms {
				if !strings.Contains(alarms[i].Text, want) {
					t.Errorf("alarm %d is %q, want %q", i, alarms[i].Text, want)
				}
			}
		})
	}
}

// modesSet are the modes that the agent was set to, in order.
func modesSet(r *rig) string {
	var all []string
	for _, line := range r.wire() {
		if _, rest, ok := strings.Cut(line, `"modeId":"`); ok {
			mode, _, _ := strings.Cut(rest, `"`)
			all = append(all, mode)
		}
	}
	return strings.Join(all, " ")
}

// TestAnAgentThatDoesNotStayPutBack is put back a few times, asked about once, and
// then its turn is cancelled.
func TestAnAgentThatDoesNotStayPutBack(t *testing.T) {
	for name, steps := range map[string]string{
		"in a flood":     says + `,` + saysAsk,
		"one at a time":  says + `,` + stands,
		"without a word": says + `,` + stands + `,` + stands,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{`+yolo+`, "prompts": [{"steps": [{"repeat": {"times": 500, "steps": [`+steps+`]}}]}]}`, maps, keeping)
			r.display.answer = func(ctx context.Context, _ *permit.Card) (permit.Answer, error) {
				<-ctx.Done()
				return permit.Answer{}, ctx.Err()
			}
			info := r.open()
			result, err := r.prompt(info.ID, "go")
			if err != nil || result.StopReason != "cancelled" {
				t.Errorf("ended with %+v, %v; want it cancelled", result, err)
			}
			if n := r.heard("session/set_mode"); n > 7 {
				t.Errorf("put back %d times", n)
			}
			if n := len(r.display.asked); n > 1 {
				t.Errorf("asked %d times", n)
			}
			n := r.display.noticed(bridge.NoticePosture)
			loud := slices.ContainsFunc(n, func(n bridge.Notice) bool {
				return n.Level == bridge.Problem && strings.Contains(n.Text, "its turn is cancelled")
			})
			if len(n) > 8 || !loud {
				t.Errorf("notices are %+v", n)
			}
		})
	}
}

// TestAnAgentThatCannotBePutBack: loud, on the receipt and in the posture, and tried
// again before the next prompt.
func TestAnAgentThatCannotBePutBack(t *testing.T) {
	for name, script := range map[string]string{
		"it refuses":  askingOption() + `, "on": {"session/set_config_option": {"answer": {"error": {"code": -32603, "message": "no \u001b[2J"}}}}, "prompts": [{"steps": [` + lists + `]}]`,
		"not offered": `"modes": {"currentModeId": "ask", "availableModes": [{"id": "yolo", "name": "yolo"}]}, "prompts": [{"steps": [` + says + `]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{`+script+`}`, maps, keeping)
			info := r.open()
			result, err := r.prompt(info.ID, "go")
			if err != nil {
				t.Fatal(err)
			}
			n := problems(r)
			if len(n) != 1 || strings.Contains(n[0].Text, "\x1b") || !strings.Contains(n[0].Text, "could not be put back") {
				t.Errorf("notices are %+v", n)
			}
			if len(r.display.asked) != 0 {
				t.Error("the user was asked about what stands")
			}
			written := r.receiptOf(result.Turn)
			if p := written.Held.Changes; len(p) != 1 || !strings.Contains(p[0].Posture.Sentence, `"yolo"`) {
				t.Errorf("postures on the receipt are %+v", p)
			}
			if _, err := r.prompt(info.ID, "next"); err != nil {
				t.Fatal(err)
			}
			if n := problems(r); len(n) != 2 {
				t.Errorf("%d notices, want another at the next prompt: %+v", len(n), n)
			}
		})
	}
}

// problems are the loud notices on what holds.
func problems(r *rig) (all []bridge.Notice) {
	for _, n := range r.display.noticed(bridge.NoticePosture) {
		if n.Level == bridge.Problem {
			all = append(all, n)
		}
	}
	return all
}

// TestASwitchBetweenTurns is put back, too, and nobody is asked.
func TestASwitchBetweenTurns(t *testing.T) {
	r := newRig(t, `{`+yolo+`, "prompts": [{"steps": [{"say": "x"}, {"answer": "end_turn"}, {"sleep": 400}, `+says+`]}]}`, maps)
	info := r.turn("go")
	r.awaits("session/set_mode", 1)
	r.display.until(t, "the notice", func(d *display) bool {
		return slices.ContainsFunc(d.notices, func(n bridge.Notice) bool { return n.Kind == bridge.NoticePosture })
	})
	if n := len(r.display.asked); n != 0 {
		t.Errorf("asked %d times", n)
	}
	if got := modesSet(r); got != "ask" {
		t.Errorf("set to %q", got)
	}
	if _, err := r.prompt(info.ID, "next"); err != nil || modesSet(r) != "ask" {
		t.Errorf("set to %q at the next prompt (%v)", modesSet(r), err)
	}
}

// TestAModePickedWithAPlan is the user's: it is not put back, and the session leaves
// plan mode with it. One that was not picked is.
func TestAModePickedWithAPlan(t *testing.T) {
	const plan = `{"ask": {"toolCall": {"toolCallId": "p1", "kind": "switch_mode", "title": "Ready?", "rawInput": {"plan": "do"}},
	  "options": [{"optionId": "acceptEdits", "name": "Yes, accept edits", "kind": "allow_always"}, {"optionId": "plan", "name": "No", "kind": "reject_once"}], "as": "x"}}`
	const goes = `{"update": {"sessionUpdate": "current_mode_update", "currentModeId": "acceptEdits"}}`
	for _, test := range []struct {
		name, option string
		sets         string
		mode         permit.Mode
	}{
		{"approved", "acceptEdits", "plan", permit.AcceptEdits},
		{"refused", "plan", "plan plan", permit.PlanMode},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{`+yolo+`, "prompts": [{"steps": [`+plan+`,`+goes+`]}]}`, maps)
			r.display.answer = func(_ context.Context, c *permit.Card) (permit.Answer, error) {
				if c.Request.Kind == permit.Plan {
					return permit.Answer{Option: test.option}, nil
				}
				return permit.Answer{}, nil
			}
			r.config.Mode = "plan"
			info := r.open()
			if _, err := r.prompt(info.ID, "go"); err != nil {
				t.Fatal(err)
			}
			if now, _ := r.Info(info.ID); now.Mode != test.mode || modesSet(r) != test.sets {
				t.Errorf("the mode is %s and the agent was set to %q, want %s and %q", now.Mode, modesSet(r), test.mode, test.sets)
			}
		})
	}
}

// TestAModeThatTheClientSets is the user's: it is not put back, the session follows
// where it knows the mode, and what asks less is told and in the posture.
func TestAModeThatTheClientSets(t *testing.T) {
	for _, test := range []struct {
		mode  string
		ours  permit.Mode
		loose bool
	}{
		{"plan", permit.PlanMode, false},
		{"yolo", permit.Default, true},
	} {
		t.Run(test.mode, func(t *testing.T) {
			r := newRig(t, `{`+yolo+`}`, func(r *rig) { setModes(r, map[string]string{"default": "ask"}) })
			info := r.open()
			answered := make(chan error, 1)
			r.Forward(r.ctx(), bridge.Through{Session: info.ID, Method: "session/set_mode", Params: jsontext.Value(`{"sessionId":"` + info.AgentID + `","modeId":"` + test.mode + `"}`)},
				func(_ jsontext.Value, err error) { answered <- err })
			if err := await(t, "the answer", answered); err != nil {
				t.Fatal(err)
			}
			now, err := r.Info(info.ID)
			if err != nil || now.Mode != test.ours || strings.Contains(now.Posture.Sentence, `its mode "yolo"`) != test.loose {
				t.Errorf("the mode is %s and the posture %q (%v)", now.Mode, now.Posture.Sentence, err)
			}
			if n := r.display.noticed(bridge.NoticePosture); len(n) > 0 != test.loose {
				t.Errorf("notices are %+v", n)
			}
			r.awaits("session/set_mode", 1)
			if got := modesSet(r); got != test.mode {
				t.Errorf("the agent was set to %q", got)
			}
		})
	}
}
