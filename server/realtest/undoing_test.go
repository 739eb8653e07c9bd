package realtest

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// offered runs the code action whose title begins so, at the beginning of a file.
func (s *stage) offered(t *testing.T, begins string) {
	t.Helper()
	var list []struct {
		Title   string `json:"title"`
		Command struct {
			Command   string `json:"command"`
			Arguments []any  `json:"arguments"`
		} `json:"command"`
	}
	s.call(t, "textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": s.uri("a.txt")}, "range": wire.Range{}, "context": map[string]any{"diagnostics": []any{}},
	}, &list)
	for _, a := range list {
		if strings.HasPrefix(a.Title, begins) {
			s.call(t, "workspace/executeCommand", a.Command, nil)
			return
		}
	}
	t.Fatalf("no code action begins with %q: %+v", begins, list)
}

// A plain editor takes a turn back by a code action, and that, too.
func TestUndoFromAPlainEditor(t *testing.T) {
	s := scripted(t, true, `{"prompts": [{"steps": [{"say": "Hello."}]}, {"steps": [
		{"directWrite": {"path": "${cwd}/a.txt", "text": "of the agent\n"}},
		{"shell": "echo x > made.txt"}]}]}`)
	s.raise(t)
	s.show(t, "a.txt", "before\n", "")
	s.now.ed.SetHabits(func(h *servertest.Habits) { h.Choose = func(string, []string) (int, error) { return 0, nil } })
	ask := func() {
		s.call(t, "workspace/executeCommand", map[string]any{"command": "sallyport.ask", "arguments": []any{"go"}}, nil)
	}
	until := func(what string, state func(*servertest.Seen) bool) {
		t.Helper()
		if err := s.now.ed.Until(s.ctx(t), state); err != nil {
			t.Fatalf("waiting until %s: %v\n%s", what, err, s.now.stderr)
		}
	}
	said := func(words string) func(*servertest.Seen) bool {
		return func(seen *servertest.Seen) bool {
			return slices.ContainsFunc(seen.Messages, func(m string) bool { return strings.Contains(m, words) })
		}
	}
	ask() // starts the agent, with what its fences need
	until("the first turn ended", func(seen *servertest.Seen) bool { return seen.Ends() > 0 })
	before := s.look(t)
	ask()
	until("the turn ended", func(seen *servertest.Seen) bool {
		return slices.ContainsFunc(seen.Progress, func(p servertest.Progress) bool { return strings.HasPrefix(p.Message, "done, 2 files changed") })
	})
	after := s.look(t)
	s.offered(t, "Undo the agent's last turn (2 files)")
	until("it was taken back", said("took back"))
	s.standing(t, "after the undo", "a.txt", "before\n", "before\n")
	same(t, "after the undo", s.look(t), before)
	s.offered(t, "Redo the agent's turn that was undone (2 files)")
	until("it was done again", said("did again"))
	s.standing(t, "after the redo", "a.txt", "of the agent\n", "of the agent\n")
	same(t, "after the redo", s.look(t), after)
	s.leave(t)
}

// While an agent has a turn nothing is taken back in its project, by nobody.
func TestNothingIsTakenBackInATurn(t *testing.T) {
	s := scripted(t, false, `{"prompts": [
		{"steps": [{"directWrite": {"path": "${cwd}/a.txt", "text": "of the agent\n"}}]},
		{"steps": [{"say": "waiting"}, {"waitCancel": true}]}]}`)
	s.raise(t)
	s.put(t, "a.txt", "before\n")
	s.begun(t)
	first := s.play(t, "first", allow)
	p := s.begin(t, "second", allow)
	if err := s.now.ed.Until(s.ctx(t), func(seen *servertest.Seen) bool { return len(seen.Updates) > len(p.before.Updates) }); err != nil {
		t.Fatal(err)
	}
	err := s.now.ed.Call(s.ctx(t), wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: first.Turn}}, nil)
	var said *rpc.Error
	var data wire.ErrorData
	if !errors.As(err, &said) || json.Unmarshal(said.Data, &data) != nil || data.Kind != wire.ErrorBusy {
		t.Errorf("the editor got %v, want an error of kind %s", err, wire.ErrorBusy)
	}
	cmd := exec.CommandContext(s.ctx(t), program, "undo", first.Turn)
	cmd.Dir, cmd.Env = s.Project, s.env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "is running") || !strings.Contains(string(out), "hint: cancel it") {
		t.Errorf("the command said %v: %s", err, out)
	}
	if got := s.disk(t, "a.txt"); got != "of the agent\n" {
		t.Errorf("the file is %q", got)
	}
	if err := s.now.ed.Notify(wire.MethodCancel, wire.SessionParams{Session: s.now.info.ID}); err != nil {
		t.Fatal(err)
	}
	if d := s.wait(t, p); d.StopReason != "cancelled" {
		t.Errorf("the turn ended with %q, %v", d.StopReason, d.err)
	}
	did(t, "once it was over the undo", s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: first.Turn}}), "a.txt", "")
	s.leave(t)
}
