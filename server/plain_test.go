package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// ended waits for the end of a progress and gives its last words.
func (r *rig) ended() string {
	r.Helper()
	last := ""
	r.until("the turn has ended", func(s *servertest.Seen) bool {
		for _, p := range s.Progress {
			if p.Kind == "end" {
				last = p.Message
				return true
			}
		}
		return false
	})
	return last
}

// conversation is the text of the document that was shown.
func (r *rig) conversation() string {
	r.Helper()
	var uri string
	r.until("the conversation is shown", func(s *servertest.Seen) bool {
		if len(s.Shown) > 0 {
			uri = s.Shown[0]
		}
		return uri != ""
	})
	path, err := workspace.PathOf(uri)
	if err != nil {
		r.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		r.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	return string(b)
}

func TestPlainTurn(t *testing.T) {
	r := plain(t)
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		turn.Say(ctx, "Renaming it.\n## not a heading")
		turn.Update(ctx, "tool_call", `{"toolCallId":"c1","title":"Edit pump.go","kind":"edit","status":"pending","content":[{"type":"diff","path":"pump.go","oldText":"a\n","newText":"b\n"}]}`)
		if a, err := turn.Ask(ctx, "Edit pump.go"); err != nil || a.Option != "once" {
			t.Errorf("Ask gave %+v, %v", a, err)
		}
		turn.Display.Settled(turn.Card("Edit pump.go"), permit.Outcome{Allowed: true, By: permit.ByUser})
		turn.Update(ctx, "tool_call_update", `{"toolCallId":"c1","status":"completed"}`)
		turn.Display.Notice(bridge.Notice{Session: turn.Session, Kind: bridge.NoticeRefused, Level: bridge.Warning, Text: "no", Hint: "try inside"})
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	r.ed.SetHabits(func(h *servertest.Habits) { h.Choose = func(string, []string) (int, error) { return 0, nil } })
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "rename the pump"); err != nil {
		t.Fatal(err)
	}
	if how := r.ended(); how != "done" {
		t.Errorf("the progress ended with %q", how)
	}
	got := r.conversation()
	for _, want := range []string{
		"# fake in ", "### You\n\n> rename the pump\n", "### Agent\n\n> Renaming it.\n> ## not a heading\n",
		"**Tool** `Edit pump.go` (`edit`)", "```diff\n", "-a\n+b\n", "**Permission asked** `Edit pump.go`",
		"**Allowed by user** `Edit pump.go`", "**Tool** `Edit pump.go`: completed", "hint: try inside", "**Turn ended** `done`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the conversation has no %q:\n%s", want, got)
		}
	}
	r.ed.Look(func(s *servertest.Seen) {
		if s.Progress[0].Kind != "begin" {
			t.Errorf("progress %+v", s.Progress)
		}
		if !slices.ContainsFunc(s.Messages, func(m string) bool { return strings.Contains(m, "no (hint: try inside)") }) {
			t.Errorf("messages %q do not have the notice", s.Messages)
		}
		if len(s.Updates)+len(s.Notices)+len(s.Settled) > 0 {
			t.Error("a plain editor got sallyport messages")
		}
	})
	if want := []string{"New  " + r.ed.Folder + " ", "Prompt s1"}; !slices.Equal(r.ss.Made(), want) {
		t.Errorf("calls %q, want %q", r.ss.Made(), want)
	}
}

// One session for a folder, until a new one is wanted; it gets the mode.
func TestPlainSessions(t *testing.T) {
	r := plain(t).start()
	asked := 0
	turn := func(command string, arg any) {
		t.Helper()
		if err := r.ed.Command(r.ctx, command, arg); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if command == "sallyport.ask" {
			asked++
		}
		r.until("the turn ended", func(s *servertest.Seen) bool { return s.Ends() == asked })
	}
	turn("sallyport.setMode", "plan")
	turn("sallyport.ask", "one")
	turn("sallyport.ask", map[string]any{"prompt": "two"})
	turn("sallyport.setMode", map[string]any{"mode": "acceptEdits"})
	turn("sallyport.newSession", "gemini")
	turn("sallyport.ask", "three")
	r.until("all turns ended", func(s *servertest.Seen) bool { return len(s.Shown) == 2 })
	want := []string{
		"New  " + r.ed.Folder + " plan", "Prompt s1", "Prompt s1", "SetMode s1 acceptEdits", "CloseSession s1",
		"New gemini " + r.ed.Folder + " acceptEdits",
	}
	got := r.ss.Made()
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestPlainCancel(t *testing.T) {
	for _, way := range []string{"command", "progress"} {
		t.Run(way, func(t *testing.T) {
			r := plain(t)
			begun := waiting(r)
			r.start()
			if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
				t.Fatal(err)
			}
			<-begun
			if err := r.ed.Command(r.ctx, "sallyport.ask", "y"); codeOf(err) != wire.CodeFailed {
				t.Errorf("a second question at once: %v", err)
			}
			if way == "command" {
				if err := r.ed.Command(r.ctx, "sallyport.cancel", nil); err != nil {
					t.Fatal(err)
				}
			} else {
				r.until("progress is shown", func(s *servertest.Seen) bool { return len(s.Progress) > 0 })
				r.ed.Look(func(s *servertest.Seen) {
					_ = r.ed.Notify("window/workDoneProgress/cancel", map[string]any{"token": s.Progress[0].Token})
				})
			}
			if how := r.ended(); how != "cancelled" {
				t.Errorf("ended %q, want cancelled", how)
			}
		})
	}
}

