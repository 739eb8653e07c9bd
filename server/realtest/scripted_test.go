package realtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
	"sallyport/server/wire"
	"sallyport/workspace/turns"
)

// scripted is a stage whose agent does what a script of fakeagent says, with an
// editor that has our plugin or not, and a session.
func scripted(t *testing.T, plain bool, script string) *stage {
	t.Helper()
	s := &stage{Place: bridgetest.NewPlace(t), agent: bridgetest.Agent{ID: "scripted"}, plain: plain, ear: &bridgetest.Ear{}, row: &Row{}}
	s.family = bridgetest.NewFamily(t, s.Place)
	s.env = s.Environ()
	path := s.Write(t, "script.json", script)
	config, err := json.Marshal(map[string]any{"agent": "scripted", "agents": map[string]any{
		"scripted": map[string]any{"command": "'" + program + "' fake-agent '" + path + "'"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Write(t, "home/.config/sallyport/config.json", string(config))
	t.Cleanup(func() {
		if s.now != nil {
			_ = s.now.process.Process.Kill() // it may be gone
			s.now.ed.Wait()
		}
	})
	return s
}

// editors runs a test with an editor that has our plugin and with one that has
// not.
func editors(t *testing.T, script string, f func(*testing.T, *stage)) {
	for name, plain := range map[string]bool{"plugin": false, "plain": true} {
		t.Run(name, func(t *testing.T) { f(t, scripted(t, plain, script)) })
	}
}

// show opens a file in the editor with the text it has on the disk, and then has
// the user type at its end.
func (s *stage) show(t *testing.T, name, disk, typed string) {
	t.Helper()
	s.put(t, name, disk)
	if err := s.now.ed.Open(s.uri(name), disk); err != nil {
		t.Fatal(err)
	}
	if typed == "" {
		return
	}
	if err := s.now.ed.Type(s.uri(name), len(disk), len(disk), typed); err != nil {
		t.Fatal(err)
	}
}

// standing checks a document and its file.
func (s *stage) standing(t *testing.T, when, name, buffer, disk string) {
	t.Helper()
	if got := s.now.ed.Text(s.uri(name)); got != buffer {
		t.Errorf("%s the buffer of %s is %q, want %q", when, name, got, buffer)
	}
	if got := s.disk(t, name); got != disk {
		t.Errorf("%s the file %s is %q, want %q", when, name, got, disk)
	}
}

// takeBack is an undo or a redo from the editor.
func (s *stage) takeBack(t *testing.T, method string, p wire.UndoParams) (done wire.Undone) {
	t.Helper()
	s.call(t, method, p, &done)
	return done
}

// pathsOf are the paths of a part of an undo; one that was changed on the disk
// and in a document is there once.
func pathsOf(list []turns.PathState) (all []string) {
	for _, p := range list {
		all = append(all, p.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// did checks the parts of an undo.
func did(t *testing.T, what string, got wire.Undone, done, conflicts string) {
	t.Helper()
	if d, c := strings.Join(pathsOf(got.Done), " "), strings.Join(pathsOf(got.Conflicts), " "); d != done || c != conflicts {
		t.Errorf("%s did %q and left %q, want %q and %q: %+v", what, d, c, done, conflicts, got)
	}
}

// M13: what a turn wrote into buffers and onto the disk is taken back in both.
// A buffer that was dirty before gets its dirty text again.
func TestM13_BuffersAndFilesGoBack(t *testing.T) {
	const script = `{"prompts": [{"steps": [
		{"write": {"path": "${cwd}/a.txt", "text": "a changed\n"}},
		{"directWrite": {"path": "${cwd}/b.txt", "text": "b changed\n"}},
		{"read": {"path": "${cwd}/c.txt", "as": "c"}},
		{"write": {"path": "${cwd}/c.txt", "replace": {"in": "c", "old": "c\n", "new": "C\n"}}},
		{"write": {"path": "${cwd}/d.txt", "text": "d\n"}},
		{"write": {"path": "${cwd}/e.txt", "text": "e changed\n"}}]}]}`
	editors(t, script, func(t *testing.T, s *stage) {
		s.raise(t)
		s.show(t, "a.txt", "a\n", "")
		s.show(t, "b.txt", "b\n", "")
		s.show(t, "c.txt", "c\n", "typed\n")
		s.put(t, "e.txt", "e\n")
		s.begun(t)
		d := s.play(t, "go", allow)
		s.holds(t, d)
		saved := "a changed\n"
		if s.plain {
			saved = "a\n" // LSP has no message that saves
		}
		s.standing(t, "after the turn", "a.txt", "a changed\n", saved)
		s.standing(t, "after the turn", "b.txt", "b changed\n", "b changed\n")
		s.standing(t, "after the turn", "c.txt", "C\ntyped\n", "c\n")
		after := s.look(t)

		done := s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{})
		did(t, "the undo of "+d.Turn, done, "a.txt b.txt c.txt d.txt e.txt", "")
		s.standing(t, "after the undo", "a.txt", "a\n", "a\n")
		s.standing(t, "after the undo", "b.txt", "b\n", "b\n")
		s.standing(t, "after the undo", "c.txt", "c\ntyped\n", "c\n")
		for name, text := range map[string]string{"d.txt": missing, "e.txt": "e\n"} {
			if got := s.disk(t, name); got != text {
				t.Errorf("after the undo %s is %q, want %q", name, got, text)
			}
		}
		for name, dirty := range map[string]bool{"a.txt": false, "b.txt": false, "c.txt": true} {
			if s.now.ed.Dirty(s.uri(name)) != dirty && !s.plain {
				t.Errorf("after the undo %s is dirty: %t, want %t", name, !dirty, dirty)
			}
		}

		again := s.takeBack(t, wire.MethodTurnRedo, wire.UndoParams{})
		did(t, "the redo", again, "a.txt b.txt c.txt d.txt e.txt", "")
		s.standing(t, "after the redo", "a.txt", "a changed\n", saved)
		s.standing(t, "after the redo", "c.txt", "C\ntyped\n", "c\n")
		same(t, "after the redo", s.look(t), after)
		s.leave(t)
	})
}

// M12: what the user changed after the turn, saved or not, is a conflict: shown,
// left alone, taken back only by force, and then to be had again.
func TestM12_WhatChangedSinceIsAConflict(t *testing.T) {
	const script = `{"prompts": [{"steps": [
		{"directWrite": {"path": "${cwd}/a.txt", "text": "of the agent\n"}},
		{"directWrite": {"path": "${cwd}/b.txt", "text": "of the agent\n"}}]}]}`
	for _, saved := range []bool{true, false} {
		name := map[bool]string{true: "saved", false: "not saved"}[saved]
		t.Run(name, func(t *testing.T) {
			editors(t, script, func(t *testing.T, s *stage) {
				s.raise(t)
				s.show(t, "a.txt", "before\n", "")
				s.put(t, "b.txt", "before\n")
				s.begun(t)
				d := s.play(t, "go", allow)
				s.standing(t, "after the turn", "a.txt", "of the agent\n", "of the agent\n")
				const mine = "of the agent\nmine\n"
				if err := s.now.ed.Type(s.uri("a.txt"), len("of the agent\n"), len("of the agent\n"), "mine\n"); err != nil {
					t.Fatal(err)
				}
				disk := "of the agent\n"
				if saved {
					if err := s.now.ed.Save(s.uri("a.txt")); err != nil {
						t.Fatal(err)
					}
					disk = mine
				}
				dry := s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: d.Turn}, DryRun: true})
				if !dry.DryRun || dry.Turn != "" || len(dry.Conflicts) != 1 || dry.Conflicts[0].Path != "a.txt" || dry.Conflicts[0].Why == "" || !dry.Conflicts[0].Forceable {
					t.Errorf("a dry run says %+v", dry)
				}
				if !slices.ContainsFunc(dry.Diffs, func(f wire.FileDiff) bool {
					return f.Path == "b.txt" && strings.Contains(f.Unified, "-of the agent\n+before\n")
				}) {
					t.Errorf("a dry run shows %+v", dry.Diffs)
				}
				s.standing(t, "after a dry run", "a.txt", mine, disk)

				done := s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: d.Turn}})
				did(t, "the undo", done, "b.txt", "a.txt")
				s.standing(t, "after the undo", "a.txt", mine, disk)
				if got := s.disk(t, "b.txt"); got != "before\n" {
					t.Errorf("b.txt is %q", got)
				}

				forced := s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: d.Turn}, Force: true})
				did(t, "by force it", forced, "a.txt", "")
				if got := s.now.ed.Text(s.uri("a.txt")); got != "before\n" {
					t.Errorf("by force the buffer is %q", got)
				}
				back := s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{TurnParams: wire.TurnParams{Turn: forced.Turn}})
				did(t, "taking the forced undo back", back, "a.txt", "")
				s.standing(t, "after that was taken back", "a.txt", mine, disk)
				s.leave(t)
			})
		})
	}
}

