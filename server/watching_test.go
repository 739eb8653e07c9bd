package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// watchful is a rig with a real bridge and no agent.
func watchful(r *rig) *rig {
	b := &bridge.Bridge{Home: bridge.Home{Config: func(string) (*config.Config, error) { return config.Default(), nil }}}
	r.srv.Sessions = func(d bridge.Display, e workspace.Editor, docs *workspace.Documents) bridge.Sessions {
		b.Display, b.Editor = d, e
		r.ss.Editor, r.ss.Docs = e, docs
		return b
	}
	return r.start()
}

// file writes a file in the folder and opens it.
func (r *rig) file(name, content string) (uri, path string) {
	r.Helper()
	r.put(name, content)
	return r.open(name, content)
}

// put writes a file as another program does.
func (r *rig) put(name, content string) {
	r.Helper()
	if err := os.WriteFile(r.ed.Folder+"/"+name, []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) becomes(uri, want string) {
	r.Helper()
	r.until("the text is "+want, func(*servertest.Seen) bool { return r.ed.TextLocked(uri) == want })
}

func (r *rig) clean(path string) {
	r.Helper()
	if doc, _ := r.ss.Docs.Get(path); doc.Dirty || doc.Loaded.Behind {
		r.Errorf("the document is %+v, want a clean one", doc)
	}
}

func (r *rig) edits() (n int) {
	r.ed.Look(func(s *servertest.Seen) { n = len(s.Edits) })
	return n
}

func (r *rig) said(part string) (n int) {
	r.ed.Look(func(s *servertest.Seen) {
		for _, m := range s.Messages {
			n += strings.Count(m, part)
		}
		for _, x := range s.Notices {
			n += strings.Count(x.Text, part)
		}
	})
	return n
}

// A program that is none of ours writes the file of an open document, and no turn
// runs: the document has its text, and nothing unsaved.
func TestAnotherProgramWrites(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		watchful(r)
		uri, path := r.file("a.txt", "one\ntwo\n")
		for i := range 3 {
			want := fmt.Sprintf("one\ntwo %d\n", i)
			r.put("a.txt", want)
			r.becomes(uri, want)
			r.sync()
			r.clean(path)
		}
		if n := r.edits(); n != 3 {
			r.ed.Look(func(s *servertest.Seen) { t.Errorf("%d edits, want 3: %+v", n, s.Edits) })
		}
		told := func() int { return r.said("a.txt changed on disk and is edited to match") }
		if r.ed.Plugin == nil {
			r.until("it is told", func(s *servertest.Seen) bool { return len(s.Messages) > 0 })
		}
		if plain := r.ed.Plugin == nil; plain && told() != 1 || !plain && told() != 0 {
			t.Errorf("told %d times", told())
		}
		r.ed.Look(func(s *servertest.Seen) {
			if i := slices.IndexFunc(s.Disks, func(d wire.ApplyDisk) bool { return d != wire.ApplyHolds }); i >= 0 {
				t.Errorf("the edits say of the file %q", s.Disks)
			}
		})
	})
}

// Unsaved text is merged with, and where that cannot be both texts are kept, which
// is told once.
func TestAnotherProgramWritesUnderUnsavedText(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		watchful(r)
		uri, path := r.file("a.txt", "one\ntwo\nthree\n")
		if err := r.ed.Type(uri, 0, 3, "typed"); err != nil {
			t.Fatal(err)
		}
		r.put("a.txt", "one\ntwo\nTHREE\n")
		r.becomes(uri, "typed\ntwo\nTHREE\n")
		r.put("a.txt", "agent\ntwo\nTHREE\n")
		r.until("the conflict is told", func(s *servertest.Seen) bool {
			return strings.Contains(fmt.Sprint(s.Messages, s.Notices), "both are kept")
		})
		r.sync()
		if got := r.ed.Text(uri); got != "typed\ntwo\nTHREE\n" {
			t.Errorf("the text is %q", got)
		}
		if doc, _ := r.ss.Docs.Get(path); !doc.Dirty {
			t.Error("the document counts as saved")
		}
		r.ed.Look(func(s *servertest.Seen) {
			if r.ed.Plugin != nil && !slices.Equal(s.Disks, []wire.ApplyDisk{wire.ApplyTakenIn}) {
				t.Errorf("the edits say of the file %q", s.Disks)
			}
		})
	})
}

// refresh asks once, as a turn does, or as nobody who waits.
func (r *rig) refresh(path string, hurry bool) workspace.Became {
	r.Helper()
	policy, err := fence.New(r.ed.Folder, fence.Rules{})
	if err != nil {
		r.Fatal(err)
	}
	files := &workspace.Files{Editor: r.ss.Editor, Policy: policy}
	do := files.RefreshLater
	if hurry {
		do = files.Refresh
	}
	got, err := do(r.ctx, path)
	if err != nil {
		r.Fatal(err)
	}
	return got.Became
}

