package workspace_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/workspacetest"
)

func (s *session) refresh(name string) workspace.Refreshed {
	s.t.Helper()
	r, err := s.Refresh(s.t.Context(), s.path(name))
	s.must(err)
	return r
}

// direct writes a file as an agent does with its own tools.
func (s *session) direct(name, content string) {
	s.t.Helper()
	s.must(os.WriteFile(s.path(name), []byte(content), 0o644))
}

// What the file was when it was opened, what the user made of the buffer, what the agent
// made of the file, and what the buffer holds then.
func TestRefresh(t *testing.T) {
	const conflict workspace.Became = "conflict"
	tests := []struct {
		name, loaded, user, disk string
		want                     string
		became                   workspace.Became
	}{
		{"clean", "a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n", workspace.Reloaded},
		{"clean and the same", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", workspace.Same},
		{"clean and emptied", "a\n", "a\n", "", "", workspace.Reloaded},
		{"clean with CRLF", "a\r\nb\r\n", "a\r\nb\r\n", "A\r\nb\r\n", "A\r\nb\r\n", workspace.Reloaded},
		{"elsewhere", "a\nb\nc\n", "A typed\nb\nc\n", "a\nb\nC\n", "A typed\nb\nC\n", workspace.Merged},
		{"the same change", "a\nb\n", "A\nb\n", "A\nb\n", "A\nb\n", workspace.Same},
		{"the agent changed nothing", "a\nb\n", "a\nb\ntyped\n", "a\nb\n", "a\nb\ntyped\n", workspace.Same},
		{"the same lines", "a\nb\n", "typed\nb\n", "agent\nb\n", "typed\nb\n", conflict},
		{"CRLF", "a\r\nb\r\n", "a\r\nb\r\ntyped\r\n", "A\nb\n", "A\r\nb\r\ntyped\r\n", workspace.Merged},
		{"an editor that shows LF", "a\nb\n", "a\nb\ntyped\n", "A\r\nb\r\n", "A\nb\ntyped\n", workspace.Merged},
		{"only line endings", "a\nb\n", "a\nb\n", "a\r\nb\r\n", "a\nb\n", workspace.Left},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.open("f", tt.loaded)
			s.must(s.editor.Set(s.path("f"), tt.user))
			s.direct("f", tt.disk)
			before := s.editor.Steps(s.path("f"))
			for round := range 2 { // the second does nothing more
				r, err := s.Refresh(t.Context(), s.path("f"))
				var overlap *workspace.ConflictError
				if errors.As(err, &overlap) != (tt.became == conflict) || err != nil && tt.became != conflict {
					t.Fatalf("Refresh: %v", err)
				}
				want := tt.became
				if want == conflict || round > 0 && want != workspace.Left {
					want = workspace.Same
				}
				if r.Became != want {
					t.Errorf("round %d: became %q, want %q", round, r.Became, want)
				}
			}
			s.wantBuffer("f", tt.want)
			s.wantDisk("f", tt.disk)
			if dirty := tt.user != tt.loaded && tt.want != tt.disk; s.dirty("f") != dirty {
				t.Errorf("dirty %t, want %t", s.dirty("f"), dirty)
			}
			steps := 0
			if tt.became == workspace.Merged || tt.became == workspace.Reloaded {
				steps = 1
			}
			if got := s.editor.Steps(s.path("f")) - before; got != steps {
				t.Errorf("%d steps to undo, want %d", got, steps)
			}
			if len(s.record) > 0 {
				t.Errorf("recorded %+v", s.record)
			}
		})
	}
}

// A second write comes in as the first did, also where the user has changed what the first
// brought, and what the user took back of it stays away.
func TestRefreshAgainAndAgain(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("f", "a\nb\nc\n")
	s.must(s.editor.Set(s.path("f"), "typed\na\nb\nc\n"))
	s.direct("f", "a\nB\nc\n")
	s.refresh("f")
	s.must(s.editor.Type(s.path("f"), "B", "mine"))
	s.direct("f", "a\nB\nC\n")
	if r := s.refresh("f"); r.Became != workspace.Merged {
		t.Errorf("became %q", r.Became)
	}
	s.wantBuffer("f", "typed\na\nmine\nC\n")
	if !s.dirty("f") {
		t.Error("the document counts as saved")
	}
	// Whoever asks next knows as much: nothing comes twice.
	other := &workspace.Files{Editor: s.editor, Policy: s.Policy}
	if r, err := other.Refresh(t.Context(), s.path("f")); err != nil || r.Became != workspace.Same {
		t.Errorf("another session: %+v, %v", r, err)
	}
	// What is on disk now is what unsaved text is measured by.
	s.must(s.editor.Set(s.path("f"), "a\nB\nC\n"))
	if s.dirty("f") {
		t.Error("a document like its file counts as unsaved")
	}
}

