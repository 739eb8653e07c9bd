package facade_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/bridge/facade"
	"sallyport/bridge/process"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
	"sallyport/workspace"
	"sallyport/workspace/config"
	"sallyport/workspace/turns"
)

// program is ours, for tests that start it.
var program bridgetest.Program

// TestMain lets the test binary be the scripted agent.
func TestMain(m *testing.M) {
	bridgetest.BeAgent()
	program.Main(m)
}

// patience is how long an event may take on a busy machine.
const patience = 90 * time.Second

// rig is a facade in this process with a scripted agent behind it, and a raw ACP
// client in front of it, which keeps every line.
type rig struct {
	t      *testing.T
	folder string
	agent  bridgetest.Scripted
	config *config.Config
	front  facade.Facade
	store  *turns.Store

	in    *os.File // to the facade
	ended chan error

	mu       sync.Mutex
	news     *sync.Cond
	lines    []string // from the facade
	over     bool
	on       map[string]func(params jsontext.Value) string // answers to requests of the facade, as the rest of a message
	last     int
	out      *os.File // from the facade
	begun    sync.Once
	wait     sync.WaitGroup // until it is known who listens
	hijacked bool
	files    map[string]string // the client's buffers, by path
}

// newRig makes one, before anything was said.
func newRig(t *testing.T, script string, change ...func(*rig)) *rig {
	t.Helper()
	r := &rig{t: t, config: config.Default(), agent: bridgetest.Fake(t, script), ended: make(chan error, 1), files: map[string]string{}}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.folder = filepath.Join(dir, "p")
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	r.news = sync.NewCond(&r.mu)
	r.wait.Add(1)
	r.on = map[string]func(jsontext.Value) string{"fs/read_text_file": r.read, "fs/write_text_file": r.write}
	h, err := harness.FromCommand(harness.Command{ID: "fake", Name: "Fake", Args: r.agent.Command, FS: true,
		Settings: harness.Settings{Env: map[string]string{"GORACE": "atexit_sleep_ms=0"}}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	store, err := turns.Open(t.Context(), turns.Config{State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	r.store = store
	environ := os.Environ()
	r.front = facade.Facade{Agent: "fake", Folder: r.folder, Version: "test", Log: log}
	r.front.Bridge = func(d bridge.Display, editors func(string) workspace.Editor, greeting jsontext.Value) *bridge.Bridge {
		return &bridge.Bridge{Display: d, Editors: editors, Client: greeting, Log: log, Turns: store, Home: bridge.Home{
			Harness: func(id string) (*harness.Harness, error) {
				if id != "fake" && id != "" {
					other := *h
					other.ID, other.Name = id, strings.ToUpper(id)
					return &other, nil
				}
				return h, nil
			},
			Config: func(string) (*config.Config, error) { return r.config, nil },
			Finder: &process.Finder{Host: environ}, Environ: environ, Version: "test",
		}}
	}
	for _, f := range change {
		f(r)
	}
	fromClient, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.in = in
	go func() { r.ended <- r.front.Run(context.Background(), fromClient, toClient) }()
	listening := make(chan struct{})
	r.out = out
	go func() {
		defer close(listening)
		r.wait.Wait()
		if !r.hijacked {
			r.listen(out)
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		select {
		case <-r.ended:
		case <-time.After(patience):
			t.Error("the facade did not end with its client")
		}
		_ = toClient.Close()
		r.begun.Do(r.wait.Done)
		<-listening
		// Whatever either side did, the record is whole.
		if report, err := store.Receipts().Verify(context.Background(), ""); err != nil || !report.Sound() {
			t.Errorf("the record is %+v, %v", report, err)
		}
		_ = store.Close()
	})
	return r
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}

// listen keeps what the facade says and answers its requests.
func (r *rig) listen(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		r.mu.Lock()
		r.lines = append(r.lines, strings.TrimRight(line, "\n"))
		r.news.Broadcast()
		r.mu.Unlock()
		m, err := rpc.Scan([]byte(strings.TrimSpace(line)))
		if err != nil {
			r.t.Errorf("the facade said what is no message: %.200s", line)
			continue
		}
		if m.Kind == rpc.Request {
			r.mu.Lock()
			answer := r.on[string(m.Method)]
			r.mu.Unlock()
			if answer != nil {
				if rest := answer(m.Params); rest != "" {
					r.write1(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + rest + `}`)
				}
			}
		}
	}
	r.mu.Lock()
	r.over = true
	r.news.Broadcast()
	r.mu.Unlock()
}

// answers sets how a request of the facade is answered: "" is not at all.
func (r *rig) answers(method string, f func(params jsontext.Value) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on[method] = f
}

// hijack gives the facade's streams to another client.
func (r *rig) hijack() (in io.Writer, out io.Reader) {
	r.hijacked = true
	r.begun.Do(r.wait.Done)
	return r.in, r.out
}

// write1 sends a line.
func (r *rig) write1(line string) {
	r.begun.Do(r.wait.Done)
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Logf("writing to the facade: %v", err)
	}
}

// ask sends a request and returns its id.
func (r *rig) ask(method, params string) string {
	r.mu.Lock()
	r.last++
	id := fmt.Sprintf(`"c%d"`, r.last)
	r.mu.Unlock()
	r.write1(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id
}

func (r *rig) notify(method, params string) {
	r.write1(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
}

// find waits for a line that fits.
func (r *rig) find(what string, fits func(m rpc.Message) bool) rpc.Message {
	r.t.Helper()
	timer := time.AfterFunc(patience, func() { r.mu.Lock(); defer r.mu.Unlock(); r.over = true; r.news.Broadcast() })
	defer timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := 0; ; {
		for ; at < len(r.lines); at++ {
			if m, err := rpc.Scan([]byte(r.lines[at])); err == nil && fits(m) {
				return m
			}
		}
		if r.over {
			r.t.Fatalf("no %s; the facade said:\n%s", what, tail(r.lines))
		}
		r.news.Wait()
	}
}

func tail(lines []string) string {
	if len(lines) > 30 {
		lines = lines[len(lines)-30:]
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%.600s\n", l)
	}
	return b.String()
}

// answer waits for the answer to a request.
func (r *rig) answer(id string) rpc.Message {
	r.t.Helper()
	return r.find("answer to "+id, func(m rpc.Message) bool { return m.Kind == rpc.Response && string(m.ID) == id })
}

// result is the result of a request.
func (r *rig) result(id string) string {
	r.t.Helper()
	m := r.answer(id)
	if m.Error != nil {
		r.t.Fatalf("request %s was answered with %s", id, m.Error)
	}
	return string(m.Result)
}

func (r *rig) call(method, params string) string {
	r.t.Helper()
	return r.result(r.ask(method, params))
}

const hello = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"test","version":"1"}}`

// open says hello and begins a session.
func (r *rig) open() (session string) {
	r.t.Helper()
	r.call("initialize", hello)
	return r.begin()
}

func (r *rig) begin() string {
	r.t.Helper()
	return member(r.t, r.call("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`), "sessionId")
}

