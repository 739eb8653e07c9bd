package fakeagent_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"sallyport/bridge/fakeagent"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reexec makes the test binary be the fake agent.
const reexec = "FAKEAGENT_TEST_REEXEC"

func TestMain(m *testing.M) {
	if os.Getenv(reexec) != "" {
		os.Exit(fakeagent.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// client is the other end of a fake agent's pipes.
type client struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	log    *bytes.Buffer
	done   chan error
}

// start serves a script over in-process pipes.
func start(t *testing.T, script string) *client {
	t.Helper()
	parsed, err := fakeagent.Parse("test.jsonc", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), stderr: new(bytes.Buffer), log: new(bytes.Buffer), done: make(chan error, 1)}
	agent := fakeagent.Agent{Script: parsed, Stderr: c.stderr, Log: c.log}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.done <- agent.Serve(ctx, inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		<-stopped
	})
	return c
}

// send writes lines to the agent.
func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatalf("sending %s: %v", l, err)
		}
	}
}

// want reads the next line and compares it as JSON, or as text.
func (c *client) want(want string) {
	c.t.Helper()
	got, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading: %v, want %s; stderr: %s", err, want, c.stderr)
	}
	got = strings.TrimSuffix(got, "\n")
	if canonical(got) != canonical(want) {
		c.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func canonical(s string) string {
	v := jsontext.Value(s)
	if v.Canonicalize() != nil {
		return s
	}
	return string(v)
}

// end closes the agent's input and returns how it ended.
func (c *client) end() error {
	c.t.Helper()
	c.in.Close()
	rest, _ := io.ReadAll(c.out)
	if len(rest) > 0 {
		c.t.Errorf("unread at the end: %s", rest)
	}
	return <-c.done
}

// open does initialize and session/new, without looking at the answers.
func (c *client) open(cwd string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	if _, err := c.out.ReadString('\n'); err != nil {
		c.t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":` + quote(cwd) + `,"mcpServers":[]}}`)
	if _, err := c.out.ReadString('\n'); err != nil {
		c.t.Fatal(err)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func prompt(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"fake-1","prompt":[{"type":"text","text":%s}]}}`, id, quote(text))
}

const cancel = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"fake-1"}}`

func said(text string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"fake-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + quote(text) + `}}}}`
}

func result(id int, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
}

func exitCode(err error) int {
	var exit *fakeagent.ExitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	return -1
}
