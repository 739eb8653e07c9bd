package rpc_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

func TestParam(t *testing.T) {
	many := strings.Repeat(`"x":0,`, 100)
	tests := []struct{ params, path, want string }{
		{`{"a":1}`, "a", "1"},
		{`{"a":1}`, "b", ""},
		{`{"a":1,"a":2}`, "a", "2"},
		{`{"a":{"b":3},"a":4}`, "a b", ""},
		{`{"a":4,"a":{"b":3}}`, "a b", "3"},
		{`{"b":9,"a":{"c":{"b":8},"b":"x"}}`, "a b", `"x"`},
		{`{"a":{"b":{"c":{"d":5}}}}`, "a b c d", "5"},
		{`{"a":{"b":{"c":5}}}`, "a b d", ""},
		{`{"a":[{"b":3}]}`, "a b", ""},
		{`{"a":[{"b":3}],"c":{"b":4}}`, "c b", "4"},
		{`{"\u0061":{"b":6}}`, "a b", "6"},
		{`{` + many + `"a":{"b":7}}`, "a b", "7"},
		{`{` + many + `"a":{"b":7},"a":1}`, "a b", ""},
		{`[{"a":1}]`, "a", ""},
		{`null`, "a", ""},
	}
	for _, tt := range tests {
		frame := fmt.Sprintf(`{"x":{"a":{"b":0}},"jsonrpc":"2.0","method":"m","params":%s,"y":{"a":{"b":0}}}`, tt.params)
		check := func(how string, m *rpc.Message) {
			got, ok := m.Param(strings.Fields(tt.path)...)
			if string(got) != tt.want || ok != (tt.want != "") {
				t.Errorf("%s %s of %.60s: got %q, %v; want %q", how, tt.path, tt.params, got, ok, tt.want)
			}
		}
		session(t, rpc.Lines{}, strings.NewReader(frame), func(c *rpc.Conn) {
			c.Handle = func(m *rpc.Message) { check("with an index:", m) }
		})
		m, err := rpc.Scan([]byte(frame))
		if err != nil {
			t.Fatalf("%s: %v", frame, err)
		}
		check("without:", &m)
	}
}
