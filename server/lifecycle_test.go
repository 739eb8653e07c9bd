package server_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"sallyport/bridge"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

func TestInitialize(t *testing.T) {
	for _, test := range []struct {
		name    string
		offered []string
		want    string
	}{
		{"nothing offered", nil, "utf-16"},
		{"Neovim 0.12", []string{"utf-8", "utf-16", "utf-32"}, "utf-8"},
		{"Eglot", []string{"utf-32", "utf-8", "utf-16"}, "utf-8"},
		{"VS Code", []string{"utf-16"}, "utf-16"},
		{"UTF-32 and UTF-16", []string{"utf-32", "utf-16"}, "utf-16"},
		{"UTF-32 alone", []string{"utf-32"}, "utf-32"},
		{"unknown", []string{"utf-7"}, "utf-16"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			r.ed.Encodings = test.offered
			r.run()
			raw, err := r.ed.Initialize(r.ctx)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Capabilities struct {
					PositionEncoding string
					TextDocumentSync struct {
						OpenClose bool
						Change    int
						Save      struct{ IncludeText bool }
					}
					ExecuteCommandProvider struct{ Commands []string }
					Workspace              struct {
						WorkspaceFolders struct{ Supported, ChangeNotifications bool }
					}
					Experimental struct {
						Sallyport wire.Announcement
					}
				}
				ServerInfo struct{ Name, Version string }
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			c := got.Capabilities
			if c.PositionEncoding != test.want {
				t.Errorf("encoding %q for %q, want %q", c.PositionEncoding, test.offered, test.want)
			}
			if s := c.TextDocumentSync; !s.OpenClose || s.Change != 2 || !s.Save.IncludeText {
				t.Errorf("document sync %+v, want incremental with the text of saves", s)
			}
			if !slices.Contains(c.ExecuteCommandProvider.Commands, "sallyport.ask") {
				t.Errorf("commands %q", c.ExecuteCommandProvider.Commands)
			}
			if f := c.Workspace.WorkspaceFolders; !f.Supported || !f.ChangeNotifications {
				t.Errorf("workspace folders %+v", f)
			}
			if a := c.Experimental.Sallyport; a.Version != wire.Version || !slices.Equal(a.Methods, wire.EditorMethods()) {
				t.Errorf("announced %+v", a)
			}
			if got.ServerInfo.Name != "sallyport" || got.ServerInfo.Version != "devel" {
				t.Errorf("server info %+v", got.ServerInfo)
			}
		})
	}
}

// A display is an Elicitor or an UnsavedAsker only where the editor can do it.
func TestDisplayOffersWhatTheEditorCan(t *testing.T) {
	for _, test := range []struct {
		name          string
		plugin        *wire.Plugin
		elicits, asks bool
	}{
		{"plain", nil, false, true},
		{"everything", servertest.Everything(), true, true},
		{"forms only", &wire.Plugin{Features: []wire.Feature{wire.FeatureElicitation}}, true, false},
		{"unsaved only", &wire.Plugin{Features: []wire.Feature{wire.FeatureUnsaved}}, false, true},
		{"neither", &wire.Plugin{Features: []wire.Feature{wire.FeatureUpdate}}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.ed.Plugin = test.plugin
			r.start()
			r.sync()
			_, elicits := r.ss.Display.(bridge.Elicitor)
			_, asks := r.ss.Display.(bridge.UnsavedAsker)
			if elicits != test.elicits || asks != test.asks {
				t.Errorf("Elicitor %v, UnsavedAsker %v; want %v, %v", elicits, asks, test.elicits, test.asks)
			}
		})
	}
}

func TestLifecycleErrors(t *testing.T) {
	r := plain(t).run()
	call := func(method string, want int) {
		t.Helper()
		if got := codeOf(r.ed.Call(r.ctx, method, nil, nil)); got != want {
			t.Errorf("%s: code %d, want %d", method, got, want)
		}
	}
	call("sallyport/agents", -32002)
	call("shutdown", -32002)
	call("no/such", -32002)
	if err := r.ed.Notify("textDocument/didOpen", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ed.Initialize(r.ctx); err != nil {
		t.Fatal(err)
	}
	call("initialize", -32600)
	call("no/such", -32601)
	call("textDocument/didOpen", -32601) // a notification's name
	call("sallyport/agents", 0)
	call("shutdown", 0)
	call("sallyport/agents", -32600)
	call("shutdown", -32600)
	call("no/such", -32600)
}

func TestEditorGone(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(r *rig)
		want int
	}{
		{"shutdown and exit", func(r *rig) { _ = r.ed.Shutdown(r.ctx) }, 0},
		{"exit without shutdown", func(r *rig) { _ = r.ed.Notify("exit", nil) }, 1},
		{"stdin closed", func(r *rig) { _ = r.hang.Close() }, 1},
		{"stdin closed after shutdown", func(r *rig) {
			_ = r.ed.Call(r.ctx, "shutdown", nil, nil)
			_ = r.hang.Close()
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plugin(t)
			begun := make(chan struct{})
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				close(begun)
				_, err := turn.Ask(ctx, "rm") // never answered
				return bridge.TurnResult{}, err
			}
			waits := make(chan struct{})
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Permission = func(wire.PermissionParams) (string, error) { <-waits; return "once", nil }
			})
			r.start()
			t.Cleanup(func() { close(waits) })
			s := r.session()
			r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func([]byte, error) {})
			<-begun
			test.end(r)
			if got := <-r.exit; got != test.want {
				t.Errorf("exit status %d, want %d", got, test.want)
			}
			if !r.ss.Closed() {
				t.Error("the sessions were not closed")
			}
			r.exit <- 0
		})
	}
}

// The editor was killed, and another process of it still holds our stdin.
func TestParentGone(t *testing.T) {
	parent := exec.Command(os.Args[0], "-test.run=^$")
	block, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	parent.Env = append(os.Environ(), "SALLYPORT_TEST_PARENT=1")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	r := plain(t).run()
	p := map[string]any{"processId": parent.Process.Pid, "capabilities": map[string]any{}}
	if err := r.ed.Call(r.ctx, "initialize", p, nil); err != nil {
		t.Fatal(err)
	}
	r.sync()
	_ = block.Close()
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if got := <-r.exit; got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	r.exit <- 0
}

func TestMain(m *testing.M) {
	if os.Getenv("SALLYPORT_TEST_PARENT") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test ends it
		return
	}
	os.Exit(m.Run())
}
