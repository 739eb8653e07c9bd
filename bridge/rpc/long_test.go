package rpc_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/rpc"
)

func update(size int) string {
	const head, tail = `{"jsonrpc":"2.0","method":"session/update","params":{"text":"`, `"}}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

func TestJ3_LongLines(t *testing.T) {
	const limit = 64 << 20
	answer := `{"jsonrpc":"2.0","id":1,"method":"after"}`
	for _, tt := range []struct {
		name, line string
		taken      bool
	}{
		{"40 MB", update(40 << 20), true},
		{"at the limit", update(limit), true},
		{"over it", update(limit + 1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, f := range map[string]struct {
				framing rpc.Framing
				in      string
			}{
				"lines":   {rpc.Lines{}, tt.line + "\n" + answer + "\n"},
				"headers": {rpc.Headers{}, headers(tt.line, answer)},
			} {
				var methods []string
				out := session(t, f.framing, strings.NewReader(f.in), func(c *rpc.Conn) {
					c.Handle = func(m *rpc.Message) { methods = append(methods, string(m.Method)) }
				})
				want := "session/update after"
				if !tt.taken {
					want = "after"
				}
				if got := strings.Join(methods, " "); got != want {
					t.Errorf("%s: handled %q, want %q", name, got, want)
				}
				if refused := strings.Contains(out, `"id":null,"error":{"code":-32600`); refused == tt.taken {
					t.Errorf("%s: answered %q", name, out)
				}
			}
		})
	}
}

func TestJ3_TooLongRequestIsAnswered(t *testing.T) {
	pad := strings.Repeat("x", 10_000)
	tests := []struct{ name, in, want string }{
		{"id before", `{"jsonrpc":"2.0","id":"a","method":"m","params":{"t":"` + pad + `"}}`, `"id":"a"`},
		{"id after the method's params", `{"jsonrpc":"2.0","method":"m","params":{"id":5,"t":"` + pad + `"},"id":7}`, `"id":null`},
		{"an id within params only", `{"params":{"id":5,"t":"` + pad + `"}}`, `"id":null`},
		{"no JSON", pad, `"id":null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, got := range []string{
				session(t, rpc.Lines{Max: 5000}, strings.NewReader(tt.in+"\n"), nil),
				session(t, rpc.Headers{Max: 5000}, strings.NewReader(headers(tt.in)), nil),
			} {
				if !strings.Contains(got, tt.want) || strings.Count(got, "-32600") != 1 {
					t.Errorf("got %q, want one error with %s", got, tt.want)
				}
			}
		})
	}
}

func TestJ3_TooLongAnswerFailsItsCall(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 10_000) + `"}` + "\n"
	var got error
	session(t, rpc.Lines{Max: 5000}, strings.NewReader(long), func(c *rpc.Conn) {
		c.Go("m", nil, func(_ []byte, err error) { got = err })
	})
	if got == nil || !strings.Contains(got.Error(), "too long") {
		t.Errorf("got %v", got)
	}
}

// small gives at most 4 KiB at a time, as a slow peer does.
type small struct{ r io.Reader }

func (s small) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), 4096)]) }

func TestJ4_LinearInTheLengthOfALine(t *testing.T) {
	took := func(line string) time.Duration {
		in := small{strings.NewReader(line)}
		start := time.Now()
		handled := 0
		session(t, rpc.Lines{}, in, func(c *rpc.Conn) { c.Handle = func(*rpc.Message) { handled++ } })
		if handled != 1 {
			t.Fatalf("%d bytes: handled %d", len(line), handled)
		}
		return time.Since(start)
	}
	lines := []string{update(16<<20) + "\n", update(64<<20) + "\n"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	quarter := took(lines[0])
	whole := took(lines[1])
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4*(64+16)<<20 {
		t.Errorf("allocated %d MB", allocated>>20)
	}
	// Four times the bytes; a quadratic reader would need sixteen times as long.
	if whole > 12*quarter+time.Second {
		t.Errorf("16 MB took %v, 64 MB %v", quarter, whole)
	}
}

func TestLargeBuffersAreReleased(t *testing.T) {
	in := io.MultiReader(strings.NewReader(update(32<<20)+"\n"), &gate{t: t}, strings.NewReader(update(100)+"\n"))
	session(t, rpc.Lines{}, in, func(c *rpc.Conn) { c.Handle = func(*rpc.Message) {} })
}

// gate is an empty stretch of input, at which the heap must be small again.
type gate struct {
	t    *testing.T
	once bool
}

func (g *gate) Read([]byte) (int, error) {
	if !g.once {
		g.once = true
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		// The input itself holds 32 MB; the buffer would hold 64 more.
		if m.HeapAlloc > 60<<20 {
			g.t.Errorf("the heap holds %d MB after a line of 32 MB", m.HeapAlloc>>20)
		}
	}
	return 0, io.EOF
}

func TestPrettyJSONIsOneLine(t *testing.T) {
	pretty := "{\r\n \"a\": [\n1\n]\r\n}"
	var out bytes.Buffer
	c := rpc.New(strings.NewReader(""), &out, rpc.Lines{})
	if err := c.Notify("m", rpc.RawJSON(pretty)); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "}\n") {
		t.Errorf("got %q", got)
	}
	if _, err := rpc.Scan([]byte(strings.TrimSpace(got))); err != nil {
		t.Errorf("%q: %v", got, err)
	}
}
