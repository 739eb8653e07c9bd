package workspace_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// What the file was when it was opened, what the user made of the buffer, what the agent
// made of the file, and what the buffer holds then.
func TestCatchUp(t *testing.T) {
	const conflict = "\x00"
	tests := []struct {
		name, loaded, user, disk string
		want                     string
		caught                   bool
	}{
		{"elsewhere", "a\nb\nc\n", "A typed\nb\nc\n", "a\nb\nC\n", "A typed\nb\nC\n", true},
		{"the same change", "a\nb\n", "A\nb\n", "A\nb\n", "A\nb\n", false},
		{"the agent changed nothing", "a\nb\n", "a\nb\ntyped\n", "a\nb\n", "a\nb\ntyped\n", false},
		{"the same lines", "a\nb\n", "typed\nb\n", "agent\nb\n", conflict, false},
		{"clean", "a\nb\n", "a\nb\n", "a\nB\n", "a\nb\n", false},
		{"CRLF", "a\r\nb\r\n", "a\r\nb\r\ntyped\r\n", "A\nb\n", "A\r\nb\r\ntyped\r\n", true},
		{"an editor that shows LF", "a\nb\n", "a\nb\ntyped\n", "A\r\nb\r\n", "A\nb\ntyped\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.open("f", tt.loaded)
			if tt.user != tt.loaded {
				s.must(s.editor.Set(s.path("f"), tt.user))
			}
			s.must(os.WriteFile(s.path("f"), []byte(tt.disk), 0o644))
			before := s.editor.Steps(s.path("f"))
			caught, err := s.CatchUp(t.Context(), s.path("f"))
			var overlap *workspace.ConflictError
			if errors.As(err, &overlap) != (tt.want == conflict) || err != nil && tt.want != conflict {
				t.Fatalf("CatchUp: %v", err)
			}
			want := tt.want
			if want == conflict {
				want = tt.user
			}
			s.wantBuffer("f", want)
			s.wantDisk("f", tt.disk)
			if caught != tt.caught || s.dirty("f") != (tt.user != tt.loaded && want != tt.disk) {
				t.Errorf("caught %t, dirty %t", caught, s.dirty("f"))
			}
			if steps := s.editor.Steps(s.path("f")) - before; caught && steps != 1 {
				t.Errorf("%d steps to undo, want one", steps)
			}
			if len(s.record) > 0 {
				t.Errorf("recorded %+v", s.record)
			}
		})
	}
}

func TestCatchUpTwice(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("f", "a\nb\nc\n")
	s.must(s.editor.Set(s.path("f"), "typed\na\nb\nc\n"))
	for _, disk := range []string{"a\nB\nc\n", "a\nB\nC\n"} {
		s.must(os.WriteFile(s.path("f"), []byte(disk), 0o644))
		if caught, err := s.CatchUp(t.Context(), s.path("f")); !caught || err != nil {
			t.Fatalf("CatchUp: %t, %v", caught, err)
		}
	}
	s.wantBuffer("f", "typed\na\nB\nC\n")
}

func TestCatchUpWithNothing(t *testing.T) {
	s := start(t, fence.Rules{})
	s.put("closed", "a\n")
	s.open("gone", "a\n")
	s.must(s.editor.Set(s.path("gone"), "typed\na\n"))
	s.must(os.Remove(s.path("gone")))
	for _, name := range []string{"closed", "gone", "never"} {
		if caught, err := s.CatchUp(t.Context(), s.path(name)); caught || err != nil {
			t.Errorf("%s: %t, %v", name, caught, err)
		}
	}
	s.wantBuffer("gone", "typed\na\n")
	var refusal *fence.Refusal
	if _, err := s.CatchUp(t.Context(), strings.TrimSuffix(s.folder, "/")+"/../outside"); !errors.As(err, &refusal) {
		t.Errorf("outside: %v, want a refusal", err)
	}
}
