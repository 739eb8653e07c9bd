package realtest

import (
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/wire"
)

// found: the server knows the agent, its version, and what would hold.
func found(t *testing.T, s *stage) {
	var list wire.AgentsResult
	s.call(t, wire.MethodAgents, wire.AgentsParams{}, &list)
	for _, a := range list.Agents {
		if a.ID != s.agent.ID {
			continue
		}
		if !a.Available || a.Program.Version != s.agent.Version || !a.Program.Tested {
			t.Errorf("the server says %+v, want version %s, available and tested", a, s.agent.Version)
		}
		s.row.Agent.Name = a.Name
		return
	}
	t.Errorf("the server does not know %s", s.agent.ID)
}

// begun begins a session.
func (s *stage) begun(t *testing.T) {
	t.Helper()
	s.call(t, wire.MethodNew, wire.NewParams{Agent: s.agent.ID}, &s.now.info)
	if s.now.info.Folder != s.Project || s.now.info.Agent != s.agent.ID || s.now.info.AgentID == "" {
		t.Fatalf("the session is %+v", s.now.info)
	}
}

func plain(t *testing.T, s *stage) {
	d := s.play(t, "text", allow)
	s.ended(t, d, "end_turn")
	if got, want := d.said(), "Hello from the scripted model. This is a plain answer."; got != want {
		t.Errorf("the agent said %q, want %q", got, want)
	}
	if len(d.seen.Asked) > 0 {
		t.Errorf("a person was asked: %s", d)
	}
	noticed(t, d)
}

func newFile(t *testing.T, s *stage) {
	const text = "one\ntwo\n"
	d := s.play(t, "new", allow)
	s.ended(t, d, "end_turn")
	_, diff := s.editCard(t, d, "Write", "created.txt")
	if diff.New != text || diff.Old != nil && *diff.Old != "" {
		t.Errorf("the card's diff is %+v, want a new file with %q", diff, text)
	}
	byUser(t, d, "allow_once")
	s.row.Asks.Edit = true // editCard demands it
	if got := s.disk(t, "created.txt"); got != text {
		t.Errorf("the disk has %q, want %q", got, text)
	}
	if len(d.notices(bridge.NoticeDirect)) > 0 {
		noticed(t, d, bridge.NoticeDirect)
		s.directly(t, d, "created.txt")
	} else {
		noticed(t, d)
	}
}

// readUnsaved: a dirty buffer is sent along with the prompt, and the agent is
// made to read the file.
func readUnsaved(t *testing.T, s *stage) {
	const disk, typed = "alpha\nbeta\ngamma\n", "nowhere but in the editor\n"
	s.open(t, "notes.txt", disk, typed)
	defer s.close(t, "notes.txt")
	d := s.play(t, "read", allow)
	s.ended(t, d, "end_turn")
	noticed(t, d, bridge.NoticeUnsaved)
	if n := d.notices(bridge.NoticeUnsaved); len(n) == 1 && n[0].Text != "sent along unsaved: notes.txt" {
		t.Errorf("the notice says %q", n[0].Text)
	}
	s.row.Files.Sent = strings.Contains(d.told.Rest, strings.TrimSpace(typed))
	s.row.Files.Reads = Disk
	if strings.Contains(d.told.Tools, strings.TrimSpace(typed)) {
		s.row.Files.Reads = Buffer
	}
	if !s.row.Files.Sent && s.row.Files.Reads != Buffer {
		t.Error("the model was told nothing of the unsaved text")
	}
	s.texts(t, "notes.txt", disk+typed, disk)
}

// texts checks a buffer and its file.
func (s *stage) texts(t *testing.T, name, buffer, disk string) {
	t.Helper()
	if got := s.now.ed.Text(s.uri(name)); got != buffer {
		t.Errorf("the buffer of %s is %q, want %q", name, got, buffer)
	}
	if got := s.disk(t, name); got != disk {
		t.Errorf("the disk's %s is %q, want %q", name, got, disk)
	}
}

// typing answers an edit's card after the user has typed into the file.
func (s *stage) typing(t *testing.T, name string, start, end int, text string) func(wire.PermissionParams) string {
	return func(c wire.PermissionParams) string {
		if c.Request.Kind == permit.Edit {
			if err := s.now.ed.Type(s.uri(name), start, end, text); err != nil {
				t.Error(err)
			}
		}
		return allow(c)
	}
}

