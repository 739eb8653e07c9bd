package bridge_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/fakeagent"
	"sallyport/bridge/permit"
	"sallyport/bridge/process"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
	"sallyport/server/terminal"
	"sallyport/workspace"
	"sallyport/workspace/config"
)

// TestMain lets the test binary be the scripted agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fake-agent" {
		os.Exit(fakeagent.Run(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// patience is how long an event may take on a busy machine.
const patience = 60 * time.Second

// rig is a bridge with a scripted agent, an editor in memory and a display
// that keeps everything.
type rig struct {
	*bridge.Bridge
	t       *testing.T
	folder  string
	editor  *terminal.Buffers
	display *display
	config  *config.Config
	log     string // what the agent received
	script  string // what it does, read at its start
}

// newRig makes one. The script is as for sallyport fake-agent.
func newRig(t *testing.T, script string, change ...func(*rig)) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, folder: filepath.Join(dir, "p"), editor: terminal.NewBuffers(), display: newDisplay(), config: config.Default(), log: filepath.Join(dir, "wire"), script: filepath.Join(dir, "script.jsonc")}
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	r.rewrite(script)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := harness.FromCommand(harness.Command{ID: "fake", Name: "Fake", Args: []string{self, "fake-agent", "--log", r.log, r.script}, FS: true,
		Settings: harness.Settings{Env: map[string]string{"GORACE": "atexit_sleep_ms=0"}}}) // a race build sleeps at its end
	if err != nil {
		t.Fatal(err)
	}
	environ := os.Environ()
	r.Bridge = &bridge.Bridge{
		Display: r.display, Editor: r.editor, Log: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Home: bridge.Home{
			Harness: func(string) (*harness.Harness, error) { return h, nil },
			Config:  func(string) (*config.Config, error) { return r.config, nil },
			Finder:  &process.Finder{Host: environ}, Environ: environ, Version: "test",
		},
	}
	for _, f := range change {
		f(r)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("closing the bridge: %v", err)
		}
	})
	return r
}

// rewrite gives the agents that start from now on another script.
func (r *rig) rewrite(script string) {
	r.t.Helper()
	if err := os.WriteFile(r.script, []byte(script), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// heard counts the messages of a method that the agents received so far.
func (r *rig) heard(method string) int {
	raw, err := os.ReadFile(r.log)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return strings.Count(string(raw), `"method":"`+method+`"`)
}

// awaits waits until the agents have received n messages of a method.
func (r *rig) awaits(method string, n int) {
	r.t.Helper()
	r.poll(method+" on the wire", func() bool { return r.heard(method) >= n })
}

// open begins a session.
func (r *rig) open() bridge.Info {
	r.t.Helper()
	info, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	if err != nil {
		r.t.Fatalf("opening a session: %v", err)
	}
	return info
}

// prompt runs one turn.
func (r *rig) prompt(id, text string) (bridge.TurnResult, error) {
	return r.Prompt(r.ctx(), id, []jsontext.Value{block(text)})
}

// turn opens a session, runs one turn and wants it to end by itself.
func (r *rig) turn(text string) bridge.Info {
	r.t.Helper()
	info := r.open()
	result, err := r.prompt(info.ID, text)
	if err != nil || result.StopReason != "end_turn" {
		r.t.Fatalf("turn ended with %+v, %v; want end_turn", result, err)
	}
	return info
}

// start runs a turn on a goroutine of its own.
func (r *rig) start(id, text string) <-chan ending {
	ends := make(chan ending, 1)
	go func() {
		result, err := r.prompt(id, text)
		ends <- ending{result, err}
	}()
	return ends
}

type ending struct {
	bridge.TurnResult
	err error
}

func (r *rig) end(ends <-chan ending) ending {
	r.t.Helper()
	return await(r.t, "the turn's end", ends)
}

// await waits for what a channel brings.
func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("never came: %s", what)
		panic("unreachable")
	}
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) path(name string) string { return filepath.Join(r.folder, filepath.FromSlash(name)) }

