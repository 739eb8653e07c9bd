package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"sallyport/bridge/rpc"
)

// session feeds input to a connection and returns what it wrote.
func session(t *testing.T, f rpc.Framing, input io.Reader, setup func(c *rpc.Conn)) string {
	t.Helper()
	var out bytes.Buffer
	c := rpc.New(input, &out, f)
	if setup != nil {
		setup(c)
	}
	if err := c.Run(context.Background()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("Run: %v", err)
	}
	return out.String()
}

// seen records what a connection was given, one line for each message: the kind,
// the id, the method and the params.
type seen struct{ strings.Builder }

func (s *seen) handle(m *rpc.Message) {
	fmt.Fprintf(s, "%s %s %s %s\n", m.Kind, m.ID, m.Method, m.Params)
}

func headers(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(m), m)
	}
	return b.String()
}

func TestJ6_InvalidMessages(t *testing.T) {
	const null = "null"
	tests := []struct {
		name, in string
		id       string // of the error answered; "" for none
		code     int
	}{
		{"no JSON", `{`, null, -32700},
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"x"`, null, -32700},
		{"more after it", `{"jsonrpc":"2.0","id":1,"method":"x"}}`, null, -32700},
		{"malformed within", `{"jsonrpc":"2.0","id":1,"method":"x","params":[1 2]}`, null, -32700},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[\"\xff\"]}", null, -32700},
		{"control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\x01\"}", null, -32700},
		{"no method", `{"jsonrpc":"2.0","id":3}`, "3", -32600},
		{"no version", `{"id":3,"method":"x"}`, "3", -32600},
		{"other version", `{"jsonrpc":"1.0","id":3,"method":"x"}`, "3", -32600},
		{"method no string", `{"jsonrpc":"2.0","id":3,"method":7}`, "3", -32600},
		{"params no structure", `{"jsonrpc":"2.0","id":3,"method":"x","params":7}`, "3", -32600},
		{"method and result", `{"jsonrpc":"2.0","id":3,"method":"x","result":7}`, "3", -32600},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, null, -32600},
		{"id a boolean", `{"jsonrpc":"2.0","id":true,"method":"x"}`, null, -32600},
		{"id twice", `{"jsonrpc":"2.0","id":3,"method":"x","id":4}`, "4", -32600},
		{"id twice, once escaped", `{"jsonrpc":"2.0","id":3,"method":"x","\u0069d":4}`, "4", -32600},
		{"method twice", `{"jsonrpc":"2.0","id":3,"method":"x","method":"y"}`, "3", -32600},
		{"notification with bad params", `{"jsonrpc":"2.0","method":"x","params":7}`, null, -32600},
		{"batch", `[{"jsonrpc":"2.0","id":3,"method":"x"}]`, null, -32600},
		{"unknown request", `{"jsonrpc":"2.0","id":4,"method":"x/y"}`, "4", -32601},
		{"unknown notification", `{"jsonrpc":"2.0","method":"x/z"}`, "", 0},
		{"bad response", `{"jsonrpc":"2.0","id":4,"result":1,"error":{}}`, "", 0},
		{"response without version", `{"id":4,"result":1}`, "", 0},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`, "", 0},
	}
	for _, tt := range tests {
		want := ""
		if tt.id != "" {
			want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,`, tt.id, tt.code)
		}
		check := func(t *testing.T, got string) {
			if i := strings.Index(got, `"message"`); i >= 0 {
				got = got[:i]
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", tt.in, got, want)
			}
		}
		t.Run(tt.name, func(t *testing.T) {
			check(t, session(t, rpc.Lines{}, strings.NewReader(tt.in+"\n"), nil))
			got := session(t, rpc.Headers{}, strings.NewReader(headers(tt.in)), nil)
			_, body, _ := strings.Cut(got, "\r\n\r\n")
			check(t, body)
		})
	}
}

func TestJ6_NoAnswerToLogs(t *testing.T) {
	for _, line := range []string{
		"starting", "[INFO] starting", "42", `"text"`, "null", `{"level":"info","msg":"hi"}`, "[", "\xff\xfe", "{}",
	} {
		var noise []string
		got := session(t, rpc.Lines{}, strings.NewReader(line+"\n"), func(c *rpc.Conn) {
			c.Noise = func(b []byte) { noise = append(noise, string(b)) }
		})
		if got != "" || len(noise) != 1 || noise[0] != line {
			t.Errorf("%q: answered %q, noise %q", line, got, noise)
		}
	}
}

func TestJ1_J8_NoiseBetweenMessages(t *testing.T) {
	var in strings.Builder
	in.WriteString("Ready, using saved sign-in\n\n\x1b[2J\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"a"}` + "\r\n\r\n  \r\n")
	in.WriteString("end of a sentence\n")
	for range 10_000 {
		in.WriteString("junk {\n")
	}
	in.WriteString(` {"jsonrpc":"2.0","id":1,"method":"b"} ` + "\r\n")
	var got seen
	noise := 0
	out := session(t, rpc.Lines{}, strings.NewReader(in.String()), func(c *rpc.Conn) {
		c.Handle = got.handle
		c.Noise = func([]byte) { noise++ }
	})
	if want := "notification  a \nrequest 1 b \n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
	if want := 10_003; noise != want || out != "" {
		t.Errorf("noise: got %d, want %d; answered %q", noise, want, out)
	}
}

