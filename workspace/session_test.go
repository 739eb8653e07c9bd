package workspace_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/workspacetest"
)

// session is a project folder with an editor and one session's files.
type session struct {
	t testing.TB
	*workspace.Files
	folder string
	editor *workspacetest.Editor
	record []workspace.Access
}

func start(t testing.TB, rules fence.Rules) *session {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, err := fence.New(folder, rules)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, folder: folder, editor: workspacetest.New()}
	s.Files = &workspace.Files{Editor: s.editor, Policy: policy, Record: func(a workspace.Access) { s.record = append(s.record, a) }}
	return s
}

func (s *session) path(name string) string { return filepath.Join(s.folder, name) }

// put writes a file on disk, in the past.
func (s *session) put(name, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path(name), old, old); err != nil {
		s.t.Fatal(err)
	}
}

// open writes a file on disk and opens it.
func (s *session) open(name, content string) {
	s.t.Helper()
	s.put(name, content)
	s.must(s.editor.Load(s.path(name)))
}

func (s *session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) read(name string) string {
	s.t.Helper()
	c, err := s.Read(s.t.Context(), s.path(name), 0, 0)
	s.must(err)
	return c.Text
}

func (s *session) write(name, content string) workspace.Outcome {
	s.t.Helper()
	out, err := s.Write(s.t.Context(), s.path(name), content)
	s.must(err)
	return out
}

func (s *session) onDisk(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	s.must(err)
	return string(data)
}

func (s *session) wantBuffer(name, want string) {
	s.t.Helper()
	if got := s.editor.Content(s.path(name)); got != want {
		s.t.Errorf("buffer %q; want %q", got, want)
	}
}

func (s *session) wantDisk(name, want string) {
	s.t.Helper()
	if got := s.onDisk(name); got != want {
		s.t.Errorf("disk %q; want %q", got, want)
	}
}

func (s *session) dirty(name string) bool {
	s.t.Helper()
	doc, open := s.editor.Get(s.path(name))
	if !open {
		s.t.Fatalf("%s is not open", name)
	}
	return doc.Dirty
}