// A look at every open document, as at the end of each turn, goes no further where a file
// is what its document was loaded from.
func TestFileChanged(t *testing.T) {
	tests := []struct {
		name string
		turn func(s *session)
		want bool
	}{
		{"nothing was written", func(*session) {}, false},
		{"the same was written", func(s *session) { s.direct("f", "a\nb\n") }, false},
		{"other line endings", func(s *session) { s.direct("f", "a\r\nb\r\n") }, true},
		{"written", func(s *session) { s.direct("f", "A\nb\n") }, true},
		{"written and brought in", func(s *session) { s.direct("f", "A\nb\n"); s.refresh("f") }, false},
		{"written as the buffer is", func(s *session) { s.direct("f", "a\nb\ntyped\n") }, false},
		{"deleted", func(s *session) { s.must(os.Remove(s.path("f"))) }, true},
		{"no text", func(s *session) { s.direct("f", "a\x00\xff\n") }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.open("f", "a\nb\n")
			s.must(s.editor.Set(s.path("f"), "a\nb\ntyped\n"))
			tt.turn(s)
			s.wantFileChanged("f", tt.want)
		})
	}
	s := start(t, fence.Rules{})
	s.must(s.editor.Show(s.path("new"), "typed\n"))
	s.wantFileChanged("new", false)
	s.direct("new", "agent\n")
	s.wantFileChanged("new", true)
}

func (s *session) wantFileChanged(name string, want bool) {
	s.t.Helper()
	doc, open, err := s.editor.Text(s.t.Context(), s.path(name))
	s.must(err)
	if got := doc.FileChanged(); !open || got != want {
		s.t.Errorf("%s: open %t, its file changed %t; want %t", name, open, got, want)
	}
}

func TestRefreshOfWhatIsNoText(t *testing.T) {
	tests := []struct {
		name string
		turn func(s *session, path string) error
		want workspace.Became
	}{
		{"deleted", func(_ *session, path string) error { return os.Remove(path) }, workspace.Gone},
		{"binary", func(_ *session, path string) error { return os.WriteFile(path, []byte("a\x00\xff\n"), 0o644) }, workspace.Kept},
		{"another encoding", func(_ *session, path string) error { return os.WriteFile(path, []byte("\xff\xfea\x00"), 0o644) }, workspace.Kept},
		{"a folder", func(_ *session, path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
		}, workspace.Kept},
		{"as large as nothing is read", func(_ *session, path string) error { return os.Truncate(path, 10<<30) }, workspace.Kept},
		{"larger than is read", func(s *session, path string) error {
			s.MaxRead = 10
			return os.WriteFile(path, []byte(strings.Repeat("a\n", 6)), 0o644)
		}, workspace.Kept},
	}
	for _, tt := range tests {
		for name, text := range map[string]string{"clean": "a\n", "dirty": "typed\n"} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				s := start(t, fence.Rules{})
				s.open("f", "a\n")
				s.must(s.editor.Set(s.path("f"), text))
				s.must(tt.turn(s, s.path("f")))
				if r := s.refresh("f"); r.Became != tt.want {
					t.Errorf("became %q, want %q", r.Became, tt.want)
				}
				s.wantBuffer("f", text)
				// When it is back all is as usual.
				s.must(os.RemoveAll(s.path("f")))
				s.direct("f", "a\nb\n")
				s.MaxRead = 0
				want := "a\nb\n"
				r, err := s.Refresh(t.Context(), s.path("f"))
				if text == "a\n" && (err != nil || r.Became != workspace.Reloaded) {
					t.Errorf("when it is back: %+v, %v", r, err)
				}
				if text != "a\n" {
					want = text // the file's line is the one that was typed into, or beside it
					if b := s.editor.Content(s.path("f")); b == "typed\nb\n" {
						want = b
					}
				}
				s.wantBuffer("f", want)
			})
		}
	}
}

func TestRefreshOfWhatIsNotOpen(t *testing.T) {
	s := start(t, fence.Rules{})
	s.put("closed", "a\n")
	s.must(s.editor.Show(s.path("new"), "typed\n")) // a document whose file was never there
	for _, name := range []string{"closed", "never", "new"} {
		if r := s.refresh(name); r.Became != workspace.Same {
			t.Errorf("%s: became %q", name, r.Became)
		}
	}
	s.wantBuffer("new", "typed\n")
}

