package realtest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/rpc"
)

// TestAlwaysSwitchesNothing: a client answers Gemini CLI and Qwen Code "always" for one
// edit. Each would make of that a mode of its own in which it asks for none; it gets
// its answer for once, so it stays where it is and asks about the next file.
func TestAlwaysSwitchesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take minutes")
	}
	t.Parallel()
	for _, id := range []string{"gemini", "qwen"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, id)
			c := s.client(t, id)
			c.call(t, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"always","version":"1"},"clientCapabilities":{}}`)
			project, err := json.Marshal(s.Project)
			if err != nil {
				t.Fatal(err)
			}
			opened := c.call(t, "session/new", `{"cwd":`+string(project)+`,"mcpServers":[]}`)
			session, _ := rpc.Member(opened, "sessionId")
			text, err := json.Marshal("script:twice cwd=" + s.Project + " please")
			if err != nil {
				t.Fatal(err)
			}
			done := c.call(t, "session/prompt", `{"sessionId":`+string(session)+`,"prompt":[{"type":"text","text":`+string(text)+`}]}`)
			if !strings.Contains(string(done), `"end_turn"`) {
				t.Errorf("the turn ended with %s", done)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.edits != 2 {
				t.Errorf("asked about %d edits, want both", c.edits)
			}
			if !strings.HasPrefix(c.always, "Always allow ") || !strings.HasSuffix(c.always, " Edit(./a.txt) in this project") {
				t.Errorf("the option says %q", c.always)
			}
			if len(c.switches)+len(c.modes) > 0 {
				t.Errorf("it switched itself: asked %q, told %q", c.switches, c.modes)
			}
		})
	}
}

// lasting is a client that answers the first edit with "always", the others
// once, and a switch with no.
type lasting struct {
	conn *rpc.Conn

	mu       sync.Mutex
	edits    int
	always   string   // name of the option that was picked
	switches []string // titles
	modes    []string // updates
}

// client starts sallyport acp with one agent.
func (s *stage) client(t *testing.T, id string) *lasting {
	t.Helper()
	cmd, in, out := s.starts(t, []string{program.Path(t), "acp", "--agent", id})
	c := &lasting{conn: rpc.New(out, in, rpc.Lines{})}
	c.conn.Handle = c.handle
	ended := make(chan error, 1)
	go func() { ended <- c.conn.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = in.Close()
		<-ended
		_ = cmd.Wait() // how it ended is for others to test
		s.family.Gone(t, nothingLeft)
	})
	return c
}

func (c *lasting) call(t *testing.T, method, params string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	result, err := c.conn.CallRaw(ctx, method, []byte(params))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return result
}

func (c *lasting) handle(m *rpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch string(m.Method) {
	case "session/update":
		update, _ := m.Param("update")
		if kind, _ := rpc.Member(update, "sessionUpdate"); string(kind) == `"current_mode_update"` {
			c.modes = append(c.modes, string(update))
		}
	case "session/request_permission":
		var p struct {
			Call struct {
				Title string `json:"title"`
				Meta  struct {
					Sallyport struct {
						Tool string `json:"tool"`
					} `json:"sallyport"`
				} `json:"_meta"`
			} `json:"toolCall"`
			Options []struct {
				ID   string `json:"optionId"`
				Kind string `json:"kind"`
				Name string `json:"name"`
			} `json:"options"`
		}
		if rpc.Unmarshal(m.Params, &p) != nil {
			_ = c.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "not readable"))
			return
		}
		kind := "allow_once"
		switch {
		case p.Call.Meta.Sallyport.Tool == "SetMode":
			c.switches = append(c.switches, p.Call.Title)
			kind = "reject_once"
		default:
			if c.edits++; c.edits == 1 {
				kind = "allow_always"
			}
		}
		for _, o := range p.Options {
			if o.Kind == kind {
				if kind == "allow_always" {
					c.always = o.Name
				}
				_ = c.conn.ReplyRaw(m.ID, []byte(`{"outcome":{"outcome":"selected","optionId":`+string(rpc.AppendQuote(nil, o.ID))+`}}`))
				return
			}
		}
		_ = c.conn.ReplyRaw(m.ID, []byte(`{"outcome":{"outcome":"cancelled"}}`))
	default:
		if m.Kind != rpc.Notification {
			_ = c.conn.ReplyError(m.ID, rpc.Errorf(rpc.MethodNotFound, "not here"))
		}
	}
}
