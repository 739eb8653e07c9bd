package permit_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
)

// FuzzTaint: whatever a call says, its marks are bounded, act on no screen, and
// hold nothing of an address but its host.
func FuzzTaint(f *testing.F) {
	for _, seed := range []string{
		`{"url":"https://u:s3cretA@a.example:1/s3cretA?s3cretA#s3cretA"}`, `{"urls":["http://b","//c",7],"prompt":"see http://[::1]/x, and x"}`,
		`{"server":"db\u001b[2J","tool":"q"}`, `{"path":"../../etc/x","paths":["~","~/y","file:///z"]}`, `{"url":"http://\u0000"}`, `[]`, ``,
	} {
		f.Add("fetch", "", seed)
		f.Add("other", "mcp__x__y", seed)
		f.Add("read", "web_fetch", seed)
	}
	f.Fuzz(func(t *testing.T, kind, tool, input string) {
		taint := taintOf()
		c := permit.Call{ID: "c", Kind: kind, ToolName: tool, Status: "completed"}
		if jsontext.Value(input).IsValid() { // as every part of a message is
			c.Input = jsontext.Value(input)
		}
		taint.Call(&c)
		for _, m := range taint.Marks() {
			if len(m.Source) > 2048 || strings.ContainsFunc(m.Source, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("source %q", m.Source)
			}
			if m.Kind == permit.MarkFetch && strings.ContainsAny(m.Source, "/?#@") {
				t.Errorf("source %q of %q", m.Source, input)
			}
		}
	})
}
