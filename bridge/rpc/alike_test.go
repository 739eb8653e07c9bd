package rpc_test

import (
	"bytes"
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

// inStream are the messages of the same lines, as a connection hands them out.
func inStream(t *testing.T, lines ...string) (all []string) {
	t.Helper()
	session(t, rpc.Lines{}, strings.NewReader(strings.Join(lines, "\n")), func(c *rpc.Conn) {
		c.Handle = func(m *rpc.Message) { all = append(all, said(m)) }
	})
	return all
}

func compareWithAlone(t *testing.T, lines ...string) {
	t.Helper()
	got, want := inStream(t, lines...), alone(lines...)
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("of %q message %d is\n%s\nalone it is\n%s", lines, i, g, w)
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
