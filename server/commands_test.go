package server_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// said collects what turns are asked.
func said(r *rig) <-chan string {
	prompts := make(chan string, 10)
	r.ss.Turn = func(_ context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		var words []string
		for _, b := range turn.Blocks {
			var block struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(b, &block); err != nil {
				r.Error(err)
			}
			words = append(words, block.Text)
		}
		prompts <- strings.Join(words, "\n")
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	return prompts
}

func TestAskAboutAPlace(t *testing.T) {
	const unsaved = "first\nsecond\nthird\n"
	at := func(l1, c1, l2, c2 int) *wire.Range {
		return &wire.Range{Start: wire.Position{Line: l1, Character: c1}, End: wire.Position{Line: l2, Character: c2}}
	}
	for _, test := range []struct {
		name string
		arg  map[string]any
		want []string
	}{
		{"a selection", map[string]any{"prompt": "why", "range": at(0, 2, 1, 3)}, []string{"why", "lines 1 to 2", "```\nrst\nsec\n```"}},
		{"a cursor means its line", map[string]any{"prompt": "why", "range": at(1, 3, 1, 3)}, []string{"```\nsecond\n```"}},
		{"a range the wrong way round", map[string]any{"prompt": "why", "range": at(1, 3, 0, 2)}, []string{"```\nrst\nsec\n```"}},
		{"past the end", map[string]any{"prompt": "why", "range": at(7, 0, 9, 0)}, []string{"lines 8 to 10"}},
		{"no range", map[string]any{"prompt": "why"}, []string{"why\n\n"}},
		{"no words", map[string]any{"range": at(0, 0, 0, 5)}, []string{"follow it; else explain", "```\nfirst\n```"}},
		{"a marked-up problem", map[string]any{"prompt": "fix", "diagnostics": []any{
			map[string]any{"range": at(1, 0, 1, 1), "message": map[string]any{"kind": "markdown", "value": "*bad*"}},
		}}, []string{"Line 2: *bad*"}},
	} {
		for _, untitled := range []bool{false, true} {
			name := test.name
			if untitled {
				name += ", untitled"
			}
			t.Run(name, func(t *testing.T) {
				r := plain(t)
				prompts := said(r)
				r.start()
				uri, place := r.open("a.txt", unsaved)
				if untitled {
					uri, place = "untitled:Untitled-1", "untitled:Untitled-1"
					if err := r.ed.Open(uri, unsaved); err != nil {
						t.Fatal(err)
					}
				}
				arg := map[string]any{"uri": uri}
				for k, v := range test.arg {
					arg[k] = v
				}
				if err := r.ed.Command(r.ctx, "sallyport.ask", arg); err != nil {
					t.Fatal(err)
				}
				got := <-prompts
				for _, want := range append(test.want, place) {
					if !strings.Contains(got, want) {
						t.Errorf("the prompt is %q, without %q", got, want)
					}
				}
			})
		}
	}
}

// A plugin that says what the user looks at needs no place in the command.
func TestAskWithTheEditorsContext(t *testing.T) {
	r := plugin(t)
	prompts := said(r)
	r.start()
	uri, path := r.open("a.txt", "first\nsecond\n")
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Context = wire.ContextResult{Active: &wire.ActiveDocument{
			URI: uri, Selection: wire.Range{End: wire.Position{Line: 1}},
		}}
	})
	if err := r.ed.Command(r.ctx, "sallyport.ask", nil); err != nil {
		t.Fatal(err)
	}
	if got := <-prompts; !strings.Contains(got, path) || !strings.Contains(got, "```\nfirst\n```") {
		t.Errorf("the prompt is %q", got)
	}
}

func TestShowConversation(t *testing.T) {
	for _, window := range []bool{true, false} {
		r := plain(t)
		r.ed.Window = window
		said(r)
		r.start()
		if err := r.ed.Command(r.ctx, "sallyport.showConversation", nil); codeOf(err) != wire.CodeFailed {
			t.Errorf("before the first question: %v", err)
		}
		if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
			t.Fatal(err)
		}
		told := func(s *servertest.Seen) int {
			n := len(s.Shown)
			for _, m := range s.Messages {
				if strings.Contains(m, filepath.Join(r.srv.StateDir, "conversations")) {
					n++
				}
			}
			return n
		}
		r.until("the conversation was shown", func(s *servertest.Seen) bool { return told(s) == 1 })
		if err := r.ed.Command(r.ctx, "sallyport.showConversation", nil); err != nil {
			t.Fatal(err)
		}
		r.until("it was shown again", func(s *servertest.Seen) bool { return told(s) == 2 })
		r.ed.Look(func(s *servertest.Seen) {
			if window != (len(s.Shown) == 2) || !window != (len(s.Shown) == 0) {
				t.Errorf("window %v: shown %q", window, s.Shown)
			}
			if len(s.Progress) > 0 && !window {
				t.Error("progress for an editor that cannot show it")
			}
		})
	}
}

