package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"sallyport/bridge/rpc"
)

// The benchmarks measure real processes: this test binary is started again as
// the agent, the hop and the editor. roleVar tells it as which.
const roleVar = "RPC_TEST_ROLE"

func TestMain(m *testing.M) {
	role, args, _ := strings.Cut(os.Getenv(roleVar), " ")
	roles := map[string]func(args string) error{
		"agent":    agentRole,
		"editor":   editorRole,
		"hop-copy": func(string) error { return measured(func() error { return copyHop() }) },
		"hop-ours": func(string) error { return measured(ourHop) },
		"hop-sdk":  func(string) error { return measured(sdkHop) },
	}
	run, ok := roles[role]
	if !ok {
		os.Exit(m.Run())
	}
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "role", role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Payloads: an agent's text, and an edit with its diff.
func chunkUpdate() []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`+"\n",
		strings.Repeat("a few words of it ", 5)+"and 7")
}

// code is what edits are made of; of its kind rich in what JSON must escape.
const code = `// take removes and returns the call with an id as the peer sent it.
func (c *Conn) take(id RawID) *call {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(id) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.pending[n]
	delete(c.pending, n)
	c.Log.Debug("taken", "id", id)
	return call
}

`

func diffUpdate() []byte {
	text := rpc.AppendQuote(nil, strings.Repeat(code, 66))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{"type":"diff","path":"/project/a.go","oldText":%s,"newText":%s}]}}}`+"\n", text, text)
}

func payload(name string) []byte {
	if name == "diff" {
		return diffUpdate()
	}
	return chunkUpdate()
}

// window is how many messages may be on their way: the SDK gives up at 1024.
func window(name string) int {
	if name == "diff" {
		return 64
	}
	return 256
}

// agentRole writes args = "PAYLOAD COUNT PAUSE" updates, one write each. The
// editor says on file 3 when half a window has arrived.
func agentRole(args string) error {
	var name string
	var count int
	var pause time.Duration
	var pauseText string
	if _, err := fmt.Sscan(args, &name, &count, &pauseText); err != nil {
		return err
	}
	pause, err := time.ParseDuration(pauseText)
	if err != nil {
		return err
	}
	acks := os.NewFile(3, "acks")
	message, open, half := payload(name), 0, window(name)/2
	for range count {
		if open >= 2*half {
			if _, err := io.ReadFull(acks, make([]byte, 1)); err != nil {
				return err
			}
			open -= half
		}
		if _, err := os.Stdout.Write(message); err != nil {
			return err
		}
		open++
		if pause > 0 {
			time.Sleep(pause)
		}
	}
	return nil
}

// editorRole reads to the end; args = "HALF BREAKS": after each HALF messages of
// so many line breaks it says so on file 3.
func editorRole(args string) error {
	var half, breaks int
	if _, err := fmt.Sscan(args, &half, &breaks); err != nil {
		return err
	}
	acks := os.NewFile(3, "acks")
	buf := make([]byte, 64<<10)
	for seen := 0; ; {
		n, err := os.Stdin.Read(buf)
		seen += bytes.Count(buf[:n], []byte("\n"))
		for ; seen >= half*breaks; seen -= half * breaks {
			_, _ = acks.Write([]byte{1}) // at the end the agent is gone
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// measured runs a hop and prints the CPU time that it took, in nanoseconds, and
// how much memory it had.
func measured(hop func() error) error {
	before := cpuTime()
	err := hop()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintln(os.Stderr, int64(cpuTime()-before), m.Sys)
	return err
}

func copyHop() error {
	buf := make([]byte, 64<<10) // what ours reads at once
	_, err := io.CopyBuffer(struct{ io.Writer }{os.Stdout}, struct{ io.Reader }{os.Stdin}, buf)
	return err
}

// ourHop is the way of an update through the bridge: lines in, headers out, the
// method renamed, the params spliced.
func ourHop() error {
	in := rpc.New(agentOutput{}, io.Discard, rpc.Lines{})
	silent, hold := io.Pipe()
	out := rpc.New(silent, unblockedStdout(), rpc.Headers{})
	ctx := context.Background()
	in.Handle = forwardTo(ctx, out)
	in.Idle = out.Flush
	ended := make(chan error, 1)
	go func() { ended <- out.Run(ctx) }()
	if err := in.Run(ctx); err != nil {
		return err
	}
	_ = hold.Close()
	return <-ended
}

// agentOutput is stdin, read as the bridge reads from an agent.
type agentOutput struct{}

func (agentOutput) Read(b []byte) (int, error) { return waitRead(os.Stdin, b) }

func forwardTo(ctx context.Context, out *rpc.Conn) func(m *rpc.Message) {
	var m *rpc.Message
	build := func(dst []byte) []byte {
		dst = append(dst, `{"jsonrpc":"2.0","method":"sallyport/session/update","params":`...)
		dst = append(dst, m.Params...)
		return append(dst, '}')
	}
	return func(in *rpc.Message) {
		m = in
		if _, ok := m.Param("sessionId"); ok {
			_ = out.Gather(ctx, build)
		}
	}
}

// sdkHop is the typed way through acp-go-sdk: decode, encode.
func sdkHop() error {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	silent, hold := io.Pipe()
	agentSide := acp.NewAgentSideConnection(nobody{}, os.Stdout, silent)
	clientSide := acp.NewClientSideConnection(&typedClient{to: agentSide}, io.Discard, os.Stdin)
	<-clientSide.Done()
	_ = hold.Close()
	return nil
}

// typedClient forwards updates; it is asked for nothing else.
type typedClient struct {
	acp.Client
	to *acp.AgentSideConnection
}

func (c *typedClient) SessionUpdate(ctx context.Context, n acp.SessionNotification) error {
	return c.to.SessionUpdate(ctx, n)
}

type nobody struct{ acp.Agent }
