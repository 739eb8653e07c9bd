package facade_test

import (
	"strings"
	"testing"
)

// What a notice says to do can be done at an ACP client.
func TestNotice_SaysWhatAClientCan(t *testing.T) {
	r := newRig(t, `{"prompts":[{"steps":[{"read":{"path":"${cwd}/../other.txt"}},{"directWrite":{"path":"${cwd}/new.txt","text":"made\n"}}]}]}`)
	r.disk("../other.txt", "x\n")
	r.turn(r.open(), "go")
	said := strings.Join(r.updates(), "\n")
	for _, want := range []string{"take it back: /undo", "begin a new session when you have looked at it"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q: %s", want, said)
		}
	}
	checkAuthored(t, r)
}