func TestJ2_OneByteAtATime(t *testing.T) {
	m := `{"jsonrpc":"2.0","method":"m","params":{"text":"世🎉"}}`
	want := `notification  m {"text":"世🎉"}` + "\n"
	for name, f := range map[string]struct {
		framing rpc.Framing
		in      string
	}{
		"lines":   {rpc.Lines{}, m + "\n"},
		"headers": {rpc.Headers{}, headers(m)},
	} {
		t.Run(name, func(t *testing.T) {
			var got seen
			in := iotest.OneByteReader(strings.NewReader(f.in + f.in))
			session(t, f.framing, in, func(c *rpc.Conn) { c.Handle = got.handle })
			if got.String() != want+want {
				t.Errorf("got %q, want %q twice", got.String(), want)
			}
		})
	}
}

func TestJ5_IDsAsSent(t *testing.T) {
	ids := []string{`"1"`, `1`, `"a-b"`, `9007199254740993`, `-1`, `1.0`, `1e3`, `"a\u0062"`, `""`, `123456789012345678901234567890`}
	var in, want strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%s,"method":"m"}`+"\n", id)
		fmt.Fprintf(&want, `{"jsonrpc":"2.0","id":%s,"result":%q}`+"\n", id, "for "+strings.ReplaceAll(id, `"`, ""))
	}
	got := session(t, rpc.Lines{}, strings.NewReader(in.String()), func(c *rpc.Conn) {
		var open []rpc.RawID // all at once, answered at the last
		c.Handle = func(m *rpc.Message) {
			if open = append(open, m.ID); len(open) == len(ids) {
				for _, id := range open {
					_ = c.Reply(id, "for "+strings.ReplaceAll(string(id), `"`, ""))
				}
			}
		}
	})
	if wanted := strings.ReplaceAll(want.String(), `a\\u`, `a\\u`); got != wanted {
		t.Errorf("got\n%s\nwant\n%s", got, wanted)
	}
}

func TestJ9_LastLineWithoutEnd(t *testing.T) {
	var got seen
	session(t, rpc.Lines{}, strings.NewReader(`{"jsonrpc":"2.0","method":"last"}`), func(c *rpc.Conn) { c.Handle = got.handle })
	if want := "notification  last \n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

func TestDeepNesting(t *testing.T) {
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":"d","method":"m","params":` + strings.Repeat(`[`, n-1) + strings.Repeat(`]`, n-1) + `}` + "\n"
	}
	var got seen
	session(t, rpc.Lines{}, strings.NewReader(deep(rpc.MaxDepth)), func(c *rpc.Conn) { c.Handle = got.handle })
	if !strings.HasPrefix(got.String(), `request "d" m [[[`) {
		t.Errorf("at the limit: got %.40q", got.String())
	}
	for _, n := range []int{rpc.MaxDepth + 1, 10_000_000} {
		want := `{"jsonrpc":"2.0","id":"d","error":{"code":-32600,"message":"nested too deeply"}}` + "\n"
		if got := session(t, rpc.Lines{}, strings.NewReader(deep(n)), nil); got != want {
			t.Errorf("%d deep: got %q, want %q", n, got, want)
		}
	}
	unclosed := strings.Repeat(`{"a":`, 1_000_000) + "\n"
	if got := session(t, rpc.Lines{}, strings.NewReader(unclosed), nil); !strings.Contains(got, `"id":null`) {
		t.Errorf("unclosed: got %q", got)
	}
}

func TestParamsNull(t *testing.T) {
	got, err := rpc.Scan([]byte(`{"jsonrpc":"2.0","id":null,"method":"a\/b","params":null,"extra":[]}`))
	if err != nil || got.Kind != rpc.Notification || got.Params != nil || string(got.Method) != "a/b" {
		t.Errorf("got %+v, %v", got, err)
	}
}
