package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// session feeds input to a connection and returns what it wrote.
func session(t *testing.T, f rpc.Framing, input string, setup func(c *rpc.Conn)) string {
	t.Helper()
	var out bytes.Buffer
	c := rpc.New(strings.NewReader(input), &out, f)
	if setup != nil {
		setup(c)
	}
	if err := c.Run(context.Background()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("Run: %v", err)
	}
	return out.String()
}

func TestJ6_InvalidMessages(t *testing.T) {
	in := "{\n" +
		`{"jsonrpc":"2.0","id":3}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"x/y"}` + "\n" +
		`{"jsonrpc":"2.0","method":"x/z"}` + "\n"
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not valid JSON"}}
{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message"}}
{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no such method"}}
`
	if got := session(t, rpc.Lines{}, in, nil); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
