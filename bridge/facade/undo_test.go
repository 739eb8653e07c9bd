package facade_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

const writes = `{"prompts":[{"match":"write","steps":[
	{"ask":{"toolCall":{"toolCallId":"call-1","kind":"edit","title":"edit","content":[{"type":"diff","path":"${cwd}/a.txt","oldText":"one\n","newText":"ONE\n"}]}}},
	{"read":{"path":"${cwd}/a.txt","as":"old"}},
	{"write":{"path":"${cwd}/a.txt","replace":{"in":"old","old":"one","new":"ONE"}}},
	{"toolUpdate":{"toolCallId":"call-1","status":"completed"}},
	{"directWrite":{"path":"${cwd}/new.txt","text":"made\n"}}]}]}`

// decides has the client's user allow everything, and answer an undo by an option.
func (r *rig) decides(undo string) {
	r.answers("session/request_permission", func(p jsontext.Value) string {
		option := "allow"
		if strings.Contains(string(p), `"take_back"`) {
			option = undo
		}
		return `"result":{"outcome":{"outcome":"selected","optionId":` + quote(option) + `}}`
	})
}

// An undo is shown as the diffs of a tool call, asked about, done through the
// client, and can be taken back.
func TestUndoAndRedo(t *testing.T) {
	r := newRig(t, writes)
	r.decides("take_back")
	r.disk("a.txt", "one\ntwo\n")
	r.setBuffer("a.txt", "one\ntwo\n")
	session := r.open()
	r.turn(session, "write")
	if got := r.buffer("a.txt") + r.onDisk("new.txt"); got != "ONE\ntwo\nmade\n" {
		t.Fatalf("the turn left %q", got)
	}
	r.turn(session, "/undo")
	said := strings.Join(r.updates(), "\n")
	if got := r.buffer("a.txt"); got != "one\ntwo\n" {
		t.Errorf("after /undo the client has %q; said %s", got, said)
	}
	if got := r.onDisk("new.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("new.txt is still there: %q", got)
	}
	for _, want := range []string{`"sessionUpdate":"tool_call","toolCallId":"sallyport-undo-`, `"type":"diff"`, `"oldText":"ONE\ntwo\n","newText":"one\ntwo\n"`, `"status":"completed"`, "is taken back"} {
		if !strings.Contains(said, want) {
			t.Errorf("/undo did not say %s:\n%s", want, said)
		}
	}
	r.turn(session, "/redo")
	if got := r.buffer("a.txt") + r.onDisk("new.txt"); got != "ONE\ntwo\nmade\n" {
		t.Errorf("after /redo: %q; said %s", got, strings.Join(r.updates(), "\n"))
	}
	for _, command := range []string{"/turns", "/posture", "/receipt"} {
		r.turn(session, command)
	}
	said = strings.Join(r.updates(), "\n")
	for _, want := range []string{"can be taken back", "reads observed, writes", "receipt"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	checkAuthored(t, r)
}

func TestUndo_RefusedByItsUserChangesNothing(t *testing.T) {
	r := newRig(t, writes)
	r.decides("keep")
	r.disk("a.txt", "one\n")
	session := r.open()
	r.turn(session, "write")
	r.turn(session, "/undo")
	if got := r.onDisk("a.txt"); got != "ONE\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// A command that is cancelled while its user is asked ends as a turn does, and does
// nothing.
func TestUndo_Cancelled(t *testing.T) {
	for _, by := range []string{"session/cancel", "$/cancel_request"} {
		t.Run(by, func(t *testing.T) {
			r := newRig(t, writes)
			asked := make(chan struct{}, 1)
			r.answers("session/request_permission", func(p jsontext.Value) string {
				if strings.Contains(string(p), `"take_back"`) {
					asked <- struct{}{}
					return ""
				}
				return `"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`
			})
			r.disk("a.txt", "one\n")
			session := r.open()
			r.turn(session, "write")
			id := r.prompt(session, "/undo")
			<-asked
			r.notify(by, `{"sessionId":`+quote(session)+`,"requestId":`+id+`}`)
			if got := member(t, r.result(id), "stopReason"); got != "cancelled" {
				t.Errorf("it ended with %s", got)
			}
			if got := r.onDisk("a.txt"); got != "ONE\n" {
				t.Errorf("a.txt is %q", got)
			}
			checkAuthored(t, r)
		})
	}
}

// checkAuthored validates what we author against ACP's own schema.
func checkAuthored(t *testing.T, r *rig) {
	t.Helper()
	o := schema(t, "schema.json")
	r.mu.Lock()
	lines := append([]string(nil), r.lines...)
	r.mu.Unlock()
	for _, l := range lines {
		m, err := rpc.Scan([]byte(l))
		if err != nil {
			t.Fatal(err)
		}
		def := ""
		switch string(m.Method) {
		case "session/update":
			if ours(m) {
				def = "SessionNotification"
			}
		case "session/request_permission":
			def = "RequestPermissionRequest"
		case "fs/read_text_file":
			def = "ReadTextFileRequest"
		case "fs/write_text_file":
			def = "WriteTextFileRequest"
		}
		if def == "" {
			continue
		}
		if err := o.check(def, string(m.Params)); err != nil {
			t.Errorf("%s: %v\n%s", def, err, m.Params)
		}
	}
}

// A client that names its folder by a link has its buffers under that name, while
// the record and some agents have the folder's own.
func TestFolderBehindALink_IsNamedAsTheClientDoes(t *testing.T) {
	r := newRig(t, strings.ReplaceAll(writes, "${cwd}/a.txt", "${cwd}/../p/a.txt"))
	link := filepath.Join(filepath.Dir(r.folder), "link")
	if err := os.Symlink(r.folder, link); err != nil {
		t.Fatal(err)
	}
	r.decides("take_back")
	r.disk("a.txt", "one\ntwo\n")
	name := filepath.Join(link, "a.txt")
	r.files[name] = "one\ntwo unsaved\n"
	r.call("initialize", hello)
	session := member(t, r.call("session/new", `{"cwd":`+quote(link)+`,"mcpServers":[]}`), "sessionId")
	r.turn(session, "write")
	if got, want := r.files[name], "ONE\ntwo unsaved\n"; got != want {
		t.Errorf("the client's buffer is %q, want %q", got, want)
	}
	r.turn(session, "/undo")
	if got, want := r.files[name], "one\ntwo\n"; got != want { // the client saved what it was given
		t.Errorf("after /undo the client has %q, want %q", got, want)
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, `"type":"diff","path":`+quote(name)) || strings.Contains(said, `"path":`+quote(filepath.Join(r.folder, "a.txt"))) {
		t.Errorf("the diff does not name %s: %s", name, said)
	}
}

// An agent learns which turns were taken back, and not by which tool calls that is shown.
func TestUndo_ToolCallIsNotGuessed(t *testing.T) {
	r := newRig(t, writes)
	r.decides("keep")
	r.disk("a.txt", "one\n")
	session := r.open()
	r.turn(session, "write")
	ids := map[string]bool{}
	for range 2 {
		id := `"undo"` // the client may use one id again
		seen := len(r.updates())
		r.write1(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":` + quote(session) + `,"prompt":[{"type":"text","text":"/undo"}]}}`)
		r.turn(session, "/posture") // behind it
		for _, u := range r.updates()[seen:] {
			if id := memberOf([]byte(u), "toolCallId"); memberOf([]byte(u), "sessionUpdate") == "tool_call" {
				ids[id] = true
			}
		}
	}
	if len(ids) != 2 {
		t.Errorf("two undos of a turn are shown as %v", ids)
	}
}

// newSaveless makes a client that saves nothing by itself, and whose user agrees to all.
func newSaveless(t *testing.T) *rig {
	r := newRig(t, writes)
	r.decides("take_back")
	r.answers("fs/write_text_file", func(p jsontext.Value) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.files[memberOf(p, "path")] = memberOf(p, "content")
		return `"result":{}`
	})
	r.disk("a.txt", "one\ntwo\n")
	return r
}

// A client that saves nothing by itself: what a turn left unsaved there is on the
// record, and is taken back with the rest.
func TestUndoAndRedo_OfTextThatIsNotSaved(t *testing.T) {
	r := newSaveless(t)
	session := r.open()
	stands := func(when, buffer, made string) {
		t.Helper()
		if got := r.onDisk("a.txt"); got != "one\ntwo\n" {
			t.Errorf("%s: the disk has %q", when, got)
		}
		if r.buffer("a.txt") != buffer || !strings.Contains(r.onDisk("new.txt"), made) {
			t.Errorf("%s: the client has %q, new.txt %q; said %s", when, r.buffer("a.txt"), r.onDisk("new.txt"), strings.Join(r.updates(), "\n"))
		}
	}
	r.turn(session, "write")
	stands("after the turn", "ONE\ntwo\n", "made")
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "this turn changed new.txt, a.txt") {
		t.Errorf("what changed is told as %s", said)
	}
	r.turn(session, "/undo")
	stands("after /undo", "one\ntwo\n", "no such file")
	r.turn(session, "/redo")
	stands("after /redo", "ONE\ntwo\n", "made")
}

// Text that its user had not saved before the agent wrote there is not taken for the
// agent's.
func TestUndo_OfTextThatWasNotSavedBefore(t *testing.T) {
	r := newSaveless(t)
	r.setBuffer("a.txt", "one\ntwo\nmine\n")
	session := r.open()
	r.turn(session, "write")
	r.turn(session, "/undo")
	if got := r.buffer("a.txt"); got != "ONE\ntwo\nmine\n" {
		t.Errorf("the client has %q", got)
	}
	if said := strings.Join(r.updates(), "\n"); !strings.Contains(said, "may be the user's own change") {
		t.Errorf("it is not told what was left: %s", said)
	}
}
