package workspace_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

func TestC3_ReadAgainAfterATypedChange(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "red\ngreen")
	s.read("a")
	typed := false
	s.editor.Before = func(path string) {
		if !typed {
			typed = true
			s.must(s.editor.Type(path, "red", "\nred"))
		}
	}
	out := s.write("a", "red\nZZZ")
	s.wantBuffer("a", "\nred\nZZZ")
	if !out.Merged {
		t.Errorf("outcome %+v; want merged", out)
	}
}

func TestC3_OverlapAfterATypedChange(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "red\ngreen")
	s.read("a")
	s.editor.Before = func(path string) {
		s.editor.Before = nil
		s.must(s.editor.Type(path, "red", "rod"))
	}
	_, err := s.Write(t.Context(), s.path("a"), "ZZZ\ngreen")
	var conflict *workspace.ConflictError
	if !errors.As(err, &conflict) || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "read it again") {
		t.Errorf("Write: %v; want a conflict in line 1", err)
	}
	s.wantBuffer("a", "rod\ngreen")
	// Read again, it works.
	if got := s.read("a"); got != "rod\ngreen" {
		t.Fatalf("read %q", got)
	}
	s.write("a", "ZZZ\ngreen")
	s.wantBuffer("a", "ZZZ\ngreen")
}

func TestC3_AppliedThatIsNotTrue(t *testing.T) {
	for _, fault := range []workspacetest.Fault{workspacetest.Lie, workspacetest.Mangle} {
		s := start(t, fence.Rules{})
		s.open("a", "red\ngreen")
		s.read("a")
		s.editor.Fault = fault
		s.editor.After = func(path string) { s.must(s.editor.Type(path, "red", "\nred")) }
		_, err := s.Write(t.Context(), s.path("a"), "red\ngreen\nblue")
		if !errors.Is(err, workspace.ErrNotSeen) || !strings.Contains(err.Error(), "read it again") {
			t.Errorf("fault %d: %v; want ErrNotSeen", fault, err)
		}
	}
}

func TestTypingRightAfterTheEditIsNoLie(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\ntwo\nthree\n")
	s.must(s.editor.Type(s.path("a"), "three", "3")) // dirty: it will not be saved
	s.read("a")
	s.editor.After = func(path string) { s.must(s.editor.Type(path, "3", "III")) }
	s.write("a", "1\ntwo\n3\n")
	s.wantBuffer("a", "1\ntwo\nIII\n")
}

func TestStaleMirror(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\ntwo\n")
	s.read("a")
	s.editor.Lag = true
	s.must(s.editor.Type(s.path("a"), "one", "ONE"))
	s.write("a", "one\nTWO\n")
	s.wantBuffer("a", "ONE\nTWO\n")
}

func TestUserWhoNeverStopsTyping(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.read("a")
	n := 0
	s.editor.Before = func(path string) { n++; s.must(s.editor.Type(path, "one", "\none")) }
	if _, err := s.Write(t.Context(), s.path("a"), "one\ntwo\n"); !errors.Is(err, workspace.ErrStale) {
		t.Errorf("Write: %v; want ErrStale", err)
	}
	if n > 100 || !strings.HasSuffix(s.editor.Content(s.path("a")), "\none\n") {
		t.Errorf("%d tries, buffer %q", n, s.editor.Content(s.path("a")))
	}
}

type mute struct{ *workspacetest.Editor }

func (m mute) Apply(context.Context, workspace.Apply) (workspace.Applied, error) {
	return workspace.Applied{}, workspace.ErrStale
}

func TestStaleWithoutAReason(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.Editor = mute{s.editor}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := s.Write(t.Context(), s.path("a"), "two\n")
		if !errors.Is(err, workspace.ErrStale) || time.Since(began) > 10*time.Second {
			t.Errorf("Write: %v after %v; want ErrStale soon", err, time.Since(began))
		}
	})
}

func TestC4_ClosedDocumentIsForgotten(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.read("a")
	s.editor.CloseFile(s.path("a"))
	s.put("a", "changed\n")
	if got := s.read("a"); got != "changed\n" {
		t.Errorf("read %q; want the disk's text", got)
	}
	out := s.write("a", "two\n")
	if out.Source != workspace.Disk || out.Before != text.Hash("changed\n") {
		t.Errorf("outcome %+v; want the disk", out)
	}
	s.wantDisk("a", "two\n")
}

func TestClosedWhileWriting(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.editor.Before = func(path string) { s.editor.Before = nil; s.editor.CloseFile(path) }
	if out := s.write("a", "two\n"); out.Source != workspace.Disk {
		t.Errorf("outcome %+v; want the disk", out)
	}
	s.wantDisk("a", "two\n")
}