// A session that was closed for being idle is begun again, once.
func TestPlainSessionLost(t *testing.T) {
	r := plain(t).start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "one"); err != nil {
		t.Fatal(err)
	}
	r.ended()
	if err := r.ss.CloseSession(r.ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	if err := r.ed.Command(r.ctx, "sallyport.ask", "two"); err != nil {
		t.Fatal(err)
	}
	r.until("two turns ended", func(s *servertest.Seen) bool { return len(s.Shown) == 2 })
	r.until("two ends", func(s *servertest.Seen) bool { return s.Ends() == 2 })
	if got := r.ss.Made(); !strings.HasPrefix(got[len(got)-1], "Prompt s") || got[len(got)-1] == "Prompt s1" {
		t.Errorf("calls %q, want the second prompt in a new session", got)
	}
}

func TestPlainStartFails(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no program", &bridge.StartError{Agent: "goose", Reason: "no program", Hint: "brew install goose"}, "hint: brew install goose"},
		{"sign-in", &bridge.AuthError{Agent: "gemini", Message: "sign in", Methods: []bridge.AuthMethod{{ID: "x", Command: "gemini auth"}}}, "run in a terminal: gemini auth"},
		{"other", errors.New("odd"), "odd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			r.ss.Begin = func(context.Context, bridge.NewSession) error { return test.err }
			r.start()
			if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
				t.Fatal(err)
			}
			r.until("the error is shown", func(s *servertest.Seen) bool {
				return slices.ContainsFunc(s.Messages, func(m string) bool { return strings.Contains(m, test.want) })
			})
		})
	}
}

// An agent that takes long to start: progress is shown, and cancel works.
func TestPlainCancelWhileStarting(t *testing.T) {
	r := plain(t)
	begun := make(chan struct{})
	r.ss.Begin = func(ctx context.Context, _ bridge.NewSession) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
		t.Fatal(err)
	}
	<-begun
	r.until("progress is shown", func(s *servertest.Seen) bool { return len(s.Progress) > 0 })
	r.ed.Look(func(s *servertest.Seen) {
		if len(s.Progress) != 1 || s.Progress[0].Message != "starting the agent" {
			t.Errorf("progress %+v", s.Progress)
		}
		_ = r.ed.Notify("window/workDoneProgress/cancel", map[string]any{"token": s.Progress[0].Token})
	})
	r.ended()
	r.ed.Look(func(s *servertest.Seen) {
		if len(s.Messages) > 0 {
			t.Errorf("messages %q for what the user wanted", s.Messages)
		}
	})
}

func TestCodeActions(t *testing.T) {
	r := plain(t)
	var prompts []string
	r.ss.Turn = func(_ context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		for _, b := range turn.Blocks {
			prompts = append(prompts, string(b))
		}
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	r.start()
	uri, path := r.open("a b.go", "one\ntwo\nthree\n")
	rng := wire.Range{Start: wire.Position{Line: 1}, End: wire.Position{Line: 2, Character: 2}}
	diag := map[string]any{"range": rng, "message": "undefined: two", "source": "compiler", "code": 7, "severity": 1}
	actions := func(only []string, rng wire.Range, diags ...any) (list []struct {
		Title   string `json:"title"`
		Kind    string `json:"kind"`
		Command struct {
			Command   string           `json:"command"`
			Arguments []jsontext.Value `json:"arguments"`
		} `json:"command"`
		Diagnostics jsontext.Value `json:"diagnostics"`
	}) {
		t.Helper()
		p := map[string]any{"textDocument": map[string]any{"uri": uri}, "range": rng, "context": map[string]any{"diagnostics": diags, "only": only}}
		if err := r.ed.Call(r.ctx, "textDocument/codeAction", p, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := actions(nil, wire.Range{}); len(got) != 0 {
		t.Errorf("nothing selected and nothing wrong: %+v", got)
	}
	if got := actions([]string{"source"}, rng, diag); len(got) != 0 {
		t.Errorf("only source actions wanted: %+v", got)
	}
	got := actions(nil, rng, diag)
	if len(got) != 2 || got[0].Title != "Ask the agent to fix this" || got[1].Title != "Ask the agent about this selection" {
		t.Fatalf("actions %+v", got)
	}
	var back []any
	if err := json.Unmarshal(got[0].Diagnostics, &back); err != nil || len(back) != 1 || fmt.Sprint(back[0].(map[string]any)["code"]) != "7" {
		t.Errorf("the diagnostics came back as %s", got[0].Diagnostics)
	}
	if err := r.ed.Command(r.ctx, got[0].Command.Command, got[0].Command.Arguments[0]); err != nil {
		t.Fatal(err)
	}
	r.ended()
	all := strings.Join(prompts, "\n")
	for _, want := range []string{
		"Fix this problem.", "Line 2: undefined: two (compiler)", path + ", lines 2 to 3", `two\nth`,
		`"type":"resource_link"`, `a%20b.go"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the prompt has no %q:\n%s", want, all)
		}
	}
}

// An editor without literals gets commands.
func TestCodeActionsAsCommands(t *testing.T) {
	r := plain(t).run()
	var result struct {
		Capabilities struct {
			CodeActionProvider jsontext.Value `json:"codeActionProvider"`
		} `json:"capabilities"`
	}
	if err := r.ed.Call(r.ctx, "initialize", map[string]any{"capabilities": map[string]any{}}, &result); err != nil {
		t.Fatal(err)
	}
	if got := string(result.Capabilities.CodeActionProvider); got != "true" {
		t.Errorf("codeActionProvider %s, want true", got)
	}
	var list []struct {
		Command jsontext.Value `json:"command"`
	}
	p := map[string]any{"textDocument": map[string]any{"uri": "file:///a"}, "range": wire.Range{End: wire.Position{Line: 1}}, "context": map[string]any{"diagnostics": []any{}}}
	if err := r.ed.Call(r.ctx, "textDocument/codeAction", p, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || string(list[0].Command) != `"sallyport.ask"` {
		t.Errorf("actions %v", list)
	}
}
