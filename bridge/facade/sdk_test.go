package facade_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// goClient is a client on acp-go-sdk.
type goClient struct {
	acp.Client
	mu      sync.Mutex
	said    strings.Builder
	asked   int
	buffers map[string]string
}

func (c *goClient) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := n.Update.AgentMessageChunk; m != nil && m.Content.Text != nil {
		c.said.WriteString(m.Content.Text.Text)
	}
	return nil
}

func (c *goClient) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(p.Options[0].OptionId)}, nil
}

func (c *goClient) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return acp.ReadTextFileResponse{Content: c.buffers[p.Path]}, nil
}

func (c *goClient) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buffers[p.Path] = p.Content
	return acp.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o600)
}

// acp-go-sdk's client: a plain turn, the edit of a dirty buffer with a permission,
// a cancel and a load.
func TestGoSDKClient(t *testing.T) {
	r := newRig(t, `{"capabilities":{"loadSession":true},"prompts":[
		{"match":"edit","steps":[{"read":{"path":"${cwd}/a.txt","as":"old"}},
			{"ask":{"toolCall":{"toolCallId":"call-1","kind":"edit","title":"edit","content":[{"type":"diff","path":"${cwd}/a.txt","oldText":"one\n","newText":"ONE\n"}]}}},
			{"write":{"path":"${cwd}/a.txt","replace":{"in":"old","old":"one","new":"ONE"}}}]},
		{"match":"wait","steps":[{"say":"waiting"},{"waitCancel":true},{"answer":"cancelled"}]},
		{"match":"plain","steps":[{"say":"hello"}]}],
		"on":{"session/load":{"before":[{"say":"history"}]}}}`)
	r.disk("a.txt", "one\ntwo\n")
	path := filepath.Join(r.folder, "a.txt")
	c := &goClient{buffers: map[string]string{path: "one\ntwo unsaved\n"}}
	in, out := r.hijack()
	conn := acp.NewClientSideConnection(c, in, out)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}}); err != nil {
		t.Fatal(err)
	}
	s, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: r.folder, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(text string) acp.StopReason {
		t.Helper()
		p, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: s.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p.StopReason
	}
	if got := prompt("plain"); got != acp.StopReasonEndTurn {
		t.Errorf("plain: %s", got)
	}
	if got := prompt("edit"); got != acp.StopReasonEndTurn {
		t.Errorf("edit: %s", got)
	}
	if got := c.buffers[path]; got != "ONE\ntwo unsaved\n" || c.asked != 1 {
		t.Errorf("edit: buffer %q, asked %d times", got, c.asked)
	}
	go func() {
		r.got("session/prompt")
		for !strings.Contains(c.text(), "waiting") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if err := conn.Cancel(ctx, acp.CancelNotification{SessionId: s.SessionId}); err != nil {
			t.Error(err)
		}
	}()
	if got := prompt("wait"); got != acp.StopReasonCancelled {
		t.Errorf("cancel: %s", got)
	}
	if _, err := conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: r.folder, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatalf("load: %v", err)
	}
	if got := prompt("plain"); got != acp.StopReasonEndTurn || !strings.Contains(c.text(), "history") {
		t.Errorf("after load: %s; said %q", got, c.text())
	}
}

func (c *goClient) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.String()
}
