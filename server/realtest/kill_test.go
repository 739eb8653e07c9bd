package realtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// agentKilled: the agent dies in the middle of a turn. The turn fails, nothing
// of the agent is left, and the next prompt starts it again.
func agentKilled(t *testing.T, s *stage) {
	s.call(t, wire.MethodClose, wire.SessionParams{Session: s.now.info.ID}, &wire.Empty{})
	s.begun(t) // how often it was loaded does not matter here
	s.play(t, "learn", allow)
	p := s.sleeping(t)
	agent, err := os.FindProcess(s.agentProcess(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	d := s.wait(t, p)
	var said *rpc.Error
	var data wire.ErrorData
	if !errors.As(d.err, &said) || json.Unmarshal(said.Data, &data) != nil || data.Kind != wire.ErrorGone {
		t.Errorf("the turn ended with %+v, %v; want an error of kind %s", d.TurnResult, d.err, wire.ErrorGone)
	}
	if n := d.notices(bridge.NoticeGone); len(n) != 1 || n[0].Level != bridge.Problem {
		t.Errorf("notices %+v, want one that the agent is gone", d.seen.Notices)
	}
	if !s.family.Lost(sleeper, nothingLeft) {
		t.Error("the killed agent's command lives on")
	}
	next := s.play(t, "text", allow)
	s.ended(t, next, "end_turn")
	knew := strings.Contains(next.told.Rest, "heliotrope")
	again := next.notices(bridge.NoticeNew)
	if len(again) != 1 {
		t.Fatalf("notices %+v, want one that the agent was started again", next.seen.Notices)
	}
	switch text := again[0].Text; {
	case strings.Contains(text, "resumed"):
		s.row.Life.Restarted = "resumed"
	case strings.Contains(text, "loaded again"):
		s.row.Life.Restarted = "loaded again"
	default:
		s.row.Life.Restarted = "forgot"
	}
	if knew != (s.row.Life.Restarted != "forgot") {
		t.Errorf("the notice is %q, and the model knew of the history: %t", again[0].Text, knew)
	}
}

// agentProcess is the first process below the guard, and the fence where there
// is one, that is the agent's program.
func (s *stage) agentProcess(t *testing.T) int {
	t.Helper()
	all := s.family.Now()
	byPID := map[int]bridgetest.Process{}
	for _, p := range all {
		byPID[p.PID] = p
	}
	isAgent := func(p bridgetest.Process) bool {
		return strings.Contains(p.Command, filepath.Join(s.Bin, s.agent.Program))
	}
	for _, p := range all {
		if !isAgent(p) || isAgent(byPID[p.Parent]) {
			continue
		}
		for above := byPID[p.Parent]; above.PID != 0; above = byPID[above.Parent] {
			if strings.HasPrefix(above.Command, "agent-guard") {
				return p.PID
			}
		}
	}
	t.Fatalf("no agent among %+v", all)
	return 0
}

// editorKilled: the editor dies in the middle of a running command.
func editorKilled(t *testing.T, s *stage) {
	p := s.sleeping(t)
	s.family.Now() // whoever leaves the tree from now on is known
	if err := s.now.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.family.Gone(t, nothingLeft)
	<-p.done // the connection ended
	s.now.ed.Wait()
	_ = s.now.process.Wait() // killed: its status says so
	s.checkLog(t)
	s.now = nil
}

// serverKilled: Sallyport itself dies in the middle of a running command.
func serverKilled(t *testing.T, s *stage) {
	s.raise(t)
	s.begun(t)
	p := s.sleeping(t)
	server, err := os.FindProcess(s.serverProcess(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	s.family.Gone(t, nothingLeft) // the editor's process ends with its server
	<-p.done
	s.now.ed.Wait()
	_ = s.now.process.Wait() // its server was killed: its status says so
	s.checkLog(t)
	s.now = nil
}

// serverProcess is the child of the editor's process.
func (s *stage) serverProcess(t *testing.T) int {
	t.Helper()
	all := s.family.Now()
	for _, p := range all {
		if p.Parent == s.now.process.Process.Pid {
			return p.PID
		}
	}
	t.Fatalf("no server among %+v", all)
	return 0
}
