package bridge_test

import (
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
)

// history is told by session/load: a text, an edit, a permission, a write.
const history = `{"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "old"}}},
  {"toolCall": {"toolCallId": "c", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/a.txt"}]}},
  {"ask": {"toolCall": {"toolCallId": "c9", "kind": "edit"}, "then": {"allow": [{"say": "ALLOWED"}]}}},
  {"write": {"path": "${cwd}/a.txt", "text": "WRITTEN"}}`

// TestReadyComesBeforeTheHistory: the client knows the session by then.
func TestReadyComesBeforeTheHistory(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"before": [`+history+`]}}}`)
	var ready bridge.Info
	shown := -1
	info, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true, Ready: func(i bridge.Info) {
		ready, shown = i, len(r.display.kinds())
		if _, err := r.Info(i.ID); err != nil {
			t.Errorf("the session is not known in Ready: %v", err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if shown != 0 || ready.ID != info.ID || ready.AgentID != "s" || !ready.Capabilities.Load {
		t.Errorf("Ready came after %d updates with %+v", shown, ready)
	}
	if n := len(r.display.kinds()); n != 2 {
		t.Errorf("%d updates of history, want 2", n)
	}
}

// TestAPromptWaitsForTheHistory: what comes while session/load runs is history,
// whatever else was asked.
func TestAPromptWaitsForTheHistory(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"before": [{"sleep": 300}, `+history+`]}}, "prompts": [{"steps": [{"say": "now"}]}]}`)
	ends := make(chan (<-chan ending), 1)
	_, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true, Ready: func(i bridge.Info) {
		ends <- r.start(i.ID, "go")
	}})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.end(<-ends); e.err != nil || e.StopReason != "end_turn" {
		t.Fatalf("the turn ended with %+v", e)
	}
	for _, u := range r.display.updates {
		if now := strings.Contains(u.raw, `"now"`); u.replay == now {
			t.Errorf("%s: history is %v", u.raw, u.replay)
		}
	}
	if len(r.display.updates) != 3 || r.disk("a.txt") != "" {
		t.Errorf("updates are %+v, the disk has %q", r.display.updates, r.disk("a.txt"))
	}
}

// TestHistoryIsNotToldTwice (K7): a session that is opened again has its history
// on the screen already. What comes after it is action.
func TestHistoryIsNotToldTwice(t *testing.T) {
	for name, agent := range map[string]string{
		"before the answer": `"on": {"session/load": {"before": [` + history + `]}}`,
		// gemini answers first; the sleep is what a machine under load puts between
		"after the answer": `"agent": {"name": "gemini-cli", "version": "0.61.0"},
		   "on": {"session/load": {"after": [` + history + `, {"sleep": 100}, {"toolCall": {"toolCallId": "c2", "kind": "edit", "status": "completed", "locations": [{"path": "${cwd}/b.txt"}]}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `{"capabilities": {"loadSession": true}, `+agent+`, "prompts": [
			  {"match": "first", "steps": [{"say": "one"}]},
			  {"match": "second", "steps": [{"toolCall": {"toolCallId": "t", "kind": "execute", "title": "run"}}, `+asks+`, {"write": {"path": "${cwd}/n.txt", "text": "n"}}]}]}`)
			info := r.open()
			if _, err := r.prompt(info.ID, "first"); err != nil {
				t.Fatal(err)
			}
			r.Sweep(time.Now().Add(2 * time.Hour))
			if e, err := r.prompt(info.ID, "second"); err != nil || e.StopReason != "end_turn" {
				t.Fatalf("the turn ended with %+v, %v", e, err)
			}
			if got, want := strings.Join(r.display.kinds(), " "), "agent_message_chunk tool_call agent_message_chunk"; !strings.HasPrefix(got, want) {
				t.Errorf("shown: %s, want %s first", got, want)
			}
			for _, u := range r.display.updates {
				if u.replay || strings.Contains(u.raw, "old") {
					t.Errorf("told as history: %+v", u)
				}
			}
			if r.said() != "oneallowed" || r.disk("n.txt") != "n" {
				t.Errorf("said %q and wrote %q, want the permission and the write of the second turn", r.said(), r.disk("n.txt"))
			}
			if r.disk("a.txt") != "" || len(r.display.noticed(bridge.NoticeDirect)) != 0 {
				t.Errorf("history was action: %q, %v", r.disk("a.txt"), r.display.notices)
			}
			if n := r.display.noticed(bridge.NoticeNew); len(n) != 1 || n[0].Level != bridge.Plain {
				t.Errorf("notices are %+v, want that it was loaded again", n)
			}
		})
	}
}

// TestANewConversationTakesNoUnsavedTextBack: what the agent before had read is
// no base of what this one writes from the disk.
func TestANewConversationTakesNoUnsavedTextBack(t *testing.T) {
	r := newRig(t, `{"prompts": [
	  {"match": "read", "steps": [{"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"exit": 0}]},
	  {"match": "write", "steps": [{"directRead": {"path": "${cwd}/a.txt", "as": "a"}}, {"write": {"path": "${cwd}/a.txt", "replace": {"in": "a", "old": "two", "new": "TWO"}}}]}]}`)
	path := r.openDirty("a.txt", "one\ntwo\n", "one\ntwo\nunsaved\n")
	info := r.open()
	if _, err := r.prompt(info.ID, "read"); err == nil {
		t.Fatal("the agent did not end")
	}
	if _, err := r.prompt(info.ID, "write"); err != nil {
		t.Fatal(err)
	}
	if got, want := r.buffer(path), "one\nTWO\nunsaved\n"; got != want {
		t.Errorf("buffer is %q, want %q", got, want)
	}
}

// TestLoadAsksForASignIn: as session/new does (K4).
func TestLoadAsksForASignIn(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "authMethods": [{"id": "a", "name": "Key"}],
	  "on": {"session/load": [{"answer": {"error": {"code": -32000, "message": "sign in \u001b[2J"}}}, {"answer": {"result": {}}}]}}`)
	_, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true})
	if auth, ok := err.(*bridge.AuthError); !ok || len(auth.Methods) != 1 || strings.Contains(err.Error(), "\x1b") {
		t.Fatalf("got %v, want a sign-in, harmless to a terminal", err)
	}
	if err := r.Authenticate(r.ctx(), "fake", r.folder, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true}); err != nil {
		t.Errorf("after the sign-in: %v", err)
	}
	if n := r.heard("initialize"); n != 1 || len(r.Live()) != 1 {
		t.Errorf("%d agents were started and %d sessions live, want one of each", n, len(r.Live()))
	}
}