// VS Code loads a clean document by itself, Neovim closes and opens it for that: between our
// look and our edit, or while it is asked.
func TestRefreshMeetsAnEditorThatReloads(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("f", "a\n")
	asked := 0
	s.editor.Before = func(path string) {
		asked++
		s.editor.CloseFile(path)
		s.must(s.editor.Load(path))
	}
	s.direct("f", "b\n")
	if r := s.refresh("f"); r.Became != workspace.Same || asked != 1 {
		t.Errorf("became %q, asked %d times", r.Became, asked)
	}
	s.wantBuffer("f", "b\n")
	if n := s.editor.Steps(s.path("f")); n != 0 || s.dirty("f") {
		t.Errorf("%d steps, dirty %t", n, s.dirty("f"))
	}
}

// What is typed between our look and our edit is merged with, not overwritten.
func TestRefreshMeetsTyping(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("f", "a\nb\nc\n")
	s.editor.Before = func(path string) {
		s.editor.Before = nil
		s.must(s.editor.Type(path, "c\n", "c\ntyped\n"))
	}
	s.direct("f", "A\nb\nc\n")
	if r := s.refresh("f"); r.Became != workspace.Merged {
		t.Errorf("became %q", r.Became)
	}
	s.wantBuffer("f", "A\nb\nc\ntyped\n")
}

func TestRefreshInAnEditorThatWillNot(t *testing.T) {
	for fault, want := range map[workspacetest.Fault]error{
		workspacetest.Refuse: workspace.ErrNotApplied, workspacetest.Lie: workspace.ErrNotSeen, workspacetest.ReadOnly: workspace.ErrReadOnly,
	} {
		s := start(t, fence.Rules{})
		s.open("f", "a\n")
		s.editor.Fault = fault
		s.direct("f", "b\n")
		if _, err := s.Refresh(t.Context(), s.path("f")); !errors.Is(err, want) {
			t.Errorf("fault %d: %v, want %v", fault, err, want)
		}
		s.wantBuffer("f", "a\n")
	}
}

// An agent puts a link to a private key where an open file was: the key must not come into a
// buffer, which the agent may read when the link is gone.
func TestRefreshFollowsNoLinkToASecret(t *testing.T) {
	for name, text := range map[string]string{"clean": "a\n", "dirty": "a\ntyped\n"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.put("sub/id_rsa", "KEY\n")
			s.open("f", "a\n")
			s.must(s.editor.Set(s.path("f"), text))
			s.must(os.Remove(s.path("f")))
			if err := os.Symlink(s.path("sub/id_rsa"), s.path("f")); err != nil {
				t.Skip(err)
			}
			var refusal *fence.Refusal
			if _, err := s.Refresh(t.Context(), s.path("f")); !errors.As(err, &refusal) {
				t.Errorf("Refresh: %v, want a refusal", err)
			}
			s.wantBuffer("f", text)
		})
	}
}

func TestFollowAndPaths(t *testing.T) {
	d := workspace.NewDocuments()
	news, stop := d.Follow()
	told := func(what string, want bool) {
		t.Helper()
		select {
		case <-news:
			if !want {
				t.Errorf("%s was told", what)
			}
		default:
			if want {
				t.Errorf("%s was not told", what)
			}
		}
	}
	path := t.TempDir() + "/f"
	if err := errors.Join(d.Open(workspace.URIOf(path), "", 1, "a"), d.Open("untitled:x", "", 1, "a")); err != nil {
		t.Fatal(err)
	}
	told("opening", true)
	told("nothing", false)
	if got := d.Paths(); len(got) != 1 || got[0] != path {
		t.Errorf("paths %v, want %s", got, path)
	}
	d.Save(workspace.URIOf(path), nil)
	told("saving", true)
	d.Close(workspace.URIOf(path))
	told("closing", true)
	stop()
	_ = d.Open(workspace.URIOf(path), "", 1, "a")
	told("what came after the end", false)
}

// The file changes again as soon as the editor has taken the first change: the document
// is clean and behind then, not unsaved, and whoever reads gets what is on disk.
func TestRefreshIsOvertaken(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("f", "1\n")
	s.editor.After = func(string) {
		s.editor.After = nil
		s.direct("f", "3\n")
		if got := s.read("f"); got != "3\n" || s.dirty("f") {
			t.Errorf("read %q, dirty %t", got, s.dirty("f"))
		}
	}
	s.direct("f", "2\n")
	s.refresh("f")
	s.wantBuffer("f", "2\n")
	s.refresh("f")
	s.wantBuffer("f", "3\n")
}
