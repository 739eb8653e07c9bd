package facade_test

import (
	"strings"
	"testing"
)

// A command is the only text of its prompt, whatever else a client adds, and says so
// when it does not know what stands behind it.
func TestCommands(t *testing.T) {
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	const link = `{"type":"resource_link","uri":"file:///x","name":"x"}`
	held := `{"type":"resource","resource":{"uri":"file:///x","text":` + quote(strings.Repeat("x", 8000)) + `}}`
	for _, test := range []struct{ name, prompt, want string }{
		{"plain", text("/posture"), "mode default"},
		{"space around it", text(" \n/posture \r\n"), "mode default"},
		{"with context", link + "," + text("/posture") + "," + held, "mode default"},
		{"two texts", text("/posture") + "," + text("well"), "the agent got"},
		{"no command", text("/postures"), "the agent got"},
		{"within a text", text("say /posture"), "the agent got"},
		{"in capitals", text("/POSTURE"), "the agent got"},
		{"no text at all", link, "the agent got"},
		{"posture of what", text("/posture all"), "not all"},
		{"turns, a word", text("/turns many"), "not many"},
		{"turns, none", text("/turns 0"), "not 0"},
		{"turns, two", text("/turns 1 2"), "not 1 2"},
		{"receipt, two", text("/receipt a b"), "not b"},
		{"receipt, unknown", text("/receipt nope"), "no such turn: nope"},
		{"undo, unknown", text("/undo nope"), "no such turn: nope"},
		{"undo, a flag", text("/undo --hard"), "not --hard"},
		{"undo, two", text("/undo --force a b"), "not b"},
		{"redo, nothing", text("/redo"), "there is no turn that was taken back"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, `{"prompts":[{"steps":[{"say":"the agent got ${prompt}"}]}]}`)
			session := r.open()
			result := r.result(r.ask("session/prompt", `{"sessionId":`+quote(session)+`,"prompt":[`+test.prompt+`]}`))
			if got := member(t, result, "stopReason"); got != "end_turn" {
				t.Errorf("it ended with %s", got)
			}
			said := strings.Join(r.updates(), "\n")
			if !strings.Contains(said, test.want) {
				t.Errorf("got %s, want %s", said, test.want)
			}
			if told := strings.Contains(said, "the agent got"); told != (test.want == "the agent got") {
				t.Errorf("that the agent got it is %v: %s", told, said)
			}
		})
	}
}
