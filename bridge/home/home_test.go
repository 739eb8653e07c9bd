package home_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/bridge/home"
	"sallyport/bridge/permit"
	"sallyport/workspace/config"
)

func TestMain(m *testing.M) { bridgetest.Main(m) }

const patience = 60 * time.Second

// rig is a home of its own, with a bridge that it is attached to on demand.
type rig struct {
	t      *testing.T
	folder string // a project
	file   string // the user's configuration
	agent  bridgetest.Scripted
	*display
}

func newRig(t *testing.T, script string) *rig {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, sub := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a race build sleeps at its end
	r := &rig{t: t, folder: filepath.Join(dir, "p"), file: filepath.Join(dir, "config", "sallyport", "config.json"),
		agent: bridgetest.Fake(t, script), display: &display{changed: make(chan struct{})}}
	r.put(filepath.Join(r.folder, "a.txt"), "alpha\n")
	return r
}

// put writes a file at once, as careful editors do.
func (r *rig) put(path, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		r.t.Fatal(err)
	}
}

// configure writes the configuration: members of an object, with FAKE for the
// scripted agent's command and arguments.
func (r *rig) configure(members string) {
	r.t.Helper()
	args, err := json.Marshal(r.agent.Command[1:])
	if err != nil {
		r.t.Fatal(err)
	}
	program, err := json.Marshal("'" + r.agent.Command[0] + "'")
	if err != nil {
		r.t.Fatal(err)
	}
	state, err := json.Marshal([]string{filepath.Dir(r.agent.Log)}) // it writes its log from inside its fence
	if err != nil {
		r.t.Fatal(err)
	}
	fake := `"command": ` + string(program) + `, "args": ` + string(args) + `, "passEnv": ["GORACE"], "state": ` + string(state)
	r.put(r.file, "{"+strings.ReplaceAll(members, "FAKE", fake)+"}")
}

func (r *rig) open() *home.Home {
	r.t.Helper()
	h, err := home.Open(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(h.Close)
	return h
}

// bridge makes one for a home.
func (r *rig) bridge(h *home.Home) *bridge.Bridge {
	b := &bridge.Bridge{Display: r.display, Home: h.Bridge("test")}
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			r.t.Errorf("closing the bridge: %v", err)
		}
	})
	return b
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) prompt(b *bridge.Bridge, id string) string {
	r.t.Helper()
	r.reset()
	if _, err := b.Prompt(r.ctx(), id, []jsontext.Value{jsontext.Value(`{"type":"text","text":"go"}`)}); err != nil {
		r.t.Fatalf("the turn: %v", err)
	}
	return r.said()
}

// display keeps notices and texts.
type display struct {
	mu      sync.Mutex
	text    string
	notices []bridge.Notice
	changed chan struct{}
}

func (d *display) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *display) Update(_ context.Context, u bridge.Update) {
	var chunk struct{ Content struct{ Text string } }
	if u.Kind == "agent_message_chunk" && json.Unmarshal(u.Raw, &chunk, json.MatchCaseInsensitiveNames(true)) == nil {
		d.change(func() { d.text += chunk.Content.Text })
	}
}
func (d *display) Notice(n bridge.Notice)               { d.change(func() { d.notices = append(d.notices, n) }) }
func (d *display) Settled(*permit.Card, permit.Outcome) {}
func (d *display) Ask(context.Context, *permit.Card) (permit.Answer, error) {
	return permit.Answer{}, errors.New("nobody is here")
}

func (d *display) reset() { d.change(func() { d.text = "" }) }

func (d *display) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// told is what was said of the configuration.
func (d *display) told() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.notices {
		if n.Kind == bridge.NoticeConfig {
			all = append(all, string(n.Level)+" "+n.Text)
		}
	}
	return all
}

// until waits for a state, looking again at every change and now and then: the
// configuration is watched, and sends no event of its own to us.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			r.t.Fatalf("never came: %s; told: %q", what, r.told())
		}
	}
}

