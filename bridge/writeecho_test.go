package bridge_test

import (
	"testing"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
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

// TestAnEchoIsNoMediatedWrite: what such an agent wrote by itself is on the
// receipt as declared, and the user is told, although its text came through us too.
func TestAnEchoIsNoMediatedWrite(t *testing.T) {
	r := newRig(t, `{"agent": {"name": "OpenCode", "version": "1.18.33"}, "prompts": [{"steps": [
	    {"toolCall": {"toolCallId": "e", "kind": "edit", "status": "pending", "locations": [{"path": "${cwd}/a.txt"}]}},
	    {"ask": {"toolCall": {"toolCallId": "e", "kind": "edit", "title": "Edit", "locations": [{"path": "${cwd}/a.txt"}],
	      "content": [{"type": "diff", "path": "${cwd}/a.txt", "oldText": "one\n", "newText": "two\n"}]}}},
	    {"write": {"path": "${cwd}/a.txt", "text": "two\n"}},
	    {"directWrite": {"path": "${cwd}/a.txt", "text": "two\n"}},
	    {"toolUpdate": {"toolCallId": "e", "status": "completed", "content": [{"type": "diff", "path": "${cwd}/a.txt", "oldText": "one\n", "newText": "two\n"}]}}]}]}`)
	keeping(r)
	r.display.answer = allow
	r.write("a.txt", "one\n")
	result, err := r.prompt(r.open().ID, "edit")
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Changes) != 1 || result.Changes[0].By != receipt.ByDeclared {
		t.Errorf("the changes are %+v, want one that the agent declared", result.Changes)
	}
	if len(r.display.noticed(bridge.NoticeDirect)) != 1 {
		t.Errorf("notices are %v, want one that the agent wrote by itself", r.display.notices)
	}
}
