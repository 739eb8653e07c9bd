package bridge_test

import (
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

const (
	modesAB = `"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "a"}, {"id": "b", "name": "b"}]}`
	optionM = `"configOptions": [
	  {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "m", "options": [{"value": "m", "name": "m"}]},
	  {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "build", "options": [{"value": "build", "name": "build"}, {"value": "plan", "name": "plan"}]}]`
)

// set sets a mode and wants it to be the session's afterwards.
func (r *rig) set(id string, mode permit.Mode) {
	r.t.Helper()
	info, err := r.SetMode(r.ctx(), id, mode)
	if err != nil || info.Mode != mode {
		r.t.Fatalf("setting mode %s gave %+v, %v", mode, info, err)
	}
}

// TestModesReachTheAgent: by its modes, or by its config options where it has
// its modes there (opencode), and anew when it was started again.
func TestModesReachTheAgent(t *testing.T) {
	for _, test := range []struct {
		name, offer, plan, back string
		wire                    string
	}{
		{"set_mode", modesAB, "b", "a", `"method":"session/set_mode"`},
		{"config option", optionM, "plan", "build", `"configId":"mode"`},
		{"config option, modes too", modesAB + "," + optionM, "b", "a", `"method":"session/set_mode"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{"capabilities": {"sessionCapabilities": {"resume": {}}}, `+test.offer+`}`,
				func(r *rig) { setModes(r, map[string]string{"default": test.back, "plan": test.plan}) })
			info := r.open()
			if n := r.heard("session/set_mode") + r.heard("session/set_config_option"); n != 0 {
				t.Errorf("an agent that is in its mode already was brought there %d times", n)
			}
			r.set(info.ID, permit.PlanMode)
			r.expectWire(test.wire, `"`+test.plan+`"`)
			r.set(info.ID, permit.PlanMode)
			if n := r.heard("session/set_mode") + r.heard("session/set_config_option"); n != 1 {
				t.Errorf("the mode was set %d times, want once", n)
			}
			r.Sweep(time.Now().Add(2 * time.Hour))
			if _, err := r.prompt(info.ID, "x"); err != nil {
				t.Fatal(err)
			}
			if n := r.heard("session/set_mode") + r.heard("session/set_config_option"); n != 2 {
				t.Errorf("the mode was set %d times, want again in the new process", n)
			}
			if n := r.display.noticed(bridge.NoticePosture); len(n) != 0 {
				t.Errorf("what the user set was told of: %v", n)
			}
		})
	}
}

// TestAModeThatTheAgentDoesNotTake: ours holds, and the user knows that the
// agent's does not.
func TestAModeThatTheAgentDoesNotTake(t *testing.T) {
	for name, script := range map[string]string{
		"refused":     modesAB + `, "on": {"session/set_mode": {"answer": {"error": {"code": -32603, "message": "no \u001b[2J"}}}}`,
		"not offered": `"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "a"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{`+script+`, "prompts": [{"steps": [`+asks+`]}]}`,
				func(r *rig) { setModes(r, map[string]string{"default": "a", "plan": "b"}) })
			info := r.open()
			r.set(info.ID, permit.PlanMode)
			n := r.display.noticed(bridge.NoticePosture)
			if len(n) != 1 || !strings.Contains(n[0].Text, `"b"`) || strings.Contains(n[0].Text, "\x1b") {
				t.Errorf("notices are %+v, want one on the agent's mode", n)
			}
			if _, err := r.prompt(info.ID, "go"); err != nil || r.said() != "rejected" {
				t.Errorf("in plan mode a command was %q (%v)", r.said(), err)
			}
		})
	}
}

// TestAModeThatIsGivenUp changes nothing.
func TestAModeThatIsGivenUp(t *testing.T) {
	r := newRig(t, `{`+modesAB+`, "on": {"session/set_mode": {"answer": "never"}}}`,
		func(r *rig) { setModes(r, map[string]string{"default": "a", "bypassPermissions": "b"}) })
	info := r.open()
	ctx, cancel := contextOf(r)
	done := make(chan error, 1)
	go func() {
		_, err := r.SetMode(ctx, info.ID, permit.Bypass)
		done <- err
	}()
	r.awaits("session/set_mode", 1)
	cancel()
	if err := r.wait(done); err == nil {
		t.Error("a mode was set that was given up")
	}
	if now, _ := r.Info(info.ID); now.Mode != permit.Default {
		t.Errorf("the mode is %s", now.Mode)
	}
}