func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rig) disk(name string) string {
	r.t.Helper()
	raw, err := os.ReadFile(r.path(name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(raw)
}

// openDirty opens a file with other text than the disk has.
func (r *rig) openDirty(name, saved, unsaved string) string {
	r.t.Helper()
	path := r.write(name, saved)
	if err := r.editor.Open(path); err != nil {
		r.t.Fatal(err)
	}
	if err := r.editor.Type(path, func(string) string { return unsaved }); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rig) buffer(path string) string {
	d, _ := r.editor.Documents.Get(path)
	return d.Text
}

// wire is what the agent received, one message a line.
func (r *rig) wire() []string {
	raw, err := os.ReadFile(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// said is what the agent told in text chunks.
func (r *rig) said() string { return r.display.said() }

func block(text string) jsontext.Value {
	raw, err := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	if err != nil {
		panic(err)
	}
	return raw
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}

// display keeps what it is shown, and answers cards by a rule.
type display struct {
	mu      sync.Mutex
	updates []shown
	notices []bridge.Notice
	settled []settlement
	asked   chan *permit.Card // every card, as it is shown
	answer  func(ctx context.Context, c *permit.Card) (permit.Answer, error)
	changed chan struct{} // closed and remade at every change
}

type shown struct {
	turn, kind string
	replay     bool
	raw        string
}

type settlement struct {
	card    *permit.Card
	outcome permit.Outcome
}

func newDisplay() *display {
	return &display{asked: make(chan *permit.Card, 100), changed: make(chan struct{}), answer: allow}
}

// allow picks the option that allows once.
func allow(_ context.Context, c *permit.Card) (permit.Answer, error) { return pick(c, "allow_once") }

// reject picks the option that rejects once.
func reject(_ context.Context, c *permit.Card) (permit.Answer, error) { return pick(c, "reject_once") }

func pick(c *permit.Card, kind string) (permit.Answer, error) {
	for _, o := range c.Options {
		if o.Kind == kind {
			return permit.Answer{Option: o.ID}, nil
		}
	}
	return permit.Answer{}, nil
}

func (d *display) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *display) Update(_ context.Context, u bridge.Update) {
	d.change(func() { d.updates = append(d.updates, shown{u.Turn, u.Kind, u.Replay, string(u.Raw)}) })
}

func (d *display) Notice(n bridge.Notice) { d.change(func() { d.notices = append(d.notices, n) }) }

func (d *display) Settled(c *permit.Card, o permit.Outcome) {
	d.change(func() { d.settled = append(d.settled, settlement{c, o}) })
}

func (d *display) Ask(ctx context.Context, c *permit.Card) (permit.Answer, error) {
	d.asked <- c
	return d.answer(ctx, c)
}

// until waits for a state of the display.
func (d *display) until(t *testing.T, what string, state func(*display) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		d.mu.Lock()
		ok, changed := state(d), d.changed
		d.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("never came: %s", what)
		}
	}
}

func (d *display) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saidLocked()
}

func (d *display) saidLocked() string {
	var b strings.Builder
	for _, u := range d.updates {
		if u.kind != "agent_message_chunk" {
			continue
		}
		content, _ := rpc.Member([]byte(u.raw), "content")
		value, _ := rpc.Member(content, "text")
		text, _ := rpc.Unquote(value)
		b.WriteString(text)
	}
	return b.String()
}

func (d *display) kinds() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, u := range d.updates {
		all = append(all, u.kind)
	}
	return all
}

// noticed returns the notices of a kind.
func (d *display) noticed(kind bridge.NoticeKind) (all []bridge.Notice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.notices {
		if n.Kind == kind {
			all = append(all, n)
		}
	}
	return all
}

var _ workspace.Editor = (*terminal.Buffers)(nil)
