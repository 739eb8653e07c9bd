package realtest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
)

// nothingLeft is how soon after a client's end nothing may be left.
const nothingLeft = 5 * time.Second

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
	ear    *bridgetest.Ear // at its model
	env    []string
	family *bridgetest.Family
	wires  wires
	chosen bool            // by the user's configuration, not by --agent
	begun  bridgetest.Tree // the project at first
}

// program is the agent's, as it is found on PATH.
func (s *stage) program() string { return filepath.Join(s.Bin, s.agent.Program) }

func newStage(t *testing.T, id string) *stage {
	t.Helper()
	s := &stage{Place: bridgetest.NewPlace(t), agent: bridgetest.RealAgent(t, id)}
	s.family = bridgetest.NewFamily(t, s.Place)
	s.ear = bridgetest.Listen(t, bridgetest.StartModel(t).URL)
	s.env = s.agent.Install(t, s.Place, s.ear.URL)
	s.Write(t, "ws/project/notes.txt", "alpha\nbeta\ngamma\n")
	git := exec.Command("git", "init", "-q", s.Project) // agents look for the project's root
	git.Env = s.env
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	s.begun = bridgetest.Look(t, s.Project)
	return s
}

// command is a command line that ends with the test.
func (s *stage) command(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env, cmd.Dir = s.env, s.Project
	return cmd
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

// each runs a test with every agent, side by side.
func each(t *testing.T, play func(t *testing.T, id string)) {
	t.Helper()
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	t.Parallel()
	for _, id := range agents() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			play(t, id)
		})
	}
}

// path of a file of the project.
func (s *stage) path(name string) string { return filepath.Join(s.Project, name) }

// changed wants just these paths of the project to have changed.
func (s *stage) changed(t *testing.T, names ...string) {
	t.Helper()
	if got := s.begun.Changed(bridgetest.Look(t, s.Project)); !slices.Equal(got, names) {
		t.Errorf("%q changed, want %q", got, names)
	}
}

func (s *stage) nothingOutside(t *testing.T) {
	t.Helper()
	if _, err := os.Lstat(s.path("../outside.txt")); err == nil {
		t.Error("outside: a file outside the project was written")
	}
}

// sleeper is the command of the script "sleep", which does not end by itself.
const sleeper = "tail -f /dev/null"

// inCommand waits until the agent's command runs.
func (s *stage) inCommand(t *testing.T) {
	t.Helper()
	s.family.Find(t, sleeper, patience)
}

// end ends all processes of the place.
func (s *stage) end(t *testing.T) {
	t.Helper()
	for _, p := range s.family.Now() {
		if p, err := os.FindProcess(p.PID); err == nil {
			_ = p.Kill() // it may be gone
		}
	}
	s.family.Gone(t, nothingLeft)
}

// isDefault makes the stage's agent the one that is started without --agent.
func (s *stage) isDefault(t *testing.T) {
	t.Helper()
	s.configure(t, func(config map[string]any) { config["agent"] = s.agent.ID })
	s.chosen = true
}

// configure changes the user's configuration.
func (s *stage) configure(t *testing.T, change func(config map[string]any)) {
	t.Helper()
	file := filepath.Join(s.Home, ".config", "sallyport", "config.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	change(config)
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
