package rpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// said is what a handler sees of a message.
func said(m *rpc.Message) string {
	s := fmt.Sprintf("%v %q %q %q %q", m.Kind, m.ID, m.Method, m.Params, m.Frame)
	for _, path := range []string{"sessionId", "update", "update sessionUpdate", "update content", "update content text", "update a"} {
		value, ok := m.Param(strings.Fields(path)...)
		s += fmt.Sprintf(" %s=%q,%v", path, value, ok)
	}
	m.EachElement("p", func(value []byte) { s += fmt.Sprintf(" p=%q", value) }, "update", "content")
	_ = m.EachParam(func(key, value []byte) bool {
		s += fmt.Sprintf(" %q:%q", key, value)
		return true
	}, "update")
	return s
}

// alone are the messages among some lines, each scanned by itself.
func alone(lines ...string) (all []string) {
	for _, line := range lines {
		frame := bytes.TrimSpace([]byte(line))
		if m, err := rpc.Scan(frame); err == nil && m.Kind != rpc.Response {
			all = append(all, said(&m))
		}
	}
	return all
}

// inStream are the messages of the same lines, as a connection hands them out; with
// takes, its handler takes those that are alike itself.
func inStream(t *testing.T, takes bool, lines ...string) (all []string) {
	t.Helper()
	session(t, rpc.Lines{}, strings.NewReader(strings.Join(lines, "\n")), func(c *rpc.Conn) {
		c.Handle = func(m *rpc.Message) {
			all = append(all, said(m))
			if !takes {
				return
			}
			for line := range bytes.Lines(c.Alike(m, m.Params)) {
				all = append(all, alone(string(line))...)
			}
		}
	})
	return all
}

func compareWithAlone(t *testing.T, lines ...string) {
	t.Helper()
	want := alone(lines...)
	for _, takes := range []bool{false, true} {
		got := inStream(t, takes, lines...)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("of %q, taken: %v, message %d is\n%s\nalone it is\n%s", lines, takes, i, strings.Join(got[min(i, len(got)):], "\n"), strings.Join(want[min(i, len(want)):], "\n"))
			}
		}
	}
}

// A message that is like the one before but for a string is read as it would be
// alone, and so is what only seems to be.
func TestAlike(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"chunk","content":{"type":"text","text":"`, `"},"a":["x",{"p":1}]}},"z":"z"}`
	for _, last := range []string{
		``, `c`, `a longer text than those before it`, `\"`, `\\`, `\\\"`, `\u00e9`, `é`, `b","a":"c`, `b"`, `"`, `\`, `\x`, "\x01", "\xff",
		`"}}},"id":7,"x":{"y":{"z":{"s":"`, `"},"a":1},"update":{"sessionUpdate":"other","content":{"text":"`,
		`"},"a":["x",{"p":1}]}},"z":"z"}`, // the tail itself
	} {
		t.Run(last, func(t *testing.T) {
			compareWithAlone(t, head+"a"+tail, head+"b b"+tail, head+last+tail, head+"after it"+tail, head+tail)
			compareWithAlone(t, head+"a"+tail, head+"b b"+tail, head+last+tail[1:], head+"b"+tail)
		})
	}
	compareWithAlone(t, `{"jsonrpc":"2.0","method":"m","params":{"a":"1"}}`, `{"jsonrpc":"2.0","method":"n","params":{"a":"1"}}`, `{"jsonrpc":"2.0","method":"o","params":{"a":"1"}}`)
	compareWithAlone(t, `{"params":{"a":"1"},"jsonrpc":"2.0","method":"m"}`, `{"params":{"a":"22"},"jsonrpc":"2.0","method":"m"}`, `{"params":{"a":""},"jsonrpc":"2.0","method":"m"}`)
	compareWithAlone(t, `{"params":{"a":"1"},"jsonrpc":"2.0","m\u0065thod":"\u006d"}`, `{"params":{"a":"22"},"jsonrpc":"2.0","m\u0065thod":"\u006d"}`, `{"params":{"a":""},"jsonrpc":"2.0","m\u0065thod":"\u006d"}`)
	compareWithAlone(t, `{"params":{"a":"1"},"jsonrpc":"2.0","method":"m","id":1}`, `{"params":{"a":"2"},"jsonrpc":"2.0","method":"m","id":1}`, `{"params":{"a":"3"},"jsonrpc":"2.0","method":"m","id":1}`)
}

