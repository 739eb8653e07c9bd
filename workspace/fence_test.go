package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

func isRefusal(err error) bool {
	var refusal *fence.Refusal
	return errors.As(err, &refusal)
}

func TestRefusalsAreRecorded(t *testing.T) {
	s := start(t, fence.Rules{Region: []string{"src"}})
	s.put("a", "x")
	if _, err := s.Write(t.Context(), s.path("a"), "y"); !isRefusal(err) {
		t.Errorf("Write outside: %v", err)
	}
	if _, err := s.Read(t.Context(), s.path(".env"), 2, 3); !isRefusal(err) {
		t.Errorf("Read of .env: %v", err)
	}
	s.read("a")
	if len(s.record) != 3 {
		t.Fatalf("recorded %+v; want three", s.record)
	}
	for i, want := range []workspace.Access{
		{Kind: fence.Write, Outcome: workspace.Outcome{Path: s.path("a"), Hashes: workspace.Hashes{Asked: text.Hash("y")}}},
		{Kind: fence.Read, Line: 2, Limit: 3, Outcome: workspace.Outcome{Path: s.path(".env")}},
		{Kind: fence.Read, Outcome: workspace.Outcome{Path: s.path("a"), Source: workspace.Disk, Hashes: workspace.Hashes{After: text.Hash("x")}}},
	} {
		got := s.record[i]
		if isRefusal(got.Err) != (i < 2) {
			t.Errorf("record %d: error %v", i, got.Err)
		}
		got.Err = nil
		if got != want {
			t.Errorf("record %d: %+v; want %+v", i, got, want)
		}
	}
}

func TestPrivateDocument(t *testing.T) {
	private, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(private, "s.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, fence.Rules{Private: []string{private}})
	s.must(s.editor.Load(secret))
	if err := os.Symlink(secret, s.path("link")); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{secret, s.path("link")} {
		if c, err := s.Read(t.Context(), path, 0, 0); !isRefusal(err) {
			t.Errorf("Read(%s) = %+v, %v; want a refusal", path, c, err)
		}
	}
	// A link that is turned after the fence has looked: the document's own name is judged.
	s.Editor = turned{s.editor, secret}
	if c, err := s.Read(t.Context(), s.path("a"), 0, 0); !isRefusal(err) {
		t.Errorf("Read by a turned link = %+v, %v; want a refusal", c, err)
	}
	if _, err := s.Write(t.Context(), s.path("a"), "x"); !isRefusal(err) {
		t.Errorf("Write by a turned link: %v; want a refusal", err)
	}
}

type turned struct {
	*workspacetest.Editor
	to string
}

func (e turned) Text(ctx context.Context, _ string) (workspace.Document, bool, error) {
	return e.Editor.Text(ctx, e.to)
}

func TestDirtyInRegion(t *testing.T) {
	s := start(t, fence.Rules{Region: []string{"src"}})
	for _, name := range []string{"src/a", "src/clean", "src/.env", "out"} {
		s.open(name, "x")
	}
	for _, name := range []string{"src/a", "src/.env", "out"} {
		s.must(s.editor.Type(s.path(name), "x", "y"))
	}
	s.must(s.editor.Documents.Open("untitled:1", "", 1, "text"))
	got := s.DirtyInRegion()
	if len(got) != 1 || got[0].Path != s.path("src/a") {
		t.Errorf("DirtyInRegion = %+v; want src/a", got)
	}
	s.Editor = nil
	if got := s.DirtyInRegion(); got != nil {
		t.Errorf("without an editor: %+v", got)
	}
}

func TestRelativePath(t *testing.T) {
	s := start(t, fence.Rules{})
	for _, path := range []string{"a", "", "file:///a", "~/a"} {
		if _, err := s.Read(t.Context(), path, 0, 0); err == nil {
			t.Errorf("Read(%q) succeeded", path)
		}
		if _, err := s.Write(t.Context(), path, ""); err == nil {
			t.Errorf("Write(%q) succeeded", path)
		}
	}
}
