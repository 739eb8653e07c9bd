package servertest

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// Editor is a fake editor. Setup and Habits are set before Start; Habits may be
// changed later by SetHabits. Its methods can be called from any goroutine.
type Editor struct {
	Setup

	conn  *rpc.Conn
	wg    sync.WaitGroup
	ended chan struct{}
	enc   text.Encoding

	state
}

// Setup is what an editor says about itself in initialize.
type Setup struct {
	Name      string   // clientInfo.name; "" is "fake"
	Encodings []string // general.positionEncodings; nil is left out
	Folder    string   // its workspace folder; "" is none
	Plugin    *wire.Plugin
	// Window and Versioned are the capabilities of a plain editor.
	Window    bool // progress and showDocument
	Versioned bool // workspaceEdit.documentChanges
	NoEdits   bool // no workspace.applyEdit
	Disk      bool // saving writes the file
}

// Everything is a plugin that takes every feature.
func Everything() *wire.Plugin {
	return &wire.Plugin{Client: "fake", Version: "1", Features: []wire.Feature{
		wire.FeatureUpdate, wire.FeatureNotice, wire.FeaturePermission, wire.FeatureApply,
		wire.FeatureContext, wire.FeatureElicitation, wire.FeatureUnsaved, wire.FeatureDeciding,
	}}
}

// state is guarded by mu.
type state struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every event
	habits  Habits
	docs    map[string]*buffer
	late    []func() // what a late editor has still to announce
	seen    Seen
}

// Seen is what came from the server, in its order.
type Seen struct {
	Updates  []wire.UpdateParams
	Notices  []wire.Notice
	Asked    []wire.PermissionParams
	Called   []wire.CallParams
	Settled  []wire.SettledParams
	Cards    []string // "asked ID", "called ID", "settled ID" in the order of the wire
	Messages []string // window/showMessage and showMessageRequest
	Progress []Progress
	Shown    []string      // window/showDocument
	Cancels  int           // $/cancelRequest
	Edits    [][]wire.Edit // of workspace/applyEdit and sallyport/document/apply
	Disks    []wire.ApplyDisk
}

// Ends counts the progresses that have ended.
func (s *Seen) Ends() int {
	n := 0
	for _, p := range s.Progress {
		if p.Kind == "end" {
			n++
		}
	}
	return n
}

// Progress is one $/progress.
type Progress struct {
	Token   string
	Kind    string
	Message string
}

// Start connects the editor to a server whose output is r and whose input is
// w. Nothing is sent yet.
func (e *Editor) Start(r io.Reader, w io.Writer) {
	e.changed = make(chan struct{})
	e.docs = map[string]*buffer{}
	e.ended = make(chan struct{})
	e.conn = rpc.New(r, w, rpc.Headers{})
	e.conn.Handle = e.handle
	e.conn.CancelMethod = "$/cancelRequest"
	e.wg.Go(func() {
		defer close(e.ended)
		_ = e.conn.Run(context.Background()) // ends with the streams
	})
}

// Ended is closed when the server has closed its side.
func (e *Editor) Ended() <-chan struct{} { return e.ended }

// Wait waits for the editor's goroutines, after the connection ended.
func (e *Editor) Wait() { e.wg.Wait() }

// Initialize sends initialize and initialized, and returns the result.
func (e *Editor) Initialize(ctx context.Context) (jsontext.Value, error) {
	var result jsontext.Value
	if err := e.conn.Call(ctx, "initialize", e.params(), &result); err != nil {
		return nil, err
	}
	var r struct {
		Capabilities struct {
			Encoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, fmt.Errorf("reading the result of initialize: %w", err)
	}
	enc, ok := text.ParseEncoding(r.Capabilities.Encoding)
	if !ok {
		return nil, fmt.Errorf("the server picked the encoding %q", r.Capabilities.Encoding)
	}
	e.enc = enc
	return result, e.conn.Notify("initialized", rpc.RawJSON("{}"))
}

func (e *Editor) params() map[string]any {
	name := e.Name
	if name == "" {
		name = "fake"
	}
	window := map[string]any{}
	if e.Window {
		window["workDoneProgress"] = true
		window["showDocument"] = map[string]any{"support": true}
	}
	caps := map[string]any{
		"window": window,
		"workspace": map[string]any{
			"applyEdit": !e.NoEdits, "workspaceFolders": true,
			"workspaceEdit": map[string]any{"documentChanges": e.Versioned},
		},
		"textDocument": map[string]any{"codeAction": map[string]any{
			"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix"}}},
		}},
	}
	if e.Encodings != nil {
		caps["general"] = map[string]any{"positionEncodings": e.Encodings}
	}
	p := map[string]any{"processId": nil, "clientInfo": map[string]any{"name": name}, "capabilities": caps, "rootUri": nil}
	if e.Folder != "" {
		p["workspaceFolders"] = []any{map[string]any{"uri": workspace.URIOf(e.Folder), "name": "folder"}}
	}
	if e.Plugin != nil {
		p["initializationOptions"] = map[string]any{"sallyport": e.Plugin}
	}
	return p
}

// Call sends a request and waits for its answer; see rpc.Conn.Call.
func (e *Editor) Call(ctx context.Context, method string, params, result any) error {
	return e.conn.Call(ctx, method, params, result)
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) error { return e.conn.Notify(method, params) }

// Go sends a request; done is called with its answer, on the read loop.
func (e *Editor) Go(method string, params any, done func(result []byte, err error)) (cancel func()) {
	return e.conn.Go(method, params, done)
}

// Command runs workspace/executeCommand with one argument, or none when it is nil.
func (e *Editor) Command(ctx context.Context, command string, argument any) error {
	p := map[string]any{"command": command}
	if argument != nil {
		p["arguments"] = []any{argument}
	}
	return e.conn.Call(ctx, "workspace/executeCommand", p, nil)
}

// Shutdown ends the connection as a polite editor does.
func (e *Editor) Shutdown(ctx context.Context) error {
	if err := e.conn.Call(ctx, "shutdown", nil, nil); err != nil {
		return err
	}
	return e.conn.Notify("exit", nil)
}

// Until waits until cond holds of what was seen.
func (e *Editor) Until(ctx context.Context, cond func(*Seen) bool) error {
	for {
		e.mu.Lock()
		ok, changed := cond(&e.seen), e.changed
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-e.ended:
			return fmt.Errorf("the connection ended before the state came")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Look gives f what was seen so far.
func (e *Editor) Look(f func(*Seen)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.seen)
}

// see notes something and wakes those who wait.
func (e *Editor) see(f func(*Seen)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.seen)
	e.eventLocked()
}

func (e *Editor) eventLocked() {
	close(e.changed)
	e.changed = make(chan struct{})
}
