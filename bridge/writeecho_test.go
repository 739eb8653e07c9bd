package bridge_test

import (
	"testing"

	"sallyport/bridge"
)

// TestAnEchoTakesNothingBack: an agent that edits the disk itself and then
// repeats the file through us (quirk write-echo) was sent the unsaved text with
// the prompt, but its text comes from the disk.
func TestAnEchoTakesNothingBack(t *testing.T) {
	r := newRig(t, `{"agent": {"name": "OpenCode", "version": "1.18.33"}, "capabilities": {"promptCapabilities": {"embeddedContext": true}},
	  "prompts": [{"steps": [
	    {"toolCall": {"toolCallId": "e", "kind": "edit", "status": "pending", "locations": [{"path": "${cwd}/a.txt"}]}},
	    {"directRead": {"path": "${cwd}/a.txt", "as": "a"}},
	    {"ask": {"toolCall": {"toolCallId": "e", "kind": "edit", "title": "Edit", "locations": [{"path": "${cwd}/a.txt"}]}}},
	    {"write": {"path": "${cwd}/a.txt", "replace": {"in": "a", "old": "two", "new": "TWO"}}},
	    {"directWrite": {"path": "${cwd}/a.txt", "replace": {"in": "a", "old": "two", "new": "TWO"}}},
	    {"toolUpdate": {"toolCallId": "e", "status": "completed"}}]}]}`)
	r.display.answer = allow
	path := r.openDirty("a.txt", "one\ntwo\n", "one\ntwo\nthree unsaved\n")
	r.turn("edit")
	if got, want := r.buffer(path), "one\nTWO\nthree unsaved\n"; got != want {
		t.Errorf("buffer is %q, want %q", got, want)
	}
	if len(r.display.noticed(bridge.NoticeDirect)) != 1 {
		t.Errorf("notices are %v, want one that the agent wrote by itself", r.display.notices)
	}
}