// Without a state folder, or one that cannot be made, turns go on.
func TestNoConversation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file} {
		r := plain(t)
		r.srv.StateDir = dir
		prompts := said(r)
		r.start()
		if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
			t.Fatal(err)
		}
		if got := <-prompts; got != "x" {
			t.Errorf("prompt %q", got)
		}
		r.ended()
	}
}

// What is old goes when the folder is used.
func TestOldConversationsGo(t *testing.T) {
	r := plain(t)
	said(r)
	dir := filepath.Join(r.srv.StateDir, "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(dir, "old.md"), filepath.Join(dir, "young.md")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(old)
	if err != nil {
		t.Fatal(err)
	}
	past := info.ModTime().AddDate(0, -2, 0)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "x"); err != nil {
		t.Fatal(err)
	}
	r.ended()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || slices.Contains(left, old) || !slices.Contains(left, young) || len(left) != 2 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// A turn is cancelled by its folder; that of another goes on.
func TestCancelByFolder(t *testing.T) {
	r := plain(t)
	begun := waiting(r)
	r.start()
	other := t.TempDir()
	change := map[string]any{"event": map[string]any{"added": []any{map[string]any{"uri": workspace.URIOf(other)}}}}
	if err := r.ed.Notify("workspace/didChangeWorkspaceFolders", change); err != nil {
		t.Fatal(err)
	}
	in := func(folder string) string { return workspace.URIOf(filepath.Join(folder, "a.txt")) }
	for _, folder := range []string{r.ed.Folder, other} {
		if err := r.ed.Command(r.ctx, "sallyport.ask", map[string]any{"prompt": "x", "uri": in(folder)}); err != nil {
			t.Fatal(err)
		}
		<-begun
	}
	if err := r.ed.Command(r.ctx, "sallyport.cancel", map[string]any{"uri": in(other)}); err != nil {
		t.Fatal(err)
	}
	r.until("one turn ended", func(s *servertest.Seen) bool { return s.Ends() == 1 })
	if err := r.ed.Command(r.ctx, "sallyport.ask", map[string]any{"prompt": "x", "uri": in(r.ed.Folder)}); codeOf(err) != wire.CodeFailed {
		t.Errorf("the first folder's turn has ended too: %v", err)
	}
}

// A notice comes as it is to a plugin, and in one line to others.
func TestNotices(t *testing.T) {
	n := bridge.Notice{
		Session: "s1", Kind: bridge.NoticeGone, Level: bridge.Problem, Text: "it ended\x1b[2J", Hint: "again", Paths: []string{"/p/a"},
	}
	r := plugin(t).start()
	r.sync()
	r.ss.Display.Notice(n)
	r.until("the notice came", func(s *servertest.Seen) bool { return len(s.Notices) == 1 })
	r.ed.Look(func(s *servertest.Seen) {
		if got := s.Notices[0]; got.Text != n.Text || got.Kind != n.Kind || got.Level != n.Level || got.Hint != n.Hint {
			t.Errorf("got %+v, want %+v", got, n)
		}
	})
	p := plain(t).start()
	p.sync()
	p.ss.Display.Notice(bridge.Notice{Kind: bridge.NoticeStarting, Text: "starting"}) // the progress says so
	p.ss.Display.Notice(n)
	p.until("the message came", func(s *servertest.Seen) bool { return len(s.Messages) > 0 })
	p.ed.Look(func(s *servertest.Seen) {
		for _, want := range []string{"it ended␛[2J", "hint: again", "/p/a"} {
			if !strings.Contains(s.Messages[0], want) {
				t.Errorf("the message is %q, without %q", s.Messages[0], want)
			}
		}
	})
}
