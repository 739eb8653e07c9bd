package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"sallyport/bridge/rpc"
	"sallyport/server"
	"sallyport/server/servertest"
	"sallyport/workspace"
)

// rig is a server between a fake editor and fake sessions.
type rig struct {
	*testing.T
	ed   *servertest.Editor
	ss   *servertest.Sessions
	srv  *server.Server
	ctx  context.Context
	hang io.Closer // the server's input: closing it is the editor's death
	exit chan int
}

// tooLong ends a test that waits for a state which no longer can come.
const tooLong = 30 * time.Second

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	t.Cleanup(cancel)
	folder := t.TempDir()
	r := &rig{T: t, ctx: ctx, ed: &servertest.Editor{}, ss: &servertest.Sessions{}, exit: make(chan int, 1)}
	r.ed.Folder = folder
	r.srv = &server.Server{
		Sessions: r.ss.Attach, StateDir: t.TempDir(), Settle: 300 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return r
}

// testWriter is a log that is shown when a test fails.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(string(b))
	return len(b), nil
}

// run starts both sides, without initialize.
func (r *rig) run() *rig {
	r.Helper()
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	r.ed.Start(toEditor, fromEditor)
	r.hang = fromEditor
	done := make(chan struct{})
	go func() {
		defer close(done)
		exit, err := r.srv.Run(r.ctx, toServer, fromServer)
		if err != nil && !errors.Is(err, context.Canceled) {
			r.Errorf("Run: %v", err)
		}
		r.exit <- exit
	}()
	r.Cleanup(func() {
		_ = r.hang.Close()
		<-done
		r.ed.Wait()
	})
	return r
}

// start is run and initialize.
func (r *rig) start() *rig {
	r.Helper()
	r.run()
	if _, err := r.ed.Initialize(r.ctx); err != nil {
		r.Fatalf("initialize: %v", err)
	}
	return r
}

func plugin(t *testing.T) *rig {
	r := newRig(t)
	r.ed.Plugin = servertest.Everything()
	return r
}

func plain(t *testing.T) *rig {
	r := newRig(t)
	r.ed.Window, r.ed.Versioned = true, true
	return r
}

// session begins a session and returns its id.
func (r *rig) session() string {
	r.Helper()
	var info struct {
		ID string `json:"sessionId"`
	}
	if err := r.ed.Call(r.ctx, "sallyport/session/new", map[string]any{}, &info); err != nil {
		r.Fatalf("session/new: %v", err)
	}
	return info.ID
}

type turnResult struct {
	Turn   string `json:"turnId"`
	Reason string `json:"stopReason"`
}

func (r *rig) prompt(session, s string) (turnResult, error) {
	var t turnResult
	err := r.ed.Call(r.ctx, "sallyport/session/prompt", promptParams(session, s), &t)
	return t, err
}

func promptParams(session, s string) any {
	return rpc.RawJSON(fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, s))
}

// until waits for a state of what the editor saw.
func (r *rig) until(what string, cond func(*servertest.Seen) bool) {
	r.Helper()
	if err := r.ed.Until(r.ctx, cond); err != nil {
		r.ed.Look(func(s *servertest.Seen) { r.Logf("seen: %+v", s) })
		r.Fatalf("waiting until %s: %v", what, err)
	}
}

// open opens a document in the folder and waits until the server has it.
func (r *rig) open(name, content string) (uri, path string) {
	r.Helper()
	path = filepath.Join(r.ed.Folder, name)
	uri = workspace.URIOf(path)
	if err := r.ed.Open(uri, content); err != nil {
		r.Fatal(err)
	}
	r.sync()
	return uri, path
}

// sync waits until the server has read all that was sent: it answers in order
// what it answers on its read loop.
func (r *rig) sync() {
	r.Helper()
	if code := codeOf(r.ed.Call(r.ctx, "no/such", map[string]any{}, nil)); code != -32601 {
		r.Fatalf("sync: code %d", code)
	}
}

// codeOf is the JSON-RPC code of an error; 0 for none, 1 for another error.
func codeOf(err error) int {
	var e *rpc.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Code
	default:
		return 1
	}
}