// prompt begins a turn and returns the id of its request.
func (r *rig) prompt(session, text string) string {
	return r.ask("session/prompt", `{"sessionId":`+quote(session)+`,"prompt":[{"type":"text","text":`+quote(text)+`}]}`)
}

// turn runs one and returns its stop reason.
func (r *rig) turn(session, text string) string {
	r.t.Helper()
	return member(r.t, r.result(r.prompt(session, text)), "stopReason")
}

// updates are the update objects said so far.
func (r *rig) updates() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if m, err := rpc.Scan([]byte(l)); err == nil && string(m.Method) == "session/update" {
			u, _ := rpc.Member(m.Params, "update")
			all = append(all, string(u))
		}
	}
	return all
}

// frames are the lines said so far of a method.
func (r *rig) frames(method string) (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if m, err := rpc.Scan([]byte(l)); err == nil && string(m.Method) == method {
			all = append(all, l)
		}
	}
	return all
}

// ends is how the turns on the record ended, the oldest first.
func (r *rig) ends() string {
	r.t.Helper()
	rows, err := r.store.List(context.Background(), r.folder, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, row := range slices.Backward(rows) {
		all = append(all, row.StopReason)
	}
	return strings.Join(all, " ")
}

// until waits for a state.
func (r *rig) until(what string, reached func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s: it did not come to that", what)
		}
	}
}

// received are the lines that the agents got.
func (r *rig) received() []string {
	raw, err := os.ReadFile(r.agent.Log)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
}

// got waits for a line of a method that an agent got, and returns its params.
func (r *rig) got(method string) string {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, l := range r.received() {
			if m, err := rpc.Scan([]byte(l)); err == nil && string(m.Method) == method {
				return string(m.Params)
			}
		}
	}
	r.t.Fatalf("no agent got %s, but:\n%s", method, tail(r.received()))
	return ""
}

// reply waits for the answer that an agent got to a request of its own.
func (r *rig) reply(id string) string {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, l := range r.received() {
			if m, err := rpc.Scan([]byte(l)); err == nil && m.Kind == rpc.Response && string(m.ID) == id {
				return string(m.Result) + string(m.Error)
			}
		}
	}
	return "no answer"
}

// read and write are a client's buffers, as Zed has them.
func (r *rig) read(params jsontext.Value) string {
	path := memberOf(params, "path")
	r.mu.Lock()
	text, open := r.files[path]
	r.mu.Unlock()
	if !open {
		raw, err := os.ReadFile(path)
		if err != nil {
			return `"error":{"code":-32002,"message":"Resource not found"}`
		}
		text = string(raw)
	}
	return `"result":{"content":` + quote(text) + `}`
}

func (r *rig) write(params jsontext.Value) string {
	path, text := memberOf(params, "path"), memberOf(params, "content")
	r.mu.Lock()
	r.files[path] = text
	r.mu.Unlock()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return `"error":{"code":-32603,"message":"cannot save"}`
	}
	return `"result":{}`
}

func (r *rig) buffer(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files[filepath.Join(r.folder, name)]
}

func (r *rig) setBuffer(name, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[filepath.Join(r.folder, name)] = text
}

func (r *rig) disk(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.folder, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) onDisk(name string) string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func quote(s string) string { return string(rpc.AppendQuote(nil, s)) }

func memberOf(object []byte, name string) string {
	v, _ := rpc.Member(object, name)
	s, _ := rpc.Unquote(v)
	return s
}

func member(t *testing.T, object, name string) string {
	t.Helper()
	v, ok := rpc.Member([]byte(object), name)
	s, err := rpc.Unquote(v)
	if !ok || err != nil {
		t.Fatalf("no text %s in %s", name, object)
	}
	return s
}

// same reports whether two JSON texts are one value, numbers by their digits and
// members in their order.
func same(a, b string) bool { return compacted(a) == compacted(b) }

func compacted(s string) string {
	v := jsontext.Value(bytes.Clone([]byte(s)))
	if err := v.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)); err != nil {
		return "not JSON: " + s
	}
	return string(v)
}
