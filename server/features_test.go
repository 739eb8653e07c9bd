package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
)

func TestUnsaved(t *testing.T) {
	docs := []workspace.Document{{URI: "file:///p/a.go", Path: "/p/a.go"}, {URI: "untitled:1"}}
	for _, test := range []struct {
		name   string
		plugin bool
		choose int
		want   bridge.UnsavedChoice
	}{
		{"plugin saves", true, 0, bridge.UnsavedSave},
		{"plugin says something else", true, 9, bridge.UnsavedSend},
		{"plain sends", false, 0, bridge.UnsavedSend},
		{"plain leaves", false, 1, bridge.UnsavedLeave},
		{"plain says nothing", false, -1, bridge.UnsavedSend},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			if test.plugin {
				r.ed.Plugin = servertest.Everything()
			}
			r.ed.SetHabits(func(h *servertest.Habits) {
				h.Unsaved = func(p wire.UnsavedParams) bridge.UnsavedChoice {
					if len(p.Documents) != 2 || p.Documents[1].Path != "" {
						t.Errorf("documents %+v", p.Documents)
					}
					if test.choose >= len(p.Choices) {
						return "burn"
					}
					return p.Choices[test.choose].ID
				}
				h.Choose = func(m string, titles []string) (int, error) {
					if !strings.Contains(m, "a.go") || !strings.Contains(m, "untitled:1") || len(titles) != 2 {
						t.Errorf("asked %q with %q", m, titles)
					}
					return test.choose, nil
				}
			})
			r.start()
			r.sync()
			got, err := r.ss.Display.(bridge.UnsavedAsker).AskUnsaved(r.ctx, "s1", docs)
			if err != nil || got != test.want {
				t.Errorf("AskUnsaved gave %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestElicitation(t *testing.T) {
	r := plugin(t)
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Elicit = func(p jsontext.Value) jsontext.Value {
			return jsontext.Value(`{"action":"accept","content":` + string(p) + `}`)
		}
	})
	r.start()
	r.sync()
	e := r.ss.Display.(bridge.Elicitor)
	got, err := e.Elicit(r.ctx, "s1", jsontext.Value(`{"message":"?"}`))
	if err != nil || string(got) != `{"action":"accept","content":{"message":"?"}}` {
		t.Errorf("Elicit gave %s, %v", got, err)
	}
	r.ed.SetHabits(func(h *servertest.Habits) { h.Elicit = nil })
	if got, err := e.Elicit(r.ctx, "s1", nil); err == nil {
		t.Errorf("an editor that errs: %s, want an error", got)
	}
}

// The context that a plugin gives goes into the prompt when it is wanted.
func TestPromptWithContext(t *testing.T) {
	r := plugin(t)
	var blocks []jsontext.Value
	r.ss.Turn = func(_ context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		blocks = turn.Blocks
		return bridge.TurnResult{}, nil
	}
	r.ed.SetHabits(func(h *servertest.Habits) {
		h.Context = wire.ContextResult{
			Active:      &wire.ActiveDocument{URI: "file:///p/a.go", Text: "```x"},
			Diagnostics: []wire.Diagnostic{{URI: "file:///p/a.go", Message: "bad"}},
		}
	})
	r.start()
	s := r.session()
	p := map[string]any{"sessionId": s, "prompt": []any{map[string]any{"type": "text", "text": "x"}}, "context": true}
	if err := r.ed.Call(r.ctx, wire.MethodPrompt, p, nil); err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 2 {
		t.Fatalf("blocks %s", blocks)
	}
	var b struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(blocks[1], &b, json.RejectUnknownMembers(false)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"looks at " + filepath.FromSlash("/p/a.go"), "````\n```x\n````", "/p/a.go:1: bad"} {
		if !strings.Contains(b.Text, want) {
			t.Errorf("the context is %q, without %q", b.Text, want)
		}
	}
}
