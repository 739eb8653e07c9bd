package facade_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/config"
)

const terminals = `{"prompts":[{"steps":[
	{"request":{"method":"terminal/create","params":{"sessionId":"${session}","command":"npm","args":["test","a b"],"env":[{"name":"X","value":"1"}],"x":[null]},"as":"made"}},
	{"say":"${made}${made.code}"},
	{"request":{"method":"terminal/output","params":{"sessionId":"${session}","terminalId":"t-1"},"as":"out"}},
	{"say":"${out}${out.code}"}]}]}`

// K12: a terminal is stripped, unless the user passes it on; then each command is a
// permission.
func TestTerminal_StrippedByDefault(t *testing.T) {
	r := newRig(t, terminals)
	session := r.open()
	r.turn(session, "go")
	if got := r.frames("terminal/create"); len(got) > 0 {
		t.Errorf("passed: %s", got)
	}
	if said := strings.Join(r.updates(), "\n"); strings.Count(said, "-32601") != 2 {
		t.Errorf("said %s", said)
	}
}

func TestTerminal_PassedIsAPermission(t *testing.T) {
	for _, option := range []string{"allow", "reject"} {
		t.Run(option, func(t *testing.T) {
			r := newRig(t, terminals, func(r *rig) { r.config.Terminal = config.TerminalPass })
			r.answers("session/request_permission", func(jsontext.Value) string {
				return `"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}`
			})
			r.answers("terminal/create", func(jsontext.Value) string { return `"result":{"terminalId":"t-1","_meta":null}` })
			r.answers("terminal/output", func(jsontext.Value) string { return `"result":{"output":"ok","truncated":false}` })
			session := r.open()
			if got := r.got("initialize"); !strings.Contains(got, `"terminal":true`) {
				t.Errorf("the agent was told %s", got)
			}
			r.turn(session, "go")
			asked, made := r.frames("session/request_permission"), r.frames("terminal/create")
			if len(asked) != 1 || !strings.Contains(asked[0], `"title":"X=1 npm test 'a b'"`) || !strings.Contains(asked[0], `"kind":"execute"`) {
				t.Errorf("asked: %s", asked)
			}
			want := 0
			if option == "allow" {
				want = 1
			}
			if len(made) != want || want == 1 && !strings.Contains(made[0], `"x":[null]`) {
				t.Errorf("%d terminals were made: %s", len(made), made)
			}
			r.turn(session, "/posture")
			if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "outside of every fence") {
				t.Errorf("the posture does not say it: %s", said)
			}
			checkAuthored(t, r)
		})
	}
}
