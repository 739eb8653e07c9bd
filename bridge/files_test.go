package bridge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// editScript reads a file, asks, and writes it with two made TWO.
const editScript = `{"prompts": [{"steps": [
  {"read": {"path": "${cwd}/a.txt", "as": "a"}},
  {"ask": {"toolCall": {"toolCallId": "e", "kind": "edit", "title": "Edit a.txt", "locations": [{"path": "${cwd}/a.txt"}]},
    "then": {"allow": [{"write": {"path": "${cwd}/a.txt", "replace": {"in": "a", "old": "two", "new": "TWO"}, "as": "w"}}, {"say": "[${w.error}]"}],
             "reject": [{"say": "no"}]}}}
]}]}`

func TestUnsavedTextIsReadAndTheWriteIsMerged(t *testing.T) {
	r := newRig(t, editScript)
	path := r.openDirty("a.txt", "one\ntwo\n", "one\ntwo\nthree unsaved\n")
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if err := r.editor.Type(path, func(s string) string { return "ONE typed\n" + strings.TrimPrefix(s, "one\n") }); err != nil {
			return permit.Answer{}, err
		}
		return allow(ctx, c)
	}
	r.turn("edit")
	if got, want := r.buffer(path), "ONE typed\nTWO\nthree unsaved\n"; got != want {
		t.Errorf("buffer is %q, want %q", got, want)
	}
	if got, want := r.disk("a.txt"), "one\ntwo\n"; got != want {
		t.Errorf("disk is %q, want it untouched: %q", got, want)
	}
	if r.said() != "[]" {
		t.Errorf("the agent's write failed: %s", r.said())
	}
}

func TestOverlapIsAConflictThatLosesNothing(t *testing.T) {
	r := newRig(t, editScript)
	path := r.openDirty("a.txt", "one\ntwo\n", "one\ntwo\n!\n")
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if err := r.editor.Type(path, func(s string) string { return strings.Replace(s, "two", "2", 1) }); err != nil {
			return permit.Answer{}, err
		}
		return allow(ctx, c)
	}
	r.turn("edit")
	if got, want := r.buffer(path), "one\n2\n!\n"; got != want {
		t.Errorf("buffer is %q, want what was typed: %q", got, want)
	}
	if !strings.Contains(r.said(), "read it again") {
		t.Errorf("the agent was told %q, want to read again", r.said())
	}
	if len(r.display.noticed(bridge.NoticeConflict)) != 1 {
		t.Errorf("notices are %v, want one conflict", r.display.notices)
	}
}

func TestFencesRefuseWhateverIsAllowed(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/../out.txt", "text": "x", "as": "a"}},
	  {"write": {"path": "${cwd}/.git/hooks/pre-commit", "text": "x", "as": "b"}},
	  {"read": {"path": "${cwd}/.env", "as": "c"}},
	  {"ask": {"toolCall": {"toolCallId": "e", "kind": "edit", "locations": [{"path": "${cwd}/../out.txt"}]}, "then": {"allow": [{"say": "allowed"}], "reject": [{"say": "refused"}]}}},
	  {"say": " ${a.code} ${b.code} ${c.code}"}]}]}`, func(r *rig) { r.config.Mode = "bypassPermissions" })
	r.write(".env", "KEY=1\n")
	r.turn("go")
	if got, want := r.said(), "refused -32010 -32010 -32010"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(r.folder), "out.txt")); !os.IsNotExist(err) {
		t.Errorf("a file outside the region was written: %v", err)
	}
	if got := r.display.noticed(bridge.NoticeRefused); len(got) != 4 {
		t.Errorf("the user was told of %d refusals, want 4: %v", len(got), got)
	}
	if len(r.display.asked) != 0 {
		t.Error("a person was asked about what a fence refuses")
	}
}

func TestAWriteThatNobodyAskedAboutIsAsked(t *testing.T) {
	const script = `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/new/n.txt", "text": "hi\n", "as": "w"}}, {"say": "[${w.error}]"}]}]}`
	for _, test := range []struct {
		name, mode string
		answer     func(ctx, *permit.Card) (permit.Answer, error)
		asked      int
		disk, said string
	}{
		{"allowed", "default", allow, 1, "hi\n", "[]"},
		{"rejected", "default", reject, 1, "", "[Refused by the user through Sallyport]"},
		{"acceptEdits", "acceptEdits", reject, 0, "hi\n", "[]"},
		{"plan", "plan", allow, 0, "", "[Refused by plan mode through Sallyport: plan mode is read only: leave it to change files or run commands]"},
		{"bypass", "bypassPermissions", reject, 0, "hi\n", "[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, script)
			r.display.answer = test.answer
			info, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder, Mode: permit.Mode(test.mode)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.prompt(info.ID, "go"); err != nil {
				t.Fatal(err)
			}
			if got := len(r.display.asked); got != test.asked {
				t.Fatalf("asked %d times, want %d", got, test.asked)
			}
			if test.asked > 0 {
				c := <-r.display.asked
				if len(c.Diffs) != 1 || c.Diffs[0].New != "hi\n" || c.Diffs[0].Old != nil {
					t.Errorf("the card shows %+v, want the new file's diff", c.Diffs)
				}
			}
			if got := r.disk("new/n.txt"); got != test.disk {
				t.Errorf("disk is %q, want %q", got, test.disk)
			}
			if got := r.said(); got != test.said {
				t.Errorf("the agent got %q, want %q", got, test.said)
			}
		})
	}
}

