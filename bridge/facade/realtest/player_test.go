package realtest

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// report is what client.mjs says of one scene.
type report struct {
	Scene    string         `json:"scene"`
	Stop     string         `json:"stopReason"`
	Error    any            `json:"error"`
	Asked    int            `json:"asked"`
	Said     string         `json:"said"`
	Kinds    map[string]int `json:"kinds"`
	Buffer   string         `json:"buffer"`
	Options  []string       `json:"options"`  // of session/new, by id
	Answered []string       `json:"answered"` // of the last session/set_config_option
}

// player is a process of the official client.
type player struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// plays starts the official client, which starts what a command line says.
func (s *stage) plays(t *testing.T, command []string) *player {
	t.Helper()
	cmd, in, out := s.starts(t, append([]string{"node", client(t, "client.mjs"), clients(t, "@agentclientprotocol/sdk"), s.Project}, command...))
	p := &player{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	p.out.Buffer(nil, 1<<20)
	return p
}

// begin has it begin a scene.
func (p *player) begin(t *testing.T, scene string) {
	t.Helper()
	if _, err := io.WriteString(p.in, scene+"\n"); err != nil {
		t.Fatalf("%s: %v", scene, err)
	}
}

// play has it play a scene to its end.
func (p *player) play(t *testing.T, scene string) (r report) {
	t.Helper()
	p.begin(t, scene)
	limit := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() }) // it may be gone
	defer limit.Stop()
	if !p.out.Scan() {
		t.Fatalf("%s: the client ended, or was ended after %v: %v", scene, patience, p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil || !strings.HasPrefix(scene, r.Scene) {
		t.Fatalf("%s: %v: %s", scene, err, p.out.Text())
	}
	t.Log(p.out.Text())
	if r.Stop == "" && r.Error != nil {
		t.Errorf("%s: error %v", scene, r.Error)
	}
	return r
}

// ends plays a scene that ends as a turn does, and returns what was said.
func (p *player) ends(t *testing.T, scene string, words ...string) report {
	t.Helper()
	r := p.play(t, scene)
	if r.Stop != "end_turn" {
		t.Errorf("%s: ended with %q", scene, r.Stop)
	}
	for _, w := range words {
		if !strings.Contains(r.Said, w) {
			t.Errorf("%s: said %q, want %q in it", scene, r.Said, w)
		}
	}
	return r
}

// kill ends the client, and nothing else, by SIGKILL.
func (p *player) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	_ = p.cmd.Wait()         // killed: its status says so
}
