package realtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// patience is how long a scene may take on a busy machine.
const patience = 4 * time.Minute

// goClient is a client on acp-go-sdk, with one unsaved buffer.
type goClient struct {
	acp.Client
	mu      sync.Mutex
	said    strings.Builder
	asked   int
	wish    acp.PermissionOptionKind // what is picked; "": to allow once
	picked  []string                 // names of the options that were picked
	modes   []string                 // that were told, or asked about
	calls   chan struct{}            // one slot: a tool call was said
	buffers map[string]string
}

func (c *goClient) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := n.Update.AgentMessageChunk; m != nil && m.Content.Text != nil {
		c.said.WriteString(m.Content.Text.Text)
	}
	if n.Update.ToolCall != nil {
		c.called()
	}
	if m := n.Update.CurrentModeUpdate; m != nil {
		c.modes = append(c.modes, string(m.CurrentModeId))
	}
	return nil
}

func (c *goClient) called() {
	select {
	case c.calls <- struct{}{}:
	default:
	}
}

func (c *goClient) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.called()
	want := cmp.Or(c.wish, acp.PermissionOptionKindAllowOnce)
	if ours, _ := p.ToolCall.Meta["sallyport"].(map[string]any); ours["tool"] == "SetMode" {
		c.modes = append(c.modes, fmt.Sprint(p.ToolCall.RawInput))
		want = acp.PermissionOptionKindRejectOnce
	}
	for _, o := range p.Options {
		if o.Kind == want {
			c.picked = append(c.picked, o.Name)
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

func (c *goClient) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := c.buffers[p.Path]; ok {
		return acp.ReadTextFileResponse{Content: text}, nil
	}
	text, err := os.ReadFile(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return acp.ReadTextFileResponse{}, &acp.RequestError{Code: -32002, Message: "Resource not found", Data: map[string]any{"uri": p.Path}}
	}
	return acp.ReadTextFileResponse{Content: string(text)}, err
}

func (c *goClient) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.buffers[p.Path]; open {
		c.buffers[p.Path] = p.Content
	}
	return acp.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o600)
}

// look gives what was said and asked since the last look.
func (c *goClient) look() (said string, asked int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, asked = c.said.String(), c.asked
	c.said.Reset()
	c.asked = 0
	return said, asked
}

// picks has the person pick options of a kind from now on.
func (c *goClient) picks(kind acp.PermissionOptionKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wish, c.picked, c.modes = kind, nil, nil
}

// play is one session of a goClient.
type play struct {
	*goClient
	conn    *acp.ClientSideConnection
	session acp.SessionId
	closes  bool
}

// begins starts what a command line says and opens a session with it.
func (s *stage) begins(ctx context.Context, t *testing.T, c *goClient, command []string) *play {
	t.Helper()
	cmd, in, out := s.starts(t, command)
	p := &play{goClient: c, conn: acp.NewClientSideConnection(c, in, out)}
	t.Cleanup(func() {
		_ = in.Close() // what is left is looked for by the test
		<-p.conn.Done()
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	hello, err := p.conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}})
	if err != nil {
		t.Fatal(err)
	}
	p.closes = hello.AgentCapabilities.SessionCapabilities.Close != nil
	made, err := p.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: s.Project, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	p.session = made.SessionId
	return p
}

func (p *play) prompt(ctx context.Context, s *stage, script string) (acp.StopReason, error) {
	got, err := p.conn.Prompt(ctx, acp.PromptRequest{SessionId: p.session, Prompt: []acp.ContentBlock{acp.TextBlock("script:" + script + " cwd=" + s.Project + " please")}})
	return got.StopReason, err
}

// acp-go-sdk's client with each agent: plain turn, edit of a dirty buffer, refusal,
// a write outside, an answer that lasts, cancel, load, close.
func TestGoClient(t *testing.T) {
	each(t, func(t *testing.T, id string) {
		s := newStage(t, id)
		t.Run("scenes", func(t *testing.T) { s.playGo(t) })
		s.checkWires(t, whole)
		s.family.Gone(t, nothingLeft)
		want := []string{"by-shell.txt", "notes.txt"}
		if s.widens() {
			want = []string{"a.txt", "b.txt", "by-shell.txt", "notes.txt"}
		}
		s.changed(t, want...)
	})
}

func (s *stage) playGo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	notes := filepath.Join(s.Project, "notes.txt")
	c := &goClient{buffers: map[string]string{notes: "alpha\nbeta\ngamma UNSAVED\n"}, calls: make(chan struct{}, 1)}
	p := s.begins(ctx, t, c, s.guarded(t))
	ends := func(script string, want acp.StopReason) (said string, asked int) {
		t.Helper()
		got, err := p.prompt(ctx, s, script)
		said, asked = c.look()
		if err != nil || want != "" && got != want {
			t.Errorf("%s: ended with %q, %v; said %q", script, got, err, said)
		}
		return said, asked
	}
	if said, _ := ends("text", acp.StopReasonEndTurn); !strings.Contains(said, "plain answer") {
		t.Errorf("plain: said %q", said)
	}
	ends("edit", acp.StopReasonEndTurn)
	c.mu.Lock()
	buffer := c.buffers[notes]
	c.mu.Unlock()
	if buffer != "alpha\nBETA\ngamma UNSAVED\n" && !(strings.Contains(s.disk(t, "notes.txt"), "BETA") && strings.Contains(buffer, "UNSAVED")) {
		t.Errorf("edit: buffer %q, disk %q", buffer, s.disk(t, "notes.txt"))
	}
	s.rejects(t, func(scene string) int {
		if scene == "plain" {
			ends("text", acp.StopReasonEndTurn)
			return 0
		}
		c.picks(acp.PermissionOptionKindRejectOnce)
		_, asked := ends("asked", "")
		c.picks("")
		return asked
	})
	if _, asked := ends("asked", acp.StopReasonEndTurn); asked == 0 || s.disk(t, "by-shell.txt") != "made-by-shell" {
		t.Errorf("permission: asked %d times, and the command's file is %q", asked, s.disk(t, "by-shell.txt"))
	}
	ends("outside", "")
	s.nothingOutside(t)
	if s.widens() {
		c.picks(acp.PermissionOptionKindAllowAlways)
		_, asked := ends("twice", acp.StopReasonEndTurn)
		s.switchedNothing(t, c, asked)
		c.picks("")
	}
	s.cancels(ctx, t, p)
	if _, err := p.conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: p.session, Cwd: s.Project, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatalf("load: %v", err)
	}
	ends("text", acp.StopReasonEndTurn)
	if !p.closes {
		return
	}
	if _, err := p.conn.CloseSession(ctx, acp.CloseSessionRequest{SessionId: p.session}); err != nil {
		t.Errorf("close: %v", err)
	}
}

// cancels cancels a turn as soon as the agent says a word of its command.
func (s *stage) cancels(ctx context.Context, t *testing.T, p *play) {
	t.Helper()
	select {
	case <-p.calls: // of a turn before
	default:
	}
	type end struct {
		reason acp.StopReason
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		reason, err := p.prompt(ctx, s, "sleep")
		ended <- end{reason, err}
	}()
	select {
	case <-p.calls:
	case e := <-ended:
		t.Errorf("cancel: ended before with %q, %v", e.reason, e.err)
		return
	}
	if err := p.conn.Cancel(ctx, acp.CancelNotification{SessionId: p.session}); err != nil {
		t.Error(err)
	}
	if e := <-ended; e.err != nil || e.reason != acp.StopReasonCancelled {
		t.Errorf("cancel: ended with %q, %v", e.reason, e.err)
	}
	p.look()
}