// M15 and M5: neither git's variables nor its settings have to do with it.
func TestM15_M5_GitHasNoPartInIt(t *testing.T) {
	s := scripted(t, false, `{"prompts": [{"steps": [
		{"write": {"path": "${cwd}/made.txt", "text": "made\n"}},
		{"directWrite": {"path": "${cwd}/edited.txt", "text": "v2\n"}},
		{"shell": "rm deleted.txt && printf 'v2\\n' > shell.txt && chmod 755 shell.txt && ln -sfn made.txt link"}]}]}`)
	s.repository(t)
	git := s.machinery(t)
	decoy := s.Write(t, "decoy/HEAD", "ref: refs/heads/main\n")
	plain := slices.Clone(s.env)
	s.env = append(s.env, "GIT_DIR="+decoy[:len(decoy)-len("/HEAD")], "GIT_WORK_TREE="+s.Temp, "GIT_INDEX_FILE="+decoy, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true")
	s.raise(t)
	s.env = plain
	s.begun(t)
	before := s.look(t)
	d := s.play(t, "go", allow)
	if got := before.Changed(s.look(t)); !slices.Equal(got, touched) {
		t.Fatalf("the turn changed %q, want %q", got, touched)
	}
	did(t, "the undo of "+d.Turn, s.takeBack(t, wire.MethodTurnUndo, wire.UndoParams{}), strings.Join(touched, " "), "")
	same(t, "after the undo", s.look(t), before)
	same(t, "after the undo, git's", s.machinery(t), git)
	if raw, err := os.ReadFile(decoy); err != nil || string(raw) != "ref: refs/heads/main\n" {
		t.Errorf("the other repository's HEAD is %q, %v", raw, err)
	}
	s.leave(t)
}