// Neovim is roused and loads the file, which closes and opens the document there:
// nothing is edited. Where it is not set up for that it is given the text only while
// a turn runs: it loads the file when it gets the focus, and asks the user then if
// the buffer is modified.
func TestNeovimLoadsFilesByItself(t *testing.T) {
	for _, test := range []struct {
		name         string
		roused, turn bool
		want         workspace.Became
		edits        int
	}{
		{"set up", true, false, workspace.Reloaded, 0},
		{"set up, in a turn", true, true, workspace.Reloaded, 0},
		{"not set up", false, false, workspace.Left, 0},
		{"not set up, in a turn", false, true, workspace.Reloaded, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t)
			r.ed.Name = "Neovim"
			r.start()
			uri, path := r.file("a.txt", "1\n")
			done := make(chan struct{})
			go func() {
				defer close(done)
				r.until("it is roused", func(s *servertest.Seen) bool { return s.Ends() > 0 })
				if test.roused {
					_ = r.ed.Close(uri)
					_ = r.ed.Open(uri, "2\n")
				}
			}()
			r.put("a.txt", "2\n")
			got := r.refresh(path, test.turn)
			<-done
			if got != test.want || r.edits() != test.edits {
				t.Errorf("became %q with %d edits, want %q with %d", got, r.edits(), test.want, test.edits)
			}
			if test.want == workspace.Reloaded {
				r.clean(path)
			}
		})
	}
}

// The editor's own save is no news, also when the file is seen before didSave.
func TestOwnSavesAreNoNews(t *testing.T) {
	editors(t, func(t *testing.T, r *rig) {
		watchful(r)
		uri, path := r.file("a.txt", "1\n")
		for i := range 3 {
			if err := r.ed.Type(uri, 0, 0, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
			r.put("a.txt", r.ed.Text(uri))
			if err := r.ed.Save(uri); err != nil {
				t.Fatal(err)
			}
		}
		r.put("b.txt", "1\n")
		other, _ := r.open("b.txt", "1\n")
		r.put("b.txt", "2\n") // when this is in, what came before was looked at
		r.becomes(other, "2\n")
		if n := r.edits(); n != 1 {
			t.Errorf("%d edits, want only the other document's", n)
		}
		r.clean(path)
	})
}

// A document that is closed is not watched any more, and one in a folder that does
// not exist is no harm.
func TestWatchingFollowsTheDocuments(t *testing.T) {
	r := watchful(plugin(t))
	uri, _ := r.file("a.txt", "1\n")
	if err := os.Mkdir(r.ed.Folder+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	other, _ := r.file("sub/b.txt", "1\n")
	if err := r.ed.Close(uri); err != nil {
		t.Fatal(err)
	}
	r.open("none/c.txt", "c\n")
	r.put("a.txt", "2\n")
	r.put("sub/b.txt", "2\n")
	r.becomes(other, "2\n")
	if n := r.edits(); n != 1 {
		t.Errorf("%d edits, want one", n)
	}
}

// An editor that asks its user something takes no edits meanwhile (Neovim). When it
// is heard of again what had to wait is brought in.
func TestEditorThatIsBusy(t *testing.T) {
	r := watchful(plugin(t))
	uri, _ := r.file("a.txt", "one\ntwo\n")
	r.ed.SetHabits(func(h *servertest.Habits) { h.Edits = servertest.Busy })
	r.put("a.txt", "one\nTWO\n")
	r.until("the edit is given up", func(s *servertest.Seen) bool { return s.Cancels > 0 })
	if err := r.ed.Type(uri, 0, 0, "typed\n"); err != nil {
		t.Fatal(err)
	}
	r.becomes(uri, "typed\none\nTWO\n")
	if n := r.said("a.txt"); n != 0 {
		t.Errorf("told %d times", n)
	}
}

// A file that is saved by a rename over it is noticed each time, and an agent that
// reads it has its text at once, noticed or not.
func TestN1_RenameOver(t *testing.T) {
	r := watchful(plugin(t))
	uri, path := r.file("a.txt", "0\n")
	policy, err := fence.New(r.ed.Folder, fence.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	files := &workspace.Files{Editor: r.ss.Editor, Policy: policy}
	for i := range 3 {
		want := fmt.Sprintf("%d\n", i+1)
		r.put("a.txt~", want)
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
		if got, err := files.Read(r.ctx, path, 0, 0); err != nil || got.Text != want {
			t.Errorf("an agent reads %q, %v; want %q", got.Text, err, want)
		}
		r.becomes(uri, want)
	}
	r.sync()
	r.clean(path)
}