// editWhileTyping: the file is open with unsaved text, and while the card is
// open the user goes on typing elsewhere in it.
func editWhileTyping(t *testing.T, s *stage) {
	const disk, unsaved, typed = "alpha\nbeta\ngamma\n", "delta unsaved\n", "typed meanwhile\n"
	const edited = "alpha\nBETA\ngamma\n"
	s.open(t, "notes.txt", disk, unsaved)
	defer s.close(t, "notes.txt")
	d := s.play(t, "edit", s.typing(t, "notes.txt", 0, 0, typed))
	s.ended(t, d, "end_turn")
	_, diff := s.editCard(t, d, "Edit", "notes.txt")
	byUser(t, d, "allow_once")
	s.row.Asks.Diff = diffOf(t, diff, disk, disk+unsaved)
	onDisk := disk
	if s.disk(t, "notes.txt") == edited { // it wrote by itself
		onDisk = edited
		s.row.Files.Writes = Disk
		noticed(t, d, bridge.NoticeUnsaved, bridge.NoticeDirect)
		s.directly(t, d, "notes.txt")
	} else {
		s.row.Files.Writes = Buffer
		noticed(t, d, bridge.NoticeUnsaved)
	}
	if len(d.seen.Edits) != 1 {
		t.Errorf("the buffer was changed in %d steps, want one to undo: %+v", len(d.seen.Edits), d.seen.Edits)
	}
	s.texts(t, "notes.txt", typed+edited+unsaved, onDisk)
}

// wrote reports whether the editor was given an edit.
func wrote(d turn) bool { return len(d.seen.Edits) > 0 }

// diffOf says what a card showed of beta becoming BETA.
func diffOf(t *testing.T, d permit.Diff, disk, buffer string) string {
	t.Helper()
	old := ""
	if d.Old != nil {
		old = *d.Old
	}
	if strings.Replace(old, "beta", "BETA", 1) != d.New || old == d.New {
		t.Errorf("the card shows %q becoming %q, want beta becoming BETA", old, d.New)
	}
	switch old {
	case buffer:
		return "whole buffer"
	case disk:
		return "whole file on disk"
	default:
		return "fragment"
	}
}

// editUnsaved: the text to be changed is in the buffer and not on the disk.
func editUnsaved(t *testing.T, s *stage) {
	const disk, unsaved = "alpha\n", "only in the buffer\n"
	s.open(t, "draft.txt", disk, unsaved)
	defer s.close(t, "draft.txt")
	d := s.play(t, "unsaved", allow)
	s.ended(t, d, "end_turn")
	noticed(t, d, bridge.NoticeUnsaved)
	want := disk + unsaved
	s.row.Files.Edits = Disk
	if wrote(d) {
		s.row.Files.Edits = Buffer
		want = disk + "changed by the agent\n"
		s.editCard(t, d, "Edit", "draft.txt")
		byUser(t, d, "allow_once")
	}
	s.texts(t, "draft.txt", want, disk)
}

// editOverlap: while the card is open the user changes the very words that the
// agent wants to change. The user's stay.
func editOverlap(t *testing.T, s *stage) {
	const disk, unsaved = "alpha\nbeta\ngamma\n", "delta unsaved\n"
	s.open(t, "plan.txt", disk, unsaved)
	defer s.close(t, "plan.txt")
	d := s.play(t, "overlap", s.typing(t, "plan.txt", len("alpha\n"), len("alpha\nbeta"), "my own words"))
	s.ended(t, d, "end_turn")
	byUser(t, d, "allow_once")
	if wrote(d) {
		t.Errorf("the buffer was changed: %+v", d.seen.Edits)
	}
	onDisk := disk
	if s.row.Files.Writes == Disk {
		onDisk = "alpha\nBETA\ngamma\n"
		s.directly(t, d, "plan.txt")
		if len(d.notices(bridge.NoticeConflict)) == 0 {
			t.Errorf("the user was not told that both texts differ: %s", d)
		}
	}
	s.texts(t, "plan.txt", "alpha\nmy own words\ngamma\n"+unsaved, onDisk)
}
