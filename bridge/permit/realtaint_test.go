package permit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
)

// TestRealAgentsInTheirProject: nothing that the recorded agents do within their
// project marks a session, and their reads are seen: without a project they do.
func TestRealAgentsInTheirProject(t *testing.T) {
	files, err := filepath.Glob(transcripts + "/*/*.jsonl")
	if _, missing := os.Stat(transcripts); missing != nil || err != nil || len(files) == 0 {
		t.Skipf("the recordings of real agents are not in this tree: %v", missing)
	}
	seen := map[string]bool{} // agents whose reads were seen
	for _, file := range files {
		inside := &permit.Taint{Place: permit.Place{Folder: "/project", Inside: func(path string) bool { return strings.HasPrefix(path, "/project/") }}}
		nowhere := &permit.Taint{Place: permit.Place{Folder: "/project"}}
		var calls permit.Calls
		fromAgent(t, file, func(method string, params jsontext.Value) {
			update, _ := rpc.Member(params, "update")
			value, _ := rpc.Member(update, "sessionUpdate")
			if kind, _ := rpc.Unquote(value); method == "session/update" {
				if c, told := calls.Learn(kind, members(string(update))); told {
					inside.Call(&c)
					nowhere.Call(&c)
				}
			}
		})
		if got := marks(inside); got != "" {
			t.Errorf("%s: marked with %s", file, got)
		}
		if marks(nowhere) != "" {
			seen[filepath.Base(filepath.Dir(file))] = true
		}
	}
	for _, agent := range []string{"claude", "gemini", "opencode"} {
		if !seen[agent] {
			t.Errorf("no read of %s was seen", agent)
		}
	}
}
