package rpc_test

import (
	"fmt"
	"slices"
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

func TestEachParamAndElement(t *testing.T) {
	many := strings.Repeat(`{"p":0},`, 100)
	tests := []struct {
		update   string
		members  string // as EachParam gives them
		elements string // the p of the elements of c
	}{
		{`{}`, "", ""},
		{`{"a":1,"b":{"p":2,"x":[{"p":3}]}}`, `a:1 b:{"p":2,"x":[{"p":3}]}`, ""},
		{`{"c":[{"p":1},{"p":2}]}`, `c:[{"p":1},{"p":2}]`, "1 2"},
		{`{"c":[{"p":1,"q":3,"p":2},{"q":4},5,[{"p":6}],{"r":{"p":7},"s":[{"p":8}],"\u0070":9}]}`,
			`c:[{"p":1,"q":3,"p":2},{"q":4},5,[{"p":6}],{"r":{"p":7},"s":[{"p":8}],"\u0070":9}]`, "2 9"},
		{`{"c":[{"p":1}],"c":[{"p":2}],"d":[{"p":3}]}`, `c:[{"p":1}] c:[{"p":2}] d:[{"p":3}]`, "2"},
		{`{"c":{"p":1}}`, `c:{"p":1}`, ""},
		{`{"d":[{"p":5}],"\u0063":[ { "p" : 1 } , {} ]}`, `d:[{"p":5}] c:[ { "p" : 1 } , {} ]`, "1"},
		{`{"c":[` + many + `{"p":1}]}`, `c:[` + many + `{"p":1}]`, strings.Repeat("0 ", 100) + "1"},
		{`{"d":[` + many + `{}],"c":[{"p":1}]}`, `d:[` + many + `{}] c:[{"p":1}]`, "1"},
		{`[1]`, "", ""},
	}
	for _, tt := range tests {
		frame := fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"c":[{"p":99}],"update":%s,"z":[{"p":98}]}}`, tt.update)
		check := func(how string, m *rpc.Message) {
			var members, elements []string
			_ = m.EachParam(func(key, value []byte) bool {
				members = append(members, string(key)+":"+string(value))
				return true
			}, "update")
			m.EachElement("p", func(value []byte) { elements = append(elements, string(value)) }, "update", "c")
			if got := strings.Join(members, " "); got != tt.members {
				t.Errorf("%s members of %.80s: got %q, want %q", how, tt.update, got, tt.members)
			}
			if got := strings.Join(elements, " "); got != tt.elements {
				t.Errorf("%s elements of %.80s: got %q, want %q", how, tt.update, got, tt.elements)
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

// FuzzIndex holds what the index finds against a search through all.
func FuzzIndex(f *testing.F) {
	for _, params := range []string{
		`{"update":{"content":[{"path":"a"},{"type":"diff","path":"b","path":"c"}],"content":[]}}`,
		`{"update":{"content":[[{"path":1}],{"x":{"path":2}},{"\u0070ath":3}]},"update":{"content":[{"path":4}]}}`,
	} {
		f.Add(params)
	}
	f.Fuzz(func(t *testing.T, params string) {
		frame := `{"jsonrpc":"2.0","method":"m","params":` + params + `}`
		plain, err := rpc.Scan([]byte(frame))
		if err != nil || strings.ContainsAny(frame, "\r\n") {
			t.Skip()
		}
		look := func(m *rpc.Message) (seen []string) {
			value, ok := m.Param("update", "content")
			seen = append(seen, string(value), fmt.Sprint(ok))
			err := m.EachParam(func(key, value []byte) bool {
				seen = append(seen, string(key), string(value))
				return true
			}, "update")
			seen = append(seen, fmt.Sprint(err != nil))
			m.EachElement("path", func(value []byte) { seen = append(seen, string(value)) }, "update", "content")
			return seen
		}
		session(t, rpc.Lines{}, strings.NewReader(frame+"\n"), func(c *rpc.Conn) {
			c.Handle = func(m *rpc.Message) {
				if got, want := look(m), look(&plain); !slices.Equal(got, want) {
					t.Errorf("with the index %q, without %q", got, want)
				}
			}
		})
	})
}
