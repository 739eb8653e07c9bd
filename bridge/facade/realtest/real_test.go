package realtest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
)

// nothingLeft is how soon after a client's end nothing may be left.
const nothingLeft = 15 * time.Second

// report is what client.mjs says of one scene.
type report struct {
	Scene   string         `json:"scene"`
	Stop    string         `json:"stopReason"`
	Error   any            `json:"error"`
	Asked   int            `json:"asked"`
	Read    int            `json:"read"`
	Wrote   int            `json:"wrote"`
	Said    string         `json:"said"`
	Kinds   map[string]int `json:"kinds"`
	Buffer  string         `json:"buffer"`
	Before  *string        `json:"before"`
	Notes   string         `json:"notes"`
	Created *string        `json:"created"`
	Outside *string        `json:"outside"`
	Shell   *string        `json:"shell"` // what the command of the scene "reject" makes
	Code    *int           `json:"code"`
	Stderr  string         `json:"stderr"`
}

// program is the program under test.
var program bridgetest.Program

func TestMain(m *testing.M) { program.Main(m) }

// clients is where the npm packages of testdata/peers/clients.sh are.
func clients(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(bridgetest.Peers(t), "clients", "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		bridgetest.Missing(t, name, "testdata/peers/clients.sh")
	}
	return path
}

// stage is a place with one agent.
type stage struct {
	bridgetest.Place
	agent  bridgetest.Agent
	model  string // its URL
	env    []string
	family *bridgetest.Family
	wires  wires
}

// program is the agent's, as it is found on PATH.
func (s *stage) program() string { return filepath.Join(s.Bin, s.agent.Program) }

func newStage(t *testing.T, id string) *stage {
	t.Helper()
	s := &stage{Place: bridgetest.NewPlace(t), agent: bridgetest.RealAgent(t, id)}
	s.family = bridgetest.NewFamily(t, s.Place)
	s.model = bridgetest.StartModel(t).URL
	s.env = s.agent.Install(t, s.Place, s.model)
	s.Write(t, "ws/project/notes.txt", "alpha\nbeta\ngamma\n")
	git := exec.Command("git", "init", "-q", s.Project) // agents look for the project's root
	git.Env = s.env
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return s
}

// run runs a client to its end.
func (s *stage) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env, cmd.Dir = s.env, s.Project
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(name), err, tail(string(out)), tail(stderr.String()))
	}
	return string(out)
}

// starts starts what a client in this process speaks with. It ends with its input.
func (s *stage) starts(t *testing.T, command []string) (cmd *exec.Cmd, in io.WriteCloser, out io.Reader) {
	t.Helper()
	cmd = exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = s.env, s.Project, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, out
}

func tail(s string) string { return s[max(0, len(s)-6000):] }

// agents are those that are driven: all, or those of the variable.
func agents() (ids []string) {
	for _, a := range bridgetest.Agents() {
		ids = append(ids, a.ID)
	}
	if only := os.Getenv("SALLYPORT_AGENTS"); only != "" {
		return strings.Split(only, ",")
	}
	return ids
}

// The official client with each agent: plain turn, new file, edit of a dirty
// buffer, refusal, cancel, a write outside, undo, load. What is written ends on the
// disk as it does with the agent alone; the unsaved text of the client's buffer gets
// the edit, too, which without us only agents do that edit through the client.
func TestOfficialClient(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	for _, id := range agents() {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, id)
			got := s.plays(t, s.guarded(t), "plain", "write", "undo", "edit", "reject", "outside", "cancel", "load")
			judge(t, got)
			s.checkWires(t)
			s.family.Gone(t, nothingLeft)

			alone := newStage(t, id)
			alone.env = append(alone.env, alone.agent.Environ(alone.model)...)
			want := alone.plays(t, append([]string{alone.program()}, alone.agent.Args...), "write", "edit")
			// Gemini alone does not make a file that this client says is missing.
			if got, want := text(got["write"].Created), text(want["write"].Created); got != want && id != "gemini" {
				t.Errorf("write: created.txt is %q, and without us %q", got, want)
			}
			// This client saves what it is given: the unsaved text with the edit in it.
			saved := strings.NewReplacer(" UNSAVED", "")
			if got, want := saved.Replace(got["edit"].Notes), saved.Replace(want["edit"].Notes); got != want {
				t.Errorf("edit: notes.txt is %q, and without us %q", got, want)
			}
		})
	}
}

