package realtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
	"sallyport/plugins/harness"
)

// The official client with each agent: plain turn, new file, edit of a dirty
// buffer, our commands and options, permission, refusal, cancel, a write outside,
// load, and its death in mid-command. The project ends as it does with the agent
// alone.
func TestOfficialClient(t *testing.T) {
	each(t, func(t *testing.T, id string) {
		s := newStage(t, id)
		s.isDefault(t)
		p := s.plays(t, s.guarded(t))
		s.files(t, p)
		s.ours(t, p)
		s.rejects(t, func(script string) int { return p.play(t, script).Asked })
		if r := p.ends(t, "allow"); r.Asked == 0 {
			t.Error("allow: nobody was asked")
		}
		p.play(t, "outside")
		s.nothingOutside(t)
		if r := p.play(t, "cancel"); r.Stop != "cancelled" {
			t.Errorf("cancel: ended with %q", r.Stop)
		}
		p.ends(t, "load", "plain answer") // all six offer it
		p.begin(t, "killed")
		s.inCommand(t)
		p.kill()
		s.family.Gone(t, nothingLeft)
		s.checkWires(t, cutShort)
		s.sameAsAlone(t)
	})
}

// files plays the scenes in which files are written.
func (s *stage) files(t *testing.T, p *player) {
	t.Helper()
	p.ends(t, "plain", "plain answer")
	p.ends(t, "write")
	if got := s.disk(t, "created.txt"); got != "one\ntwo\n" {
		t.Errorf("write: created.txt is %q", got)
	}
	made := bridgetest.Look(t, s.Project)
	p.ends(t, "undo", "is taken back")
	if _, err := os.Lstat(s.path("created.txt")); err == nil {
		t.Error("undo: created.txt is still there")
	}
	p.ends(t, "redo", "is done again")
	if c := made.Changed(bridgetest.Look(t, s.Project)); len(c) > 0 {
		t.Errorf("redo: these are not as the turn left them: %q", c)
	}
	// Agents that edit through the client change its buffer; others the disk, where
	// the client's unsaved text is not, as without us.
	if r := p.ends(t, "edit"); !strings.Contains(r.Buffer+s.disk(t, "notes.txt"), "BETA") || !strings.Contains(r.Buffer, "UNSAVED") {
		t.Errorf("edit: buffer %q, disk %q", r.Buffer, s.disk(t, "notes.txt"))
	}
}

// ours plays our commands that change nothing, and the options.
func (s *stage) ours(t *testing.T, p *player) {
	t.Helper()
	p.ends(t, "turns", "can be taken back", "undo", "redo")
	p.ends(t, "posture", "reads ", "writes ", "commands ")
	p.ends(t, "receipt", "Turn ", "end_turn", "notes.txt")
	r := p.play(t, "options")
	if !slices.Contains(r.Options, "sallyport.agent") || !slices.Contains(r.Answered, "sallyport.agent") {
		t.Errorf("options: session/new had %q, and the last answer %q", r.Options, r.Answered)
	}
}

// sameAsAlone plays the scenes that change files with the agent alone, and compares
// the whole project.
func (s *stage) sameAsAlone(t *testing.T) {
	t.Helper()
	alone := newStage(t, s.agent.ID)
	alone.env = append(alone.env, alone.agent.Environ(alone.ear.URL)...)
	for name, value := range s.manifest(t).ACP.Environment.Env { // Codex is to ask a person here, too
		alone.env = append(alone.env, name+"="+value)
	}
	// Gemini CLI asks for a file before it makes it, takes no error for an answer, and
	// then makes none; without us only a client that calls it empty gets one.
	alone.env = append(alone.env, "MISSING_IS_EMPTY=1")
	p := alone.plays(t, append([]string{alone.program()}, alone.agent.Args...))
	for _, scene := range []string{"plain", "write", "edit", "allow"} {
		p.ends(t, scene)
	}
	p.kill()
	alone.end(t)
	got, want := bridgetest.Look(t, s.Project), bridgetest.Look(t, alone.Project)
	// This client saves what it is given. Through us that is its unsaved text with the
	// edit in it, without us only agents that edit through the client give it that.
	for _, tree := range []bridgetest.Tree{got, want} {
		tree["notes.txt"] = strings.Replace(tree["notes.txt"], " UNSAVED", "", 1)
	}
	for _, name := range got.Changed(want) {
		t.Errorf("%s is %s, and without us %s", name, got.At(name), want.At(name))
	}
}

// manifest is how Sallyport starts the agent.
func (s *stage) manifest(t *testing.T) *harness.Harness {
	t.Helper()
	set, _, err := harness.Load(harness.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := set.Get(s.agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
