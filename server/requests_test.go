package server_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

func TestRequests(t *testing.T) {
	r := plugin(t)
	r.srv.Agents = func(context.Context) []wire.Agent {
		return []wire.Agent{{ID: "gemini", State: wire.State{Available: true}}}
	}
	r.ss.History = []bridge.StoredSession{{ID: "old"}}
	r.start()
	s := r.session()
	f := r.ed.Folder
	for _, test := range []struct {
		method, params, want string
		made                 string // the call that reached the sessions
	}{
		{"sallyport/agents", `{}`, `"id":"gemini","name":"","default":false,"available":true`, ""},
		{"sallyport/session/info", `{"sessionId":"` + s + `"}`, `"sessionId":"s1"`, ""},
		{"sallyport/session/list", `{}`, `"stored":[]`, ""},
		{"sallyport/session/list", `{"agent":"gemini","cursor":"c"}`, `"agentSessionId":"old"`, "Stored gemini " + f + " c"},
		{"sallyport/session/new", `{"agent":"x","mode":"plan","mcpServers":[]}`, `"sessionId":"s2"`, "New x " + f + " plan"},
		{"sallyport/session/load", `{"agent":"x","agentSessionId":"a","replay":true}`, `"sessionId":"s3"`, "New x " + f + " "},
		{"sallyport/session/setMode", `{"sessionId":"s1","mode":"plan"}`, `"mode":"plan"`, "SetMode s1 plan"},
		{"sallyport/session/setConfigOption", `{"sessionId":"s1","configId":"o","value":true}`, `{"agentAnswer":true}`, "SetConfigOption s1 o true"},
		{"sallyport/session/setModel", `{"sessionId":"s1","modelId":"m"}`, `{}`, "SetModel s1 m"},
		{"sallyport/session/authenticate", `{"agent":"x","methodId":"m"}`, `{}`, "Authenticate x " + f + " m"},
		{"sallyport/session/delete", `{"agent":"x","agentSessionId":"a"}`, `{}`, "DeleteStored x " + f + " a"},
		{"sallyport/session/cancel", `{"sessionId":"s1"}`, `{}`, "Cancel s1"},
		{"sallyport/session/close", `{"sessionId":"s1"}`, `{}`, "CloseSession s1"},
	} {
		t.Run(strings.TrimPrefix(test.method, "sallyport/"), func(t *testing.T) {
			var got rpc.RawJSON
			if err := r.ed.Call(r.ctx, test.method, rpc.RawJSON(test.params), &got); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), test.want) {
				t.Errorf("answer %s, want %s", got, test.want)
			}
			if made := r.ss.Made(); test.made != "" && !slices.Contains(made, test.made) {
				t.Errorf("calls %q, want %q", made, test.made)
			}
		})
	}
}

// Every failure of the agents' side has its code and its kind.
func TestErrorKinds(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		kind wire.ErrorKind
	}{
		{&bridge.UnknownAgentError{Agent: "x", Known: []string{"y"}}, wire.CodeInvalidParams, wire.ErrorUnknownAgent},
		{&bridge.UnknownSessionError{Session: "x"}, wire.CodeInvalidParams, wire.ErrorUnknownSession},
		{&bridge.AuthError{Agent: "x", Methods: []bridge.AuthMethod{{ID: "m"}}}, wire.CodeFailed, wire.ErrorAuth},
		{&bridge.StartError{Agent: "x", Stderr: "\xff"}, wire.CodeFailed, wire.ErrorStart},
		{&bridge.BusyError{Session: "x"}, wire.CodeFailed, wire.ErrorBusy},
		{&bridge.GoneError{Agent: "x"}, wire.CodeFailed, wire.ErrorGone},
		{&bridge.AgentError{Agent: "x", Code: -32000, Data: `{"reason":"usage limit"}`}, wire.CodeFailed, wire.ErrorAgent},
		{&bridge.UnsupportedError{Agent: "x", What: "y"}, wire.CodeFailed, wire.ErrorUnsupported},
		{context.Canceled, wire.CodeCancelled, wire.ErrorCancelled},
		{errors.New("x"), wire.CodeFailed, wire.ErrorInternal},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			r := plugin(t)
			r.ss.Begin = func(context.Context, bridge.NewSession) error { return test.err }
			r.start()
			var e *rpc.Error
			if err := r.ed.Call(r.ctx, wire.MethodNew, nil, nil); !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			var data wire.ErrorData
			if err := json.Unmarshal(e.Data, &data, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			if e.Code != test.code || data.Kind != test.kind || e.Message == "" {
				t.Errorf("answered %d %q %q, want %d %q", e.Code, data.Kind, e.Message, test.code, test.kind)
			}
		})
	}
}

