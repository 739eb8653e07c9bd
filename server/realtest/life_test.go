package realtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// politeEnd: shutdown and exit end the server, the agent and its commands.
func politeEnd(t *testing.T, s *stage) {
	before := s.now.info
	s.leave(t)
	s.raise(t)
	s.now.info = before // what is loaded next
}

// earlier are words of the first act that only the history has.
const earlier = "I will create the file."

// loaded: another server, another process of the agent, the same session.
func loaded(t *testing.T, s *stage) {
	id := s.now.info.AgentID
	if s.row.Life.List = s.now.info.Capabilities.List; s.row.Life.List {
		var list wire.ListResult
		s.call(t, wire.MethodList, wire.ListParams{Agent: s.agent.ID}, &list)
		if !slices.ContainsFunc(list.Stored, func(x wire.StoredSession) bool { return x.ID == id }) {
			t.Errorf("the agent's list does not have %s: %+v", id, list.Stored)
		}
	}
	if !s.now.info.Capabilities.Load {
		t.Fatal("the agent loads no sessions")
	}
	if err := s.load(t, id); err != nil {
		t.Fatalf("%v\n%s", err, s.now.stderr)
	}
	s.now.ed.Look(func(seen *servertest.Seen) {
		for _, u := range seen.Updates {
			if !u.Replay && strings.Contains(string(u.Update), earlier) {
				t.Errorf("history was told as if it happened now: %+v", u)
			}
		}
		if len(seen.Asked) > 0 || len(seen.Edits) > 0 {
			t.Errorf("history asked or changed something: %+v %+v", seen.Asked, seen.Edits)
		}
	})
	s.row.Life.Loaded = s.remembers(t, earlier)
}

// loadedTwice: the session is closed and loaded once more.
func loadedTwice(t *testing.T, s *stage) {
	id := s.now.info.AgentID
	s.call(t, wire.MethodClose, wire.SessionParams{Session: s.now.info.ID}, &wire.Empty{})
	err := s.load(t, id)
	if err == nil {
		s.row.Life.Twice = s.remembers(t, earlier)
		return
	}
	// The agent has it no more: it removes what it loaded before when it starts.
	var said *rpc.Error
	var data wire.ErrorData
	if !errors.As(err, &said) || json.Unmarshal(said.Data, &data) != nil || data.Kind != wire.ErrorAgent {
		t.Errorf("%v\n%s", err, s.now.stderr)
	}
}

// load loads a session, waits until its history has been told, and makes it
// the stage's. After an error the stage has a new one.
func (s *stage) load(t *testing.T, id string) error {
	t.Helper()
	before := 0
	s.now.ed.Look(func(seen *servertest.Seen) { before = len(seen.Updates) })
	params := wire.LoadParams{Agent: s.agent.ID, ID: id, Replay: true}
	if err := s.now.ed.Call(s.ctx(t), wire.MethodLoad, params, &s.now.info); err != nil {
		s.begun(t)
		return fmt.Errorf("loading %s: %w", id, err)
	}
	if s.now.info.AgentID != id {
		t.Errorf("loaded %s, want %s", s.now.info.AgentID, id)
	}
	s.told(t, before, earlier)
	return nil
}

// told waits until history that holds words has been told, after the first at
// updates.
func (s *stage) told(t *testing.T, at int, words string) {
	t.Helper()
	var all strings.Builder
	err := s.now.ed.Until(s.ctx(t), func(seen *servertest.Seen) bool {
		for ; at < len(seen.Updates); at++ {
			var x struct {
				Content struct {
					Text string `json:"text"`
				} `json:"content"`
			}
			if u := seen.Updates[at]; u.Replay && rpc.Unmarshal(u.Update, &x) == nil {
				all.WriteString(x.Content.Text)
			}
		}
		return strings.Contains(all.String(), words)
	})
	if err != nil {
		t.Fatalf("waiting for the history: %v\n%s", err, s.now.stderr)
	}
}

// remembers plays a plain turn and reports whether the model was told bridgetest.Words of
// an earlier one.
func (s *stage) remembers(t *testing.T, words string) bool {
	t.Helper()
	d := s.play(t, "text", allow)
	s.ended(t, d, "end_turn")
	return strings.Contains(d.told.Rest, words)
}
