package permit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
)

// TestRealWritesAreWhatWasShown: every recorded agent writes through us what it
// showed when it asked, to the byte, so nobody is asked twice. A file that it
// did not ask about is not covered, also after "always".
func TestRealWritesAreWhatWasShown(t *testing.T) {
	files, err := filepath.Glob(transcripts + "/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Skipf("the recordings of real agents are not in this tree (%v)", err)
	}
	covered := map[string]int{}
	for _, file := range files {
		name := strings.TrimPrefix(file, filepath.Clean(transcripts)+string(os.PathSeparator))
		r := &permit.Reader{Session: "s"}
		g := &permit.Grants{Place: permit.Place{Folder: "/project"}}
		asked := map[string]bool{}
		fromAgent(t, file, func(method string, params jsontext.Value) {
			switch method {
			case "session/request_permission":
				c, err := r.Read("t", params)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, p := range c.Paths {
					asked[p] = true
				}
				g.Record(c, permit.Outcome{Allowed: true, Option: c.Options[0].ID})
			case "fs/write_text_file":
				var p struct{ Path, Content string }
				if err := json.Unmarshal(params, &p, json.MatchCaseInsensitiveNames(true)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				want := permit.Unasked
				if asked[p.Path] {
					want = permit.Granted
					covered[strings.Split(name, string(os.PathSeparator))[0]]++
				}
				if got := g.Covers(p.Path, p.Content, nothing); got != want {
					t.Errorf("%s: the write of %s is %v, want %v", name, p.Path, got, want)
				}
			}
		})
	}
	for _, agent := range []string{"gemini", "opencode-ask", "qwen"} {
		if covered[agent] == 0 {
			t.Errorf("no write of %s was looked at: %v", agent, covered)
		}
	}
}
