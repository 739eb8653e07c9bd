package rpc_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

func note(method string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method) }

func TestHeaders_Garbage(t *testing.T) {
	a, b := note("a"), note("b")
	pad := strings.Repeat(" ", 100)
	tests := []struct {
		name, in, want string
		errors         int // -32700 answered
	}{
		{"none", headers(a, b), "a b", 0},
		{"other headers", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + headers(a) + "X-Y: z\r\n" + headers(b), "a b", 0},
		{"any case", strings.ToLower("Content-Length") + headers(a)[len("Content-Length"):], "a", 0},
		{"line feeds only", strings.ReplaceAll(headers(a, b), "\r\n", "\n"), "a b", 0},
		{"no space", strings.Replace(headers(a), ": ", ":", 1), "a", 0},
		{"blank lines between", "\r\n" + headers(a) + "\r\n\r\n" + headers(b), "a b", 0},
		{"a line", "hello\r\n" + headers(a), "a", 1},
		{"lines", "hello\r\nthere: you\r\n\r\n{}" + headers(a), "a", 1},
		{"no line end before", headers(a) + "garbage" + headers(b), "a b", 1},
		{"JSON without header", a + "\n" + headers(b), "b", 1},
		{"header without length", "Content-Type: x\r\n\r\n{}" + headers(a), "a", 1},
		{"length no number", "Content-Length: x\r\n\r\n{}" + headers(a), "a", 1},
		{"length negative", "Content-Length: -5\r\n\r\n{}" + headers(a), "a", 1},
		{"length absurd", "Content-Length: 99999999999999999999\r\n\r\n{}" + headers(a), "a", 1},
		{"length twice", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}" + headers(a), "a", 1},
		{"length too small", "Content-Length: 5\r\n\r\n" + a + headers(b), "b", 1},
		{"length too large", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(a)+20, a) + headers(b, b), "b b", 1},
		{"length much too large", "Content-Length: 100000\r\n\r\n" + a + headers(b, b), "b b", 1},
		{"two runs", "x\n" + headers(a) + "y\n" + headers(b), "a b", 2},
		{"long run", strings.Repeat("x", 10_000) + headers(a), "a", 1},
		{"long line of digits", strings.Repeat("Content-Length: ", 10_000) + headers(a), "a", 1},
		{"empty", "Content-Length: 0\r\n\r\n" + headers(a), "a", 1},
		{"log", headers("starting", a), "a", 1},
		{"padded", headers(pad+a+pad, b), "a b", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var methods []string
			out := session(t, rpc.Headers{}, strings.NewReader(tt.in), func(c *rpc.Conn) {
				c.Handle = func(m *rpc.Message) { methods = append(methods, string(m.Method)) }
			})
			if got := strings.Join(methods, " "); got != tt.want {
				t.Errorf("handled %q, want %q", got, tt.want)
			}
			if got := strings.Count(out, "-32700"); got != tt.errors {
				t.Errorf("answered %q, want %d errors", out, tt.errors)
			}
		})
	}
}

func TestHeaders_TooLongIsSkippedByCount(t *testing.T) {
	for _, in := range []string{
		headers(update(100_000), note("b")),
		// A length that is a lie costs no more than the message itself.
		"Content-Length: 900000000\r\n\r\n" + note("a") + headers(note("b")),
	} {
		var methods []string
		out := session(t, rpc.Headers{Max: 1000}, strings.NewReader(in), func(c *rpc.Conn) {
			c.Handle = func(m *rpc.Message) { methods = append(methods, string(m.Method)) }
		})
		if len(methods) != 1 || methods[0] != "b" || strings.Count(out, "-32600") != 1 {
			t.Errorf("%.40q: handled %v, answered %q", in, methods, out)
		}
	}
}

func TestHeaders_LengthsWritten(t *testing.T) {
	for _, size := range []int{0, 50, 100, 900, 1000, 99_999, 1_000_000} {
		var in strings.Builder
		in.WriteString(headers(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		got := session(t, rpc.Headers{}, strings.NewReader(in.String()), func(c *rpc.Conn) {
			c.Handle = func(m *rpc.Message) {
				_ = c.Reply(m.ID, strings.Repeat("x", size))
				_ = c.Notify("n", nil)
			}
		})
		want := headers(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":"%s"}`, strings.Repeat("x", size)), `{"jsonrpc":"2.0","method":"n"}`)
		if got != want {
			t.Errorf("%d: got %.80q…, want %.80q…", size, got, want)
		}
	}
}
