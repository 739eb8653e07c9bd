package bridge_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/workspace/watch"
)

// opened writes a file and opens it.
func (r *rig) opened(name, text string) string {
	r.t.Helper()
	path := r.write(name, text)
	if err := r.editor.Open(path); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// becomes waits until a document has a text.
func (r *rig) becomes(path, want string) {
	r.t.Helper()
	r.poll("the text "+want, func() bool { return r.buffer(path) == want })
}

func (r *rig) dirty(path string) bool {
	d, _ := r.editor.Documents.Get(path)
	return d.Dirty
}

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

// A clean document has what the agent wrote on the disk when the turn is over, and
// nothing unsaved; nobody said that it would be written.
func TestA6_DirectWritesComeIntoCleanDocuments(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"shell": "printf '2\\n' > a.txt && mkdir -p d && mv b.txt d/c.txt"}]}]}`)
	a, b := r.opened("a.txt", "1\n"), r.opened("b.txt", "b\n")
	r.turn("go")
	if got := r.buffer(a); got != "2\n" || r.dirty(a) {
		t.Errorf("buffer is %q, dirty %t", got, r.dirty(a))
	}
	if got := r.buffer(b); got != "b\n" {
		t.Errorf("the buffer of what was moved is %q", got)
	}
	gone := r.display.noticed(bridge.NoticeDisk)
	if len(gone) != 1 || !strings.Contains(gone[0].Text, "b.txt was deleted") {
		t.Errorf("notices are %+v, want one of the deleted file", gone)
	}
}

// What is written while a turn runs is in the documents before its end: in what
// was open before, and in what was opened then.
func TestDirectWritesComeWhileTheTurnRuns(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"shell": "printf 'a2\\n' > a.txt; while ! test -e go1; do sleep 0.02; done; printf 'b2\\n' > sub/b.txt; while ! test -e go2; do sleep 0.02; done"}]}]}`)
	a := r.opened("a.txt", "a1\n")
	r.write("sub/b.txt", "b1\n")
	ends := r.start(r.open().ID, "go")
	r.becomes(a, "a2\n")
	b := r.path("sub/b.txt")
	if err := r.editor.Open(b); err != nil {
		t.Fatal(err)
	}
	r.write("go1", "")
	r.becomes(b, "b2\n")
	r.write("go2", "")
	if e := r.end(ends); e.err != nil {
		t.Errorf("the turn: %v", e.err)
	}
}

// What passes through us is no news: nothing is told, and no second step made.
func TestMediatedWritesDoNotEcho(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"write": {"path": "${cwd}/a.txt", "text": "2\n"}},
	  {"write": {"path": "${cwd}/new.txt", "text": "new\n"}}, {"write": {"path": "${cwd}/b.txt", "text": "agent\n"}}]}]}`)
	r.config.Mode = "acceptEdits"
	a, b := r.opened("a.txt", "1\n"), r.openDirty("b.txt", "b\n", "agent\n")
	r.turn("go")
	for _, path := range []string{a, b} {
		d, _ := r.editor.Documents.Get(path)
		if want := map[string]int32{a: 2, b: 2}[path]; d.Version != want {
			t.Errorf("%s has version %d, want %d", path, d.Version, want)
		}
	}
	if got := append(r.display.noticed(bridge.NoticeDisk), r.display.noticed(bridge.NoticeDirect)...); len(got) > 0 {
		t.Errorf("told %+v", got)
	}
}

// What happens outside of turns comes in too when it is asked for, and is told
// once, however often that is.
func TestRefreshOutsideOfTurns(t *testing.T) {
	r := newRig(t, `{}`)
	clean, merged := r.opened("clean.txt", "1\n"), r.openDirty("merged.txt", "a\nb\nc\n", "A\nb\nc\n")
	conflict, gone := r.openDirty("conflict.txt", "a\n", "typed\n"), r.opened("gone.txt", "1\n")
	r.write("clean.txt", "2\n")
	r.write("merged.txt", "a\nb\nC\n")
	r.write("conflict.txt", "agent\n")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Refresh(t.Context())
	}
	for path, want := range map[string]string{clean: "2\n", merged: "A\nb\nC\n", conflict: "typed\n", gone: "1\n"} {
		if got := r.buffer(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	var told []string
	for _, n := range append(r.display.noticed(bridge.NoticeConflict), r.display.noticed(bridge.NoticeDisk)...) {
		told = append(told, n.Text)
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{"merged.txt changed on the disk, and that was merged", "conflict.txt changed on the disk where", "both are kept", "gone.txt was deleted"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("told\n%s\nwant once: %s", all, want)
		}
	}
	if len(told) != 3 {
		t.Errorf("told %q", told)
	}
	// Another state of the file is told again.
	r.write("conflict.txt", "agent again\n")
	r.Refresh(t.Context())
	if got := r.display.noticed(bridge.NoticeConflict); len(got) != 2 {
		t.Errorf("told %d times, want 2", len(got))
	}
	if got := r.disk("conflict.txt"); got != "agent again\n" {
		t.Errorf("the disk has %q", got)
	}
}

// A link to what agents may not read, where a file was that is open, brings
// nothing into the editor: an agent could read it there.
func TestRefreshBringsNoSecretIn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"shell": "ln -sf \"$PWD/.env\" a.txt"}]}]}`)
	r.write(".env", "SECRET=1\n")
	a := r.opened("a.txt", "1\n")
	r.turn("go")
	r.Refresh(t.Context())
	if got := r.buffer(a); got != "1\n" {
		t.Errorf("the buffer has %q", got)
	}
	if got := r.display.noticed(bridge.NoticeDisk); len(got) != 1 || !strings.Contains(got[0].Text, "closed to agents") {
		t.Errorf("told %+v, want that it is not brought in", got)
	}
}

func TestN2_LimitsAreToldOnce(t *testing.T) {
	r := newRig(t, `{}`)
	r.WatchLimited(watch.ErrMaxFolders) // open documents' folders are watched all the same
	r2 := newRig(t, `{}`)
	for range 3 {
		r2.WatchLimited(errors.New("no space left on device"))
	}
	if a, b := r.display.noticed(bridge.NoticeConfig), r2.display.noticed(bridge.NoticeConfig); len(a) != 0 || len(b) != 1 {
		t.Errorf("told %+v and %+v, want nothing and one", a, b)
	}
}

// A bridge that closes does not wait for an editor.
func TestRefreshEndsWithTheBridge(t *testing.T) {
	r := newRig(t, `{}`)
	r.opened("a.txt", "1\n")
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.write("a.txt", "2\n")
	r.Refresh(context.Background())
}
