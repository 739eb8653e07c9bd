package workspace_test

import (
	"errors"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// What the agent read, what the user made of it, what the agent writes.
func TestMerge(t *testing.T) {
	const conflict = "\x00"
	tests := []struct {
		name, read, user, write string
		saved                   bool // the user saved
		want                    string
	}{
		{"elsewhere", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", false, "A\nb\nC\n"},
		{"the same change", "a\nb\n", "A\nb\n", "A\nb\n", false, "A\nb\n"},
		{"A2: the agent knows it, and adds", "f(one)\n", "f(two)\n", "f(two)\nend\n", false, "f(two)\nend\n"},
		{"known from the disk, and changed beside it", "a\nb\n", "a\nb typed\n", "a\nb typed agent\n", true, "a\nb typed agent\n"},
		{"overlap", "a\nb\n", "a\nuser\n", "a\nagent\n", false, conflict},
		{"overlap with saved text", "a\nb\n", "a\nuser\n", "a\nagent\n", true, conflict},
		{"nearer to what was typed, but without it", "0123456789 x\n", "U x\n", "y x\n", false, conflict},
		{"what was typed and taken out knowingly", "a\ntyped\nb\n", "a\ntyped\nb\n", "a\nb\n", false, "a\nb\n"},
		{"deleted by the user, changed by the agent", "a\nb\nc\n", "a\nc\n", "a\nB\nc\n", false, conflict},
		{"all deleted by the agent, typed into by the user", "a\nb\n", "a\ntyped\nb\n", "", false, conflict},
		{"into an empty document", "", "", "new\n", false, "new\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.open("a", tt.read)
			s.read("a")
			s.must(s.editor.Set(s.path("a"), tt.user))
			if tt.saved {
				s.must(s.editor.SaveFile(s.path("a")))
			}
			_, err := s.Write(t.Context(), s.path("a"), tt.write)
			var overlap *workspace.ConflictError
			if errors.As(err, &overlap) != (tt.want == conflict) || err != nil && tt.want != conflict {
				t.Fatalf("Write: %v, buffer %q; want %q", err, s.editor.Content(s.path("a")), tt.want)
			}
			want := tt.want
			if want == conflict {
				want = tt.user
			}
			s.wantBuffer("a", want)
		})
	}
}

// A document that went along with the prompt is what the agent knows.
func TestSent(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.must(s.editor.Set(s.path("a"), "one\ndraft\n"))
	for _, doc := range s.DirtyInRegion() {
		s.Sent(doc)
	}
	s.must(s.editor.Type(s.path("a"), "one", "typed\none"))
	s.write("a", "one\n") // it takes out the draft that it was sent
	s.wantBuffer("a", "typed\none\n")
}

// An agent that begins anew knows nothing of what was read before: what it
// writes is made from the disk, and the draft is not taken out.
func TestForget(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a", "one\n")
	s.must(s.editor.Set(s.path("a"), "one\ndraft\n"))
	if _, err := s.Read(t.Context(), s.path("a"), 0, 0); err != nil {
		t.Fatal(err)
	}
	s.Forget()
	s.write("a", "ONE\n")
	s.wantBuffer("a", "ONE\ndraft\n")
}

func TestLanded(t *testing.T) {
	tests := []struct {
		name, before, after, expected string
		want                          bool
	}{
		{"as expected", "a\n", "b\n", "b\n", true},
		{"nothing happened", "a\n", "a\n", "b\n", false},
		{"something else happened", "a\n", "c\n", "b\n", false},
		{"typed elsewhere", "a\nx\ny\n", "b\nx\nY\n", "b\nx\ny\n", true},
		{"the old text stays beside the new", "red\ngreen", "\nred\nZZZ\ngreen", "ZZZ\ngreen", false},
		{"the editor's own endings", "a\r\n", "b\r\nc\r\n", "b\nc\n", true},
		{"the editor's own last newline", "a\n", "b\n", "b", true},
		{"a lone CR made a line end", "a\n", "b\nc\n", "b\rc\n", false},
		{"nothing was to be done", "a\n", "z\n", "a\n", true},
	}
	for _, tt := range tests {
		if got := workspace.Landed(tt.before, tt.after, tt.expected); got != tt.want {
			t.Errorf("%s: Landed(%q, %q, %q) = %t", tt.name, tt.before, tt.after, tt.expected, got)
		}
	}
}