func TestUnsavedDocumentsArePassedOnOrNamed(t *testing.T) {
	big := strings.Repeat("x", 70<<10)
	for _, test := range []struct {
		choice string
		embeds bool
		text   string
		level  bridge.Level
		wire   string // in the prompt's line
		saved  bool
	}{
		{"send", true, "unsaved\n", bridge.Plain, `newer than the file on disk:\n"},{"type":"resource"`, false},
		{"ask", true, "unsaved\n", bridge.Plain, `"type":"resource"`, false}, // this display cannot ask
		{"send", false, "unsaved\n", bridge.Warning, `"prompt":[{"type":"text","text":"go"}]`, false},
		{"send", true, big, bridge.Warning, `"prompt":[{"type":"text","text":"go"}]`, false},
		{"save", true, "unsaved\n", bridge.Plain, `"prompt":[{"type":"text","text":"go"}]`, true},
		{"leave", true, "unsaved\n", bridge.Warning, `"prompt":[{"type":"text","text":"go"}]`, false},
	} {
		t.Run(test.choice+"/"+string(test.level), func(t *testing.T) {
			caps := "{}"
			if test.embeds {
				caps = `{"promptCapabilities": {"embeddedContext": true}}`
			}
			r := newRig(t, `{"capabilities": `+caps+`, "prompts": [{"steps": []}]}`)
			r.config.Unsaved = configUnsaved(test.choice)
			r.openDirty("a.txt", "saved\n", test.text)
			r.openDirty(".env", "A=1\n", "A=2\n") // never passed on
			r.turn("go")
			n := r.display.noticed(bridge.NoticeUnsaved)
			if len(n) != 1 || n[0].Level != test.level || len(n[0].Paths) != 1 || n[0].Paths[0] != r.path("a.txt") {
				t.Fatalf("notices are %+v, want one at level %s about a.txt", n, test.level)
			}
			var prompt string
			for _, line := range r.wire() {
				if strings.Contains(line, "session/prompt") {
					prompt = line
				}
			}
			if !strings.Contains(prompt, test.wire) || strings.Contains(prompt, "A=2") {
				t.Errorf("the prompt was %.300s, want %s in it", prompt, test.wire)
			}
			if saved := r.disk("a.txt") == test.text; saved != test.saved {
				t.Errorf("saved is %v, want %v", saved, test.saved)
			}
		})
	}
}

func TestDirectWritesAreTold(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"toolCall": {"toolCallId": "d", "kind": "edit", "title": "Edit", "status": "in_progress", "locations": [{"path": "${cwd}/a.txt"}]}},
	  {"directWrite": {"path": "${cwd}/a.txt", "text": "x\n"}},
	  {"toolUpdate": {"toolCallId": "d", "status": "completed"}},
	  {"toolCall": {"toolCallId": "m", "kind": "edit", "title": "Edit", "status": "in_progress", "locations": [{"path": "${cwd}/b.txt"}]}},
	  {"write": {"path": "${cwd}/b.txt", "text": "y\n"}},
	  {"toolUpdate": {"toolCallId": "m", "status": "completed"}}]}]}`)
	r.turn("go")
	n := r.display.noticed(bridge.NoticeDirect)
	if len(n) != 1 || len(n[0].Paths) != 1 || n[0].Paths[0] != r.path("a.txt") {
		t.Errorf("told of direct writes: %+v, want a.txt alone", n)
	}
}