// plays has the official client play scenes with what a command line starts.
func (s *stage) plays(t *testing.T, command []string, scenes ...string) map[string]report {
	t.Helper()
	args := append([]string{client(t, "client.mjs"), clients(t, "@agentclientprotocol/sdk"), s.Project}, scenes...)
	out := s.run(t, "node", append(append(args, "--"), command...)...)
	reports := map[string]report{}
	for line := range strings.Lines(out) {
		var r report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		reports[r.Scene] = r
		t.Log(strings.TrimSpace(line))
	}
	return reports
}

func text(s *string) string {
	if s == nil {
		return "absent"
	}
	return *s
}

func client(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// judge says what must hold of every agent.
func judge(t *testing.T, r map[string]report) {
	t.Helper()
	for _, scene := range []string{"plain", "write", "edit", "undo"} {
		if got := r[scene]; got.Stop != "end_turn" {
			t.Errorf("%s: ended with %q, error %v", scene, got.Stop, got.Error)
		}
	}
	if got := r["plain"].Said; !strings.Contains(got, "plain answer") {
		t.Errorf("plain: said %q", got)
	}
	if got := r["write"].Created; got == nil || *got != "one\ntwo\n" {
		t.Errorf("write: created.txt is %v", got)
	}
	// Agents that edit through the client change its buffer; others the disk, where
	// the client's unsaved text is not, as without us.
	if got := r["edit"]; !strings.Contains(got.Buffer+got.Notes, "BETA") || !strings.Contains(got.Buffer, "UNSAVED") {
		t.Errorf("edit: buffer %q, disk %q", got.Buffer, got.Notes)
	}
	// Some run their commands unasked, inside a sandbox of their own.
	if got := r["reject"]; got.Stop == "" || got.Asked > 0 && got.Shell != nil {
		t.Errorf("reject: ended with %q, error %v; asked %d times, the file is %s", got.Stop, got.Error, got.Asked, text(got.Shell))
	}
	if got := r["outside"].Outside; got != nil {
		t.Errorf("outside: a file outside the project was written: %q", *got)
	}
	if got := r["cancel"].Stop; got != "cancelled" {
		t.Errorf("cancel: ended with %q, error %v", got, r["cancel"].Error)
	}
	if got := r["undo"]; got.Before == nil || got.Created != nil {
		t.Errorf("undo: created.txt before %v, after %v; said %s", got.Before, got.Created, got.Said)
	}
	if got := r["load"]; got.Stop != "end_turn" && got.Stop != "not offered" {
		t.Errorf("load: ended with %q, error %v", got.Stop, got.Error)
	}
	if got := r["end"]; got.Code == nil || *got.Code != 0 {
		t.Errorf("the end: %+v", got)
	}
}

// authoredAs is the definition that a message of ours has to fit, "" for one that
// is not ours.
func authoredAs(m rpc.Message) string {
	switch string(m.Method) {
	case "fs/read_text_file":
		return "ReadTextFileRequest"
	case "fs/write_text_file":
		return "WriteTextFileRequest"
	case "session/update":
		update, _ := rpc.Member(m.Params, "update")
		if marked(update) {
			return "SessionNotification"
		}
	case "session/request_permission":
		call, _ := rpc.Member(m.Params, "toolCall")
		id, _ := rpc.Member(call, "toolCallId")
		if marked(call) || strings.HasPrefix(string(id), `"sallyport-`) {
			return "RequestPermissionRequest"
		}
	}
	return ""
}

func marked(object []byte) bool {
	meta, _ := rpc.Member(object, "_meta")
	_, ok := rpc.Member(meta, "sallyport")
	return ok
}