// TestACommandOfTheUsersOwn (C027): its words, arguments, environment and
// folder.
func TestACommandOfTheUsersOwn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"say": "${env.MINE} ${cwd}"}]}]}`)
	r.configure(`"agent": "mine", "agents": {"mine": {"name": "My agent", FAKE, "env": {"MINE": "yes"}}}`)
	h := r.open()
	b := r.bridge(h)
	info, err := b.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.prompt(b, info.ID), "yes "+r.folder; got != want || info.Agent != "mine" {
		t.Errorf("agent %s said %q, want %q", info.Agent, got, want)
	}
	if found, err := h.Harness("mine"); err != nil || found.Name != "My agent" {
		t.Errorf("the harness is %+v, %v", found, err)
	}
	if problems := h.Problems(); len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
}

// TestAKnownAgentOverridden: what is not named stays as it is.
func TestAKnownAgentOverridden(t *testing.T) {
	r := newRig(t, `{}`)
	r.configure(`"agents": {
	  "gemini": {"args": ["--debug"], "env": {"A": "1"}, "passEnv": ["B"], "modes": {"plan": "own"}, "name": "Mine", "fs": false},
	  "demo": {"env": {"A": "1"}}}`)
	h := r.open()
	plain, err := builtin("gemini")
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Harness("gemini")
	if err != nil {
		t.Fatal(err)
	}
	if want := append(slices.Clone(plain.ACP.Args), "--debug"); !slices.Equal(got.ACP.Args, want) {
		t.Errorf("arguments are %q, want %q", got.ACP.Args, want)
	}
	if !slices.Equal(got.Program.Locate.Names, plain.Program.Locate.Names) || got.Name != "Mine" || got.ACP.FS {
		t.Errorf("the harness is %+v", got)
	}
	if got.ACP.Environment.Env["A"] != "1" || !slices.Contains(got.Own.PassEnv, "B") || got.ACP.Switches.Modes["plan"] != "own" {
		t.Errorf("the environment is %+v, the modes are %v", got.ACP.Environment, got.ACP.Switches.Modes)
	}
	if got.ACP.Switches.Modes["default"] != plain.ACP.Switches.Modes["default"] {
		t.Errorf("the modes are %v, want those not named as they were: %v", got.ACP.Switches.Modes, plain.ACP.Switches.Modes)
	}
	demo, err := h.Harness("demo")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := demo.Find(func(name string) (string, error) { return name, nil }); err != nil || len(p.Args) == 0 {
		t.Errorf("the demo agent with an environment of its own is started by %+v, %v", p, err)
	}
}

func TestDefaults(t *testing.T) {
	r := newRig(t, `{}`)
	h := r.open()
	var unknown *bridge.UnknownAgentError
	if _, err := h.Harness(""); !errors.As(err, &unknown) || !strings.Contains(unknown.Hint, r.file) || !slices.Contains(unknown.Known, "gemini") {
		t.Errorf("without a default: %v (%+v)", err, unknown)
	}
	r.configure(`"agent": "gemini"`)
	r.until("the setting", func() bool { return h.DefaultID() == "gemini" })
	if found, err := h.Harness(""); err != nil || found.ID != "gemini" {
		t.Errorf("the setting's agent is %v, %v", found, err)
	}
	r.configure(`"agent": "gemni"`)
	r.until("the setting", func() bool { return h.DefaultID() == "gemni" })
	if _, err := h.Harness(""); !errors.As(err, &unknown) || !strings.Contains(unknown.Hint, "gemini") {
		t.Errorf("a name that is none gave %v, want the one that was meant", err)
	}
	h.Default = "codex"
	if found, err := h.Harness(""); err != nil || found.ID != "codex" {
		t.Errorf("the editor's agent is %v, %v", found, err)
	}
}

// TestABrokenConfigurationStartsNothing: its fences are not known. Once it was
// whole the last good one stays.
func TestABrokenConfigurationStartsNothing(t *testing.T) {
	r := newRig(t, `{}`)
	r.configure(`"agent": "mine", "agents": {"mine": {FAKE}}, "maxAgents": "four"`)
	h := r.open()
	b := r.bridge(h)
	h.Attach(b)
	if _, err := b.New(r.ctx(), bridge.NewSession{Agent: "demo", Folder: r.folder}); err == nil || !strings.Contains(err.Error(), "maxAgents") {
		t.Errorf("a session begins under a broken configuration: %v", err)
	}
	if told := r.told(); len(told) != 1 || !strings.HasPrefix(told[0], "error ") || !strings.Contains(told[0], "maxAgents") {
		t.Errorf("told: %q", told)
	}
	r.configure(`"agent": "mine", "agents": {"mine": {FAKE}}`)
	r.until("the agent", func() bool { return h.DefaultID() == "mine" })
	info, err := b.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // broken, mended, broken in the same way
		before := len(r.told())
		r.configure(`"maxAgents": "four", "agents": {}`)
		r.until("the problem is told", func() bool { return len(r.told()) == before+1 })
		if h.DefaultID() != "mine" {
			t.Error("the last good configuration did not stay")
		}
		r.prompt(b, info.ID)
		r.configure(`"agent": "mine", "agents": {"mine": {FAKE}}`)
		r.until("it is whole again", func() bool { return len(h.Problems()) == 0 })
	}
}

// TestOneBadAgentCostsOnlyItself.
func TestOneBadAgentCostsOnlyItself(t *testing.T) {
	r := newRig(t, `{}`)
	r.configure(`"agents": {"b": {"command": "x 'y"}, "a": {"env": {"A": "1"}}, "mine": {FAKE}}`)
	h := r.open()
	if _, err := h.Harness("mine"); err != nil {
		t.Error(err)
	}
	var texts []string
	for _, p := range h.Problems() {
		texts = append(texts, p.Text)
	}
	if len(texts) != 2 || !strings.Contains(texts[0], "agents.a ") || !strings.Contains(texts[1], "agents.b.command") {
		t.Errorf("problems: %q", texts)
	}
}

// TestAProjectOnlyTightens, and what it wants besides is told, once.
func TestAProjectOnlyTightens(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "go", "steps": [{"write": {"path": "${cwd}/a.txt", "text": "x", "as": "a"}}, {"write": {"path": "${cwd}/src/a.txt", "text": "x", "as": "b"}}, {"say": "${a.code} ${b.code}"}]}]}`)
	r.configure(`"agent": "mine", "agents": {"mine": {FAKE}}, "mode": "acceptEdits"`)
	h := r.open()
	b := r.bridge(h)
	h.Attach(b)
	project := filepath.Join(r.folder, config.ProjectFile)
	r.put(project, `{"fences": {"region": ["src", "../out"]}, "unheard": 1}`)
	info, err := b.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode != permit.AcceptEdits {
		t.Errorf("the mode is %s, want the user's", info.Mode)
	}
	if got := r.prompt(b, info.ID); got != "-32010 " {
		t.Errorf("the writes gave %q, want only that in the region done", got)
	}
	for range 3 {
		if _, err := h.Config(r.folder); err != nil {
			t.Fatal(err)
		}
	}
	told := r.told()
	if all := strings.Join(told, "\n"); len(told) != 2 || !strings.Contains(all, "fences.region[1]") || !strings.Contains(all, "unheard") {
		t.Errorf("told:\n%s\nwant both problems, each once", all)
	}
	r.put(project, `{"fences": `)
	if _, err := b.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || !strings.Contains(err.Error(), project) {
		t.Errorf("a session begins under a broken project file: %v", err)
	}
}

