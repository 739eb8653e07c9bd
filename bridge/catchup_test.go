package bridge_test

import (
	"strings"
	"testing"

	"sallyport/bridge"
)

// What an agent wrote on the disk with its own tools comes into a document with
// unsaved text, unless the user changed the same.
func TestDirectWritesComeIntoUnsavedText(t *testing.T) {
	const script = `{"prompts": [{"steps": [
	  {"toolCall": {"toolCallId": "d", "kind": "edit", "status": "in_progress", "locations": [{"path": "${cwd}/a.txt"}]}},
	  {"directWrite": {"path": "${cwd}/a.txt", "text": "one\nTWO\nthree\n"}},
	  {"toolUpdate": {"toolCallId": "d", "status": "completed"}}]}]}`
	for _, test := range []struct {
		name, unsaved, want string
		conflicts           int
	}{
		{"elsewhere", "one\ntwo\nthree\ntyped\n", "one\nTWO\nthree\ntyped\n", 0},
		{"the same line", "one\n2 typed\nthree\n", "one\n2 typed\nthree\n", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, script)
			path := r.openDirty("a.txt", "one\ntwo\nthree\n", test.unsaved)
			r.turn("go")
			if got := r.buffer(path); got != test.want {
				t.Errorf("buffer is %q, want %q", got, test.want)
			}
			if got := r.disk("a.txt"); got != "one\nTWO\nthree\n" {
				t.Errorf("disk is %q", got)
			}
			direct := r.display.noticed(bridge.NoticeDirect)
			if len(direct) != 1 || strings.Contains(direct[0].Text, "merged into unsaved text: a.txt") != (test.conflicts == 0) {
				t.Errorf("notices are %+v, want one of the direct write, merged: %t", direct, test.conflicts == 0)
			}
			if got := r.display.noticed(bridge.NoticeConflict); len(got) != test.conflicts {
				t.Errorf("conflicts told: %+v, want %d", got, test.conflicts)
			}
		})
	}
}
