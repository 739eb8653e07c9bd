package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

// The echo of an agent that edits the disk's text by itself: unsaved text stays, whether it
// writes the disk before or after.
// The mirror lags behind the editor: the write waits for what made it stale.
// An editor that says stale but never announces why is not asked forever.
// The document is closed between the question and the edit.
func TestMissing(t *testing.T) {
	s := start(t, fence.Rules{})
	if _, err := s.Read(t.Context(), s.path("none"), 0, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: %v; want fs.ErrNotExist", err)
	}
	if _, exists, err := s.Preview(t.Context(), s.path("none")); exists || err != nil {
		t.Errorf("Preview: exists %t, %v", exists, err)
	}
}

func TestUnchanged(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.put("b", "one\n")
	before, err := os.Stat(s.path("b"))
	s.must(err)
	for _, name := range []string{"a", "b"} {
		if out := s.write(name, "one\n"); !out.Unchanged || !out.Saved || out.Merged {
			t.Errorf("%s: outcome %+v; want unchanged", name, out)
		}
	}
	after, err := os.Stat(s.path("b"))
	s.must(err)
	if n := s.editor.Steps(s.path("a")); n != 0 || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Errorf("%d undo steps, file replaced %t", n, !os.SameFile(before, after))
	}
}

func TestSaveAfter(t *testing.T) {
	tests := []struct {
		name   string
		policy workspace.SavePolicy
		dirty  bool
		saved  bool
	}{
		{"clean, when clean", workspace.WhenClean, false, true},
		{"dirty, when clean", workspace.WhenClean, true, false},
		{"clean, always", workspace.Always, false, true},
		{"dirty, always", workspace.Always, true, true},
		{"clean, never", workspace.Never, false, false},
		{"dirty, never", workspace.Never, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.SaveAfter = tt.policy
			s.open("a", "one\ntwo\n")
			if tt.dirty {
				s.must(s.editor.Type(s.path("a"), "one", "ONE"))
			}
			s.read("a")
			out := s.write("a", strings.Replace(s.editor.Content(s.path("a")), "two", "TWO", 1))
			if out.Saved != tt.saved || s.dirty("a") == tt.saved {
				t.Errorf("saved %t, dirty %t; want saved %t", out.Saved, s.dirty("a"), tt.saved)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.editor.Fault = workspacetest.ReadOnly
	if _, err := s.Write(t.Context(), s.path("a"), "two\n"); !errors.Is(err, workspace.ErrReadOnly) {
		t.Errorf("Write: %v; want ErrReadOnly", err)
	}
	s.wantDisk("a", "one\n")
}

// A private document that is open is reached neither by its name nor by a link to it.
func TestWithoutEditor(t *testing.T) {
	s := start(t, fence.Rules{})
	s.Editor = nil
	s.put("a", "one\n")
	if got := s.read("a"); got != "one\n" {
		t.Errorf("read %q", got)
	}
	s.write("a", "two\n")
	s.wantDisk("a", "two\n")
}

func TestRehearse(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\ntwo\n")
	s.read("a")
	s.must(s.editor.Type(s.path("a"), "one", "ONE"))
	before, after, err := s.Rehearse(t.Context(), s.path("a"), "one\nTWO\n")
	if err != nil || before != "ONE\ntwo\n" || after != "ONE\nTWO\n" {
		t.Errorf("Rehearse = %q, %q, %v", before, after, err)
	}
	s.wantBuffer("a", "ONE\ntwo\n")
	s.put("b", "x\r\ny\r\n")
	before, after, err = s.Rehearse(t.Context(), s.path("b"), "x\nz\n")
	if err != nil || before != "x\r\ny\r\n" || after != "x\r\nz\r\n" {
		t.Errorf("on disk: %q, %q, %v", before, after, err)
	}
	if _, after, err := s.Rehearse(t.Context(), s.path("new"), "n"); err != nil || after != "n" {
		t.Errorf("new file: %q, %v", after, err)
	}
	if len(s.record) != 1 {
		t.Errorf("%d accesses recorded; want the read alone", len(s.record))
	}
}

// A line of qwen's, which reads everything with a limit: it is a base all the same.
func TestReadOfAWindowIsABase(t *testing.T) {
	s := start(t, fence.Rules{})
	s.put("a", "one\ntwo\n")
	if c, err := s.Read(t.Context(), s.path("a"), 1, 1000); err != nil || c.Text != "one\ntwo\n" {
		t.Fatal(c, err)
	}
	s.must(s.editor.Load(s.path("a")))
	s.must(s.editor.Type(s.path("a"), "one", "ONE"))
	s.must(s.editor.SaveFile(s.path("a"))) // clean: the agent's text is older than all it could be taken for
	s.write("a", "one\nTWO\n")
	s.wantBuffer("a", "ONE\nTWO\n")
}

func TestOrderOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, fence.Rules{})
		first, second, third := s.Queue(s.path("a")), s.Queue(s.path("a")), s.Queue(s.path("a"))
		written := func() (order string) {
			for _, a := range s.record {
				if a.Err == nil {
					order += map[string]string{text.Hash("1"): "1", text.Hash("2"): "2", text.Hash("3"): "3"}[a.Outcome.Asked]
				}
			}
			return order
		}
		done := make(chan error)
		write := func(p *workspace.Place, content string) {
			_, err := p.Write(t.Context(), content)
			done <- err
		}
		go write(third, "3")
		synctest.Wait()
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := first.Wait(t.Context()); err != nil {
			t.Errorf("waiting for the first place: %v", err)
		}
		if err := second.Wait(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting for the second place: %v", err)
		}
		if _, err := second.Write(cancelled, "2"); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled write: %v", err)
		}
		synctest.Wait()
		if order := written(); order != "" {
			t.Errorf("%s was written before its turn", order)
		}
		go write(first, "1")
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if order := written(); order != "13" {
			t.Errorf("order %s; want 1, 3", order)
		}
		s.wantDisk("a", "3")
		first.Leave() // again: nothing
		s.write("a", "4")
	})
}

func TestWriteAfterCancel(t *testing.T) {
	s := start(t, fence.Rules{})
	s.put("a", "one\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Write(ctx, s.path("a"), "two\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v; want context.Canceled", err)
	}
	s.wantDisk("a", "one\n")
}

func TestNotUTF8(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	if _, err := s.Write(t.Context(), s.path("a"), "\xff"); err == nil {
		t.Error("invalid UTF-8 was written")
	}
	s.wantBuffer("a", "one\n")
}

func TestForgottenBase(t *testing.T) {
	s := start(t, fence.Rules{})
	s.Remember = 4
	s.open("a", "one\ntwo\n")
	s.must(s.editor.Type(s.path("a"), "one", "ONE"))
	s.read("a") // too long to remember
	s.must(s.editor.Type(s.path("a"), "ONE", "UNO"))
	_, err := s.Write(t.Context(), s.path("a"), "ONE\nTWO\n")
	var conflict *workspace.ConflictError
	if !errors.As(err, &conflict) {
		t.Errorf("Write: %v; want a conflict, nothing lost", err)
	}
	s.wantBuffer("a", "UNO\ntwo\n")
}
