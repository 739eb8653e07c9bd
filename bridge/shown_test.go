package bridge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge"
)

// TestAPermissionIsForWhatWasShown: the diff of a.txt was shown, b.txt was only
// listed, and the second write of a.txt is another one.
func TestAPermissionIsForWhatWasShown(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"ask": {"toolCall": {"toolCallId": "e", "kind": "edit", "title": "Edit a.txt", "locations": [{"path": "${cwd}/a.txt"}, {"path": "${cwd}/b.txt"}],
	     "content": [{"type": "diff", "path": "${cwd}/a.txt", "oldText": "old\n", "newText": "shown\n"}]}}},
	  {"write": {"path": "${cwd}/a.txt", "text": "shown\n"}},
	  {"write": {"path": "${cwd}/b.txt", "text": "unseen\n"}},
	  {"write": {"path": "${cwd}/a.txt", "text": "other\n"}}]}]}`)
	r.write("a.txt", "old\n")
	r.turn("go")
	var asked []string
	for len(r.display.asked) > 0 {
		c := <-r.display.asked
		asked = append(asked, filepath.Base(c.Diffs[0].Path)+" "+strings.TrimSpace(c.Diffs[0].New))
	}
	if got, want := strings.Join(asked, ", "), "a.txt shown, b.txt unseen, a.txt other"; got != want {
		t.Errorf("asked about %s, want %s", got, want)
	}
}

// TestAWriteIsShownAsItWillBe: one that waits for another is shown behind it.
func TestAWriteIsShownAsItWillBe(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"parallel": [
	  [{"write": {"path": "${cwd}/a.txt", "text": "one\n"}}],
	  [{"write": {"path": "${cwd}/a.txt", "text": "two\n"}}]]}]}]}`)
	r.write("a.txt", "old\n")
	r.turn("go")
	for _, want := range []string{"old\n one\n", "one\n two\n"} {
		c := <-r.display.asked
		if got := *c.Diffs[0].Old + " " + c.Diffs[0].New; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
	}
}

// TestNoticesWaitForReady: a client cannot place a word about a session that it
// does not know.
func TestNoticesWaitForReady(t *testing.T) {
	r := newRig(t, `{"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "a"}]}}`,
		func(r *rig) { setModes(r, map[string]string{"default": "missing"}) })
	ready := -1
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder, Ready: func(bridge.Info) { ready = len(r.display.noticed(bridge.NoticePosture)) }}); err != nil {
		t.Fatal(err)
	}
	if n := len(r.display.noticed(bridge.NoticePosture)); ready != 0 || n != 1 {
		t.Errorf("%d notices before Ready and %d in all, want 0 and 1", ready, n)
	}
}

// TestDirectWritesByOtherNames: what counts is the file. The agent names it
// through a link, with dots, relative to the folder, by a URI, or, in its last
// words, by its bare name.
func TestDirectWritesByOtherNames(t *testing.T) {
	const call = `{"toolCall": {"toolCallId": "m", "kind": "edit", "status": "in_progress", "locations": [{"path": "LOCATION"}]}}`
	for _, test := range []struct{ name, write, location, last, told string }{
		{"through a link", "${cwd}/real/a.txt", "${cwd}/link/a.txt", "", ""},
		{"with dots", "${cwd}/real/a.txt", "${cwd}/real/../real/./a.txt", "", ""},
		{"relative", "${cwd}/real/a.txt", "real/a.txt", "", ""},
		{"by a URI", "${cwd}/real/a.txt", "file://${cwd}/real/a.txt", "", ""},
		{"by its bare name at last", "${cwd}/real/a.txt", "${cwd}/real/a.txt", "a.txt", ""},
		{"relative, and never through us", "", "real/a.txt", "", "real/a.txt"},
		{"another file", "${cwd}/real/a.txt", "${cwd}/real/b.txt", "", "real/b.txt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			steps := strings.Replace(call, "LOCATION", test.location, 1)
			if test.write != "" {
				steps += `, {"write": {"path": "` + test.write + `", "text": "x"}}`
			}
			last := ""
			if test.last != "" {
				last = `, "content": [{"type": "diff", "path": "` + test.last + `", "newText": "x"}]`
			}
			steps += `, {"toolUpdate": {"toolCallId": "m", "status": "completed"` + last + `}}`
			r := newRig(t, `{"prompts": [{"steps": [`+steps+`]}]}`)
			r.config.Mode = "acceptEdits"
			r.write("real/a.txt", "")
			if err := os.Symlink(r.path("real"), r.path("link")); err != nil {
				t.Skipf("no links here: %v", err)
			}
			r.turn("go")
			var told []string
			for _, n := range r.display.noticed(bridge.NoticeDirect) {
				told = append(told, n.Paths...)
			}
			want := ""
			if test.told != "" {
				want = r.path(test.told)
			}
			if got := strings.Join(told, ", "); got != want {
				t.Errorf("told of %q, want %q", got, want)
			}
		})
	}
}

// TestPostureIsLoweredBySight, once, for reads as for writes.
func TestPostureIsLoweredBySight(t *testing.T) {
	const direct = `{"toolCall": {"toolCallId": "w", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/a.txt"}]}},
	  {"toolCall": {"toolCallId": "r", "kind": "read", "status": "completed", "locations": [{"path": "${cwd}/b.txt"}]}}`
	r := newRig(t, `{"prompts": [{"steps": [`+direct+`]}, {"steps": [`+direct+`]}]}`, mediated)
	info := r.open()
	if p := info.Posture; p.Reads != bridge.Mediated || p.Writes != bridge.Mediated {
		t.Fatalf("the posture begins as %+v", p)
	}
	for range 2 {
		if _, err := r.prompt(info.ID, "go"); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := r.Info(info.ID)
	if p := now.Posture; p.Reads != bridge.Observed || p.Writes != bridge.Observed || !strings.Contains(p.Sentence, "writes files itself") {
		t.Errorf("the posture is %+v, want observed", p)
	}
	if n := r.display.noticed(bridge.NoticePosture); len(n) != 1 {
		t.Errorf("told %d times: %v", len(n), n)
	}
}

// TestAProjectThatIsALink: the editor names its files through the link, the
// agent by where they are.
func TestAProjectThatIsALink(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"read": {"path": "${cwd}/new.txt", "as": "n"}}, {"say": "${a}${n}"},
	  {"directWrite": {"path": "here", "text": "x"}}]}]}`)
	link := filepath.Join(filepath.Dir(r.folder), "link")
	if err := os.Symlink(r.folder, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	r.write("a.txt", "saved\n")
	for name, text := range map[string]string{"a.txt": "unsaved\n", "new.txt": "new\n"} {
		path := filepath.Join(link, name)
		if err := r.editor.Documents.Open("file://"+filepath.ToSlash(path), "text", 1, text); err != nil {
			t.Fatal(err)
		}
	}
	info, err := r.New(r.ctx(), bridge.NewSession{Folder: link})
	if err != nil {
		t.Fatal(err)
	}
	r.config.Unsaved = configUnsaved("leave")
	if _, err := r.prompt(info.ID, "go"); err != nil {
		t.Fatal(err)
	}
	if got := r.said(); got != "unsaved\nnew\n" || r.disk("here") != "x" {
		t.Errorf("the agent read %q, and works in another folder: %v", got, r.disk("here") != "x")
	}
}