// TestF4: a folder that becomes a private project is closed to the sessions that
// live, from the next access on, also where the project's own file is broken.
func TestF4(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "go", "steps": [{"read": {"path": "${cwd}/../r/s.txt", "as": "s"}}, {"say": "${s.error}"}]}]}`)
	const agent = `"agent": "mine", "agents": {"mine": {FAKE}}`
	r.configure(agent)
	h := r.open()
	b := r.bridge(h)
	h.Attach(b)
	secret := filepath.Join(filepath.Dir(r.folder), "r", "s.txt")
	r.put(secret, "secret\n")
	info, err := b.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	if err != nil {
		t.Fatal(err)
	}
	read := func() string {
		if _, err := b.ClearTaint(r.ctx(), info.ID); err != nil { // what it read outside is vouched for
			t.Fatal(err)
		}
		return r.prompt(b, info.ID)
	}
	if got := read(); got != "" {
		t.Fatalf("before, the read gave %q", got)
	}
	private, err := json.Marshal(filepath.Dir(secret))
	if err != nil {
		t.Fatal(err)
	}
	r.put(filepath.Join(r.folder, config.ProjectFile), "{ this is no JSON")
	r.configure(agent + `, "fences": {"private": [` + string(private) + `]}`)
	r.until("the fence", func() bool { return strings.Contains(read(), "private") })
	r.configure(agent)
	r.until("the end of the fence", func() bool { return read() == "" })
}

// TestOverride: what a command line says holds for all that is asked.
func TestOverride(t *testing.T) {
	r := newRig(t, `{}`)
	r.configure(`"agent": "gemini", "permissions": {"policy": "ask"}`)
	h, err := home.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.Override = func(c *config.Config) { c.Permissions.Policy, c.Agent = config.PolicyDeny, "codex" }
	c, err := h.Config(r.folder)
	if err != nil || c.Permissions.Policy != config.PolicyDeny || h.DefaultID() != "codex" || h.User().Permissions.Policy != config.PolicyDeny {
		t.Errorf("in effect are %+v, agent %s (%v)", c, h.DefaultID(), err)
	}
	r.put(filepath.Join(r.folder, config.ProjectFile), `{"permissions": {"policy": "ask"}}`)
	if c, err := h.Config(r.folder); err != nil || c.Permissions.Policy != config.PolicyDeny {
		t.Errorf("the project loosened it: %+v, %v", c, err)
	}
}
