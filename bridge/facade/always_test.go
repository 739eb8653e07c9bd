package facade_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/answers"
)

// TestAlwaysOfAClient: the client is shown the rule that its "always" becomes, the
// agent is answered once, and the next time nobody is asked.
func TestAlwaysOfAClient(t *testing.T) {
	const ask = `{"request":{"method":"session/request_permission","as":"out","params":{"sessionId":"${session}","toolCall":{"toolCallId":"call-1","kind":"execute","rawInput":{"command":"npm test"}},
		"options":[{"optionId":"w","name":"Always, and edits too","kind":"allow_always","q":{}},{"optionId":"a","name":"Yes","kind":"allow_once"}],"_meta":{"k":null}}}},{"say":"${out}"}`
	r := newRig(t, `{"prompts":[{"steps":[`+ask+`,`+ask+`]}]}`, func(r *rig) {
		own := r.front.Bridge
		r.front.Bridge = func(d bridge.Display, editors func(string) workspace.Editor, greeting jsontext.Value) *bridge.Bridge {
			b := own(d, editors, greeting)
			b.Home.Answers = answers.Store{Dir: filepath.Join(filepath.Dir(r.folder), "answers")}
			return b
		}
	})
	r.answers("session/request_permission", func(jsontext.Value) string {
		return `"result":{"outcome":{"outcome":"selected","optionId":"w"},"_meta":{"c":null}}`
	})
	session := r.open()
	if got := r.turn(session, "go"); got != "end_turn" {
		t.Errorf("stop reason: got %s", got)
	}
	asked := r.frames("session/request_permission")
	if len(asked) != 1 {
		t.Fatalf("asked %d times, want once", len(asked))
	}
	params, _ := rpc.Member([]byte(asked[0]), "params")
	want := `{"sessionId":"fake-1","toolCall":{"toolCallId":"call-1","kind":"execute","rawInput":{"command":"npm test"}},` +
		`"options":[{"optionId":"w","name":"Always allow Fake Bash(npm test) in this project","kind":"allow_always","q":{}},{"optionId":"a","name":"Yes","kind":"allow_once"}],"_meta":{"k":null}}`
	if !sameSet(string(params), want) {
		t.Errorf("asked %s, want %s", params, want)
	}
	said := strings.Join(r.updates(), "\n")
	if strings.Count(said, `\"optionId\":\"a\"`) != 2 || strings.Contains(said, `\"optionId\":\"w\"`) {
		t.Errorf("the agent was not answered once, twice: %s", said)
	}
}