func TestBadParams(t *testing.T) {
	r := plugin(t).start()
	for _, test := range []struct {
		method, params, field string
	}{
		{wire.MethodPrompt, `{}`, "/sessionId"},
		{wire.MethodPrompt, `{"sessionId":7}`, "/sessionId"},
		{wire.MethodPrompt, `{"sessionId":"s1"}`, "/prompt"},
		{wire.MethodPrompt, `{"sessionId":"s1","prompt":[]}`, "/prompt"},
		{wire.MethodPrompt, `{"sessionId":"s1","prompt":"hi"}`, "/prompt"},
		{wire.MethodPrompt, `{"sessionId":"s1","prompt":["hi"]}`, "/prompt"},
		{wire.MethodPrompt, `{"sessionId":"s1","sessionId":"s2","prompt":[{}]}`, "/sessionId"},
		{wire.MethodPrompt, `[]`, ""},
		{wire.MethodNew, `{"cwd":"relative"}`, "/cwd"},
		{wire.MethodNew, `{"cwd":[]}`, "/cwd"},
		{wire.MethodNew, `{"additionalDirectories":"x"}`, "/additionalDirectories"},
		{wire.MethodNew, `{"mcpServers":{}}`, "/mcpServers"},
		{wire.MethodLoad, `{"agentSessionId":"x"}`, "/agent"},
		{wire.MethodLoad, `{"agent":"x"}`, "/agentSessionId"},
		{wire.MethodSetMode, `{"sessionId":"s1"}`, "/mode"},
		{wire.MethodSetConfigOption, `{"sessionId":"s1","configId":"x"}`, "/value"},
		{wire.MethodSetModel, `{"sessionId":"s1"}`, "/modelId"},
		{wire.MethodDelete, `{"agent":"x"}`, "/agentSessionId"},
		{wire.MethodAuthenticate, `{"agent":"x"}`, "/methodId"},
		{wire.MethodCancel, `{"sessionId":{}}`, "/sessionId"},
		{"workspace/executeCommand", `{"command":"no"}`, "/command"},
		{"workspace/executeCommand", `{"command":"sallyport.ask"}`, "/prompt"},
		{"workspace/executeCommand", `{"command":"sallyport.setMode"}`, "/mode"},
		{"workspace/executeCommand", `{"command":"sallyport.ask","arguments":[7]}`, "/prompt"},
		{"workspace/executeCommand", `{"command":"sallyport.ask","arguments":[{"prompt":"x","uri":"file://%zz"}]}`, "/uri"},
		{"textDocument/codeAction", `{"range":7}`, "/range"},
	} {
		var e *rpc.Error
		err := r.ed.Call(r.ctx, test.method, rpc.RawJSON(test.params), nil)
		if !errors.As(err, &e) || e.Code != wire.CodeInvalidParams {
			t.Errorf("%s %s: %v, want -32602", test.method, test.params, err)
			continue
		}
		var data wire.ErrorData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Field != test.field || data.Kind != wire.ErrorParams {
			t.Errorf("%s %s: field %q of kind %q, want %q (%s)", test.method, test.params, data.Field, data.Kind, test.field, e.Message)
		}
	}
	r.sync() // and the connection lives
}

// Without a workspace folder a request must say where.
func TestNoFolder(t *testing.T) {
	r := plugin(t)
	r.ed.Folder = ""
	r.start()
	if code := codeOf(r.ed.Call(r.ctx, wire.MethodNew, nil, nil)); code != wire.CodeInvalidParams {
		t.Errorf("code %d, want -32602", code)
	}
	if err := r.ed.Call(r.ctx, wire.MethodNew, map[string]any{"cwd": t.TempDir()}, nil); err != nil {
		t.Error(err)
	}
}

