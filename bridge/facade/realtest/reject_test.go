package realtest

import (
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
)

// rejects plays a command about which every agent has to ask, with a person who
// refuses, and a plain turn behind it. play says how often it was asked.
func (s *stage) rejects(t *testing.T, play func(script string) (asked int)) {
	t.Helper()
	before, heard := bridgetest.Look(t, s.Project), s.ear.Count()
	if asked := play("reject"); asked != 1 {
		t.Errorf("reject: asked %d times, want once", asked)
	}
	for _, name := range before.Changed(bridgetest.Look(t, s.Project)) {
		t.Errorf("reject: %s changed", name)
	}
	s.toldNo(t, "by-shell.txt")
	play("plain") // some end the turn: then the next one has what became of it
	if told, want := s.ear.Since(heard).Tools, refusal[s.agent.ID]; want == "" || !strings.Contains(told, want) {
		t.Errorf("reject: the model was told %q, want %q in it", told, want)
	}
}

// refusal is what each agent tells its model of a command that was refused.
var refusal = map[string]string{
	"opencode":  "The user rejected permission to use this specific tool call.",
	"gemini":    `Tool "run_shell_command" was canceled by the user.`,
	"codex":     "aborted by user",
	"codex-zed": "aborted by user",
	"qwen":      `Tool "run_shell_command" was canceled by the user.`,
	"claude":    "User refused permission to run tool",
}

// toldNo wants the agent's one question about something to be answered with its own
// option that rejects once.
func (s *stage) toldNo(t *testing.T, about string) {
	t.Helper()
	agent := read(t, s.wires.agent)
	which := func(m rpc.Message) bool { return strings.Contains(string(m.Params), about) }
	asked := params(agent.down, "session/request_permission", which)
	answers := results(agent.down, agent.up, "session/request_permission", which)
	if len(asked) != 1 || len(answers) != 1 {
		t.Fatalf("reject: the agent asked %q and was answered %q, want one of each", asked, answers)
	}
	var q struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	var a struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	if err := rpc.Unmarshal([]byte(asked[0]), &q); err != nil {
		t.Fatal(err)
	}
	if err := rpc.Unmarshal([]byte(answers[0]), &a); err != nil {
		t.Fatal(err)
	}
	for _, o := range q.Options {
		if o.ID == a.Outcome.Option && o.Kind == "reject_once" && a.Outcome.Outcome == "selected" {
			return
		}
	}
	t.Errorf("reject: the agent asked %s\nand was answered %s", asked[0], answers[0])
}
