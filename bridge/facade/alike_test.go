package facade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Chunks that come at once and differ in their text only are handed on together:
// all of them, in order, under the client's name of the session, and nothing
// among them that is about another session or of another kind.
func TestAlike(t *testing.T) {
	update := func(session, kind, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q,"content":{"type":"text","text":%q}}}}`, session, kind, text)
	}
	var lines []string
	say := func(session, kind string, texts ...string) {
		for _, text := range texts {
			lines = append(lines, update(session, kind, text))
		}
	}
	say("fake-1", "agent_message_chunk", "a", "b", "c c c", "", "a", "d")
	say("child", "agent_message_chunk", "d")
	say("other", "agent_message_chunk", "d")
	say("fake-1", "agent_message_chunk", "d", "e", "f\n")
	say("fake-1", "agent_thought_chunk", "f\n", "g", "h")
	say("fake-1", "user_message_chunk", "h", "i", "j")
	for i := range 2000 {
		say("fake-1", "agent_message_chunk", fmt.Sprint(i, strings.Repeat("x", i%40)))
	}
	r := newRig(t, `{"prompts":[{"steps":[{"raw":`+quote(strings.Join(lines, "\n")+"\n")+`}]}]}`)
	first := r.open()
	for _, session := range []string{first, r.begin()} { // two agents, whose sessions have the same name
		t.Run(session, func(t *testing.T) {
			before := len(r.frames("session/update"))
			if got := r.turn(session, "go"); got != "end_turn" {
				t.Fatalf("the turn ended with %s", got)
			}
			var got, want []string
			for _, f := range r.frames("session/update")[before:] {
				if !strings.Contains(f, `"sallyport"`) {
					got = append(got, f)
				}
			}
			for _, l := range lines {
				want = append(want, strings.Replace(l, `"fake-1"`, quote(session), 1))
			}
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("message %d is\n%s\nwant\n%s", i, got[i], want[i])
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d messages came of %d", len(got), len(want))
			}
		})
	}
}