// D7: one bad folder stops none of the others, an empty one is no folder.
func TestD7_WorkspaceFolders(t *testing.T) {
	good := t.TempDir()
	for _, test := range []struct{ name, params, want string }{
		{"folders", `{"workspaceFolders":[{"uri":"","name":""},{"uri":"http://x"},{"uri":"file://%zz"},{"uri":"file://` + filepath.ToSlash(good) + `","name":"g"}],"capabilities":{}}`, good},
		{"a path", `{"workspaceFolders":[{"uri":"` + filepath.ToSlash(good) + `"}],"capabilities":{}}`, good},
		{"rootUri", `{"rootUri":"file://` + filepath.ToSlash(good) + `","workspaceFolders":null,"capabilities":{}}`, good},
		{"rootPath", `{"rootPath":"` + filepath.ToSlash(good) + `","rootUri":null}`, good},
		{"nothing", `{"rootPath":null,"rootUri":null,"processId":null,"clientInfo":null,"capabilities":null,"initializationOptions":null}`, ""},
		{"empty", `{"workspaceFolders":[{"uri":""}]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plugin(t).run()
			if err := r.ed.Call(r.ctx, "initialize", rpc.RawJSON(test.params), nil); err != nil {
				t.Fatal(err)
			}
			err := r.ed.Call(r.ctx, wire.MethodNew, nil, nil)
			if test.want == "" {
				if codeOf(err) != wire.CodeInvalidParams {
					t.Errorf("error %v, want -32602: there is no folder", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if made := r.ss.Made(); !slices.Contains(made, "New  "+test.want+" ") {
				t.Errorf("calls %q, want a session in %s", made, test.want)
			}
		})
	}
}

func TestFoldersChange(t *testing.T) {
	r := plain(t).start()
	other := t.TempDir()
	change := map[string]any{"event": map[string]any{
		"added":   []any{map[string]any{"uri": "file://" + filepath.ToSlash(other), "name": "o"}},
		"removed": []any{map[string]any{"uri": "file://" + filepath.ToSlash(r.ed.Folder), "name": "f"}},
	}}
	if err := r.ed.Notify("workspace/didChangeWorkspaceFolders", change); err != nil {
		t.Fatal(err)
	}
	if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
		t.Fatal(err)
	}
	r.ended()
	if made := r.ss.Made(); made[0] != "New  "+other+" " {
		t.Errorf("calls %q, want a session in %s", made, other)
	}
}

// J7: while a prompt is pending, other requests are answered.
func TestJ7_RequestsWhileAPromptRuns(t *testing.T) {
	r := plugin(t)
	begun := waiting(r)
	r.start()
	s := r.session()
	done := make(chan error, 1)
	r.ed.Go(wire.MethodPrompt, promptParams(s, "x"), func(_ []byte, err error) { done <- err })
	<-begun
	if err := r.ed.Call(r.ctx, wire.MethodSetMode, wire.SetModeParams{Session: s, Mode: permit.PlanMode}, nil); err != nil {
		t.Error(err)
	}
	_, path := r.open("a.txt", "x\n")
	if _, open, err := r.ss.Editor.Text(r.ctx, path); !open || err != nil {
		t.Errorf("the document that was opened meanwhile: %v, %v", open, err)
	}
	if err := r.ed.Notify(wire.MethodCancel, wire.SessionParams{Session: s}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An editor that runs wild is told so; what was asked before goes on.
func TestTooManyRequests(t *testing.T) {
	r := plugin(t)
	hold := make(chan struct{})
	r.srv.Agents = func(context.Context) []wire.Agent { <-hold; return nil }
	r.start()
	const most = 1024
	codes := make(chan int, most+1)
	for range most {
		r.ed.Go(wire.MethodAgents, nil, func(_ []byte, err error) { codes <- codeOf(err) })
	}
	if code := codeOf(r.ed.Call(r.ctx, wire.MethodAgents, nil, nil)); code != wire.CodeFailed {
		t.Errorf("one too many: code %d, want %d", code, wire.CodeFailed)
	}
	close(hold)
	for range most {
		if code := <-codes; code != 0 {
			t.Fatalf("code %d, want an answer", code)
		}
	}
}