// Whatever comes, a message among others is what it is alone.
func FuzzAlike(f *testing.F) {
	const head, tail = `{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","update":{"content":[{"p":"`, `"}],"a":1}}}`
	f.Add(head, "a", "b", `c\"`, tail)
	f.Add(head, "aa", "a", "", tail)
	f.Add(`{"jsonrpc":"2.0","method":"`, "a", "b", "c", `","params":{"update":{}}}`)
	f.Add(`{"params":{"update":{"sessionUpdate":"`, "x", `"}},"a":{"b":{"c":"`, "y", `"}},"jsonrpc":"2.0","method":"m"}`)
	f.Fuzz(func(t *testing.T, head, a, b, c, tail string) {
		var lines []string
		for _, text := range []string{a, b, c, a, c + c, b} {
			lines = append(lines, strings.NewReplacer("\n", " ", "\r", " ").Replace(head+text+tail))
		}
		compareWithAlone(t, lines...)
	})
}

// Who takes the messages that are alike gets each once, in order, and only those
// that differ in what it asked for.
func TestConn_Alike(t *testing.T) {
	chunk := func(session, text string) string {
		return `{"jsonrpc":"2.0","method":"m","params":{"sessionId":"` + session + `","update":{"content":{"text":"` + text + `"}}}}`
	}
	many := make([]string, 3000) // more than are taken at once, and than are read at once
	for i := range many {
		many[i] = chunk("s", strings.Repeat("x", i%300))
	}
	for name, tt := range map[string]struct {
		lines []string
		taken int // at the least
	}{
		"taken":             {[]string{chunk("s", "a"), chunk("s", "b"), chunk("s", "c"), chunk("s", "")}, 2},
		"many":              {many, 2900},
		"another session":   {[]string{chunk("s", "a"), chunk("t", "a"), chunk("u", "a"), chunk("v", "a")}, 0},
		"not valid":         {[]string{chunk("s", "a"), chunk("s", "b"), chunk("s", "\xff"), chunk("s", `\`), chunk("s", `x","y":"`), chunk("s", "d")}, 0},
		"a carriage return": {[]string{chunk("s", "a"), chunk("s", "b") + "\r", chunk("s", "c") + "\r", chunk("s", "d") + "\r"}, 0},
		"a request between": {[]string{chunk("s", "a"), chunk("s", "b"), `{"jsonrpc":"2.0","id":1,"method":"q"}`, chunk("s", "c")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			taken := 0
			session(t, rpc.Lines{}, strings.NewReader(strings.Join(tt.lines, "\n")+"\n"), func(c *rpc.Conn) {
				c.Handle = func(m *rpc.Message) {
					got = append(got, string(m.Frame))
					content, _ := m.Param("update", "content")
					for line := range bytes.Lines(c.Alike(m, content)) {
						got, taken = append(got, strings.TrimSuffix(string(line), "\n")), taken+1
					}
				}
			})
			var want []string
			for _, line := range tt.lines {
				if _, err := rpc.Scan([]byte(strings.TrimSpace(line))); err == nil {
					want = append(want, strings.TrimSpace(line))
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got  %.2000q\nwant %.2000q", got, want)
			}
			if taken < tt.taken || tt.taken == 0 && taken > 0 {
				t.Errorf("%d were taken; want %d", taken, tt.taken)
			}
		})
	}
}

// Lines that are gathered stay what they are, between messages.
func TestGatherLines(t *testing.T) {
	const lines = `{"a":1}` + "\n" + `{"b":2}` + "\n"
	out := session(t, rpc.Lines{}, strings.NewReader(`{"jsonrpc":"2.0","method":"m"}`), func(c *rpc.Conn) {
		c.Handle = func(*rpc.Message) {
			one := func(dst []byte) []byte { return append(dst, "{\n}"...) }
			if err := errors.Join(c.Gather(t.Context(), one), c.GatherLines(t.Context(), []byte(lines)), c.Gather(t.Context(), one)); err != nil {
				t.Error(err)
			}
		}
	})
	if want := "{ }\n" + lines + "{ }\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
