package workspace_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"sallyport/workspace"
	"sallyport/workspace/disk"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

func TestA1_CleanBufferYieldsToTheDisk(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.txt", "old\n")
	s.must(os.WriteFile(s.path("a.txt"), []byte("new\n"), 0o644))
	c, err := s.Read(t.Context(), s.path("a.txt"), 0, 0)
	if err != nil || c.Text != "new\n" || c.Source != workspace.Disk || c.Hash != text.Hash("new\n") {
		t.Errorf("Read = %+v, %v; want the disk's text", c, err)
	}
	// A dirty buffer wins.
	s.must(s.editor.Type(s.path("a.txt"), "old", "typed"))
	if got := s.read("a.txt"); got != "typed\n" {
		t.Errorf("dirty: %q; want the buffer's text", got)
	}
}

func TestA2_WriteIsMadeForThePresentVersion(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.txt", "f(one)\n")
	s.read("a.txt")
	s.must(s.editor.Type(s.path("a.txt"), "one", "two"))
	var version int32
	s.editor.Before = func(path string) {
		doc, _ := s.editor.Get(path)
		version = doc.Version
	}
	s.write("a.txt", "f(two)\nend\n")
	s.wantBuffer("a.txt", "f(two)\nend\n")
	if version != 2 {
		t.Errorf("the edit was for version %d; want 2", version)
	}
}

func TestA3_DocumentThatIsNotOnDisk(t *testing.T) {
	s := start(t, fence.Rules{Private: []string{"q"}})
	s.must(s.editor.Show(s.path("new.txt"), "draft\n"))
	if got := s.read("new.txt"); got != "draft\n" {
		t.Errorf("Read = %q; want the buffer's text", got)
	}
	s.must(s.editor.Show(s.path(".env"), "draft\n"))
	if _, err := s.Read(t.Context(), s.path(".env"), 0, 0); !isRefusal(err) {
		t.Errorf("an unreadable file that is not on disk: %v; want a refusal", err)
	}
	// What the agent has not seen is not overwritten.
	s.must(s.editor.Show(s.path("other.txt"), "draft\n"))
	_, err := s.Write(t.Context(), s.path("other.txt"), "mine\n")
	var conflict *workspace.ConflictError
	if !errors.As(err, &conflict) {
		t.Errorf("writing over an unseen draft: %v; want a conflict", err)
	}
	s.wantBuffer("other.txt", "draft\n")
}

func TestA4_AgentWroteTheDiskFirst(t *testing.T) {
	for _, read := range []bool{false, true} {
		s := start(t, fence.Rules{})
		s.open("a.txt", "1\n")
		if read {
			s.read("a.txt")
		}
		s.must(os.WriteFile(s.path("a.txt"), []byte("2\n"), 0o644))
		out := s.write("a.txt", "2\n")
		s.wantBuffer("a.txt", "2\n")
		s.wantDisk("a.txt", "2\n")
		if n := s.editor.Steps(s.path("a.txt")); n > 1 || s.dirty("a.txt") || out.Merged {
			t.Errorf("%d undo steps, dirty %t, %+v; want at most one, clean, not merged", n, s.dirty("a.txt"), out)
		}
	}
}

func TestA4_EchoKeepsUnsavedText(t *testing.T) {
	for _, first := range []bool{false, true} {
		s := start(t, fence.Rules{})
		s.open("a.txt", "alpha\nbeta\n")
		s.must(s.editor.Type(s.path("a.txt"), "beta\n", "beta\ngamma UNSAVED\n"))
		if first {
			s.must(os.WriteFile(s.path("a.txt"), []byte("ALPHA\nbeta\n"), 0o644))
		}
		out := s.write("a.txt", "ALPHA\nbeta\n")
		s.wantBuffer("a.txt", "ALPHA\nbeta\ngamma UNSAVED\n")
		if !out.Merged || out.Saved {
			t.Errorf("outcome %+v; want merged, not saved", out)
		}
	}
}

func TestA7_EditorThatDoesNotAnswer(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.txt", "disk\n")
	s.must(s.editor.Type(s.path("a.txt"), "disk", "typed"))
	s.editor.Deaf = errors.New("no answer")
	if c, err := s.Read(t.Context(), s.path("a.txt"), 0, 0); !errors.Is(err, s.editor.Deaf) {
		t.Errorf("Read = %+v, %v; want the editor's error", c, err)
	}
	if _, err := s.Write(t.Context(), s.path("a.txt"), "x\n"); !errors.Is(err, s.editor.Deaf) {
		t.Errorf("Write: %v; want the editor's error", err)
	}
	s.wantDisk("a.txt", "disk\n")
	s.put("b.txt", "other\n")
	if got := s.read("b.txt"); got != "other\n" {
		t.Errorf("a file that is not open: %q", got)
	}
}

func TestA8_OneUndoStepEach(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.txt", "one\ntwo\n")
	s.read("a.txt")
	s.must(s.editor.Type(s.path("a.txt"), "one", "ONE"))
	s.write("a.txt", "one\nTWO\n")
	s.wantBuffer("a.txt", "ONE\nTWO\n")
	s.must(s.editor.Undo(s.path("a.txt")))
	s.wantBuffer("a.txt", "ONE\ntwo\n")
	s.must(s.editor.Undo(s.path("a.txt")))
	s.wantBuffer("a.txt", "one\ntwo\n")
}

func TestA9_FormatterOnSave(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.py", "b = 2\n")
	s.editor.Format = func(content string) string { return strings.Replace(content, "a=1", "a = 1", 1) }
	out := s.write("a.py", "a=1\n")
	if out.Asked != text.Hash("a=1\n") || out.After != text.Hash("a = 1\n") || !out.Saved || out.Before != text.Hash("b = 2\n") {
		t.Errorf("outcome %+v", out)
	}
	if got := s.read("a.py"); got != "a = 1\n" {
		t.Errorf("read back %q; want the formatted text", got)
	}
	s.wantDisk("a.py", "a = 1\n")
	// Without reading again, the agent goes on from what it asked for.
	s2 := start(t, fence.Rules{})
	s2.open("a.py", "")
	s2.editor.Format = s.editor.Format
	s2.write("a.py", "a=1\n")
	s2.write("a.py", "a=1\nb=2\n")
	s2.wantBuffer("a.py", "a = 1\nb=2\n")
}

func TestA10_NewFile(t *testing.T) {
	s := start(t, fence.Rules{})
	out := s.write("new/dir/n.txt", "hi\n")
	s.wantDisk("new/dir/n.txt", "hi\n")
	if len(s.editor.All()) != 0 || !out.Created || !out.Saved || out.Source != workspace.Disk {
		t.Errorf("%d documents, %+v; want none, created on disk", len(s.editor.All()), out)
	}
}

func TestA11_EditorRefuses(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("a.txt", "abc\n")
	s.editor.Fault = workspacetest.Refuse
	out, err := s.Write(t.Context(), s.path("a.txt"), "xyz\n")
	if !errors.Is(err, workspace.ErrNotApplied) || out.After != "" || out.Saved {
		t.Errorf("Write = %+v, %v; want ErrNotApplied", out, err)
	}
	s.wantBuffer("a.txt", "abc\n")
	s.wantDisk("a.txt", "abc\n")
	if last := s.record[len(s.record)-1]; last.Err == nil || last.Outcome.After != "" {
		t.Errorf("recorded %+v; want not applied", last)
	}
	s.editor.Fault = workspacetest.None
	s.write("a.txt", "xyz\n")
	s.wantBuffer("a.txt", "xyz\n")
}

func TestB1_B2_B3_WindowsOfABuffer(t *testing.T) {
	tests := []struct {
		content     string
		line, limit int
		want        string
	}{
		{"1\n2\n3\n4\n5\n", 0, 2, "1\n2\n"},
		{"1\n2\n3\n4\n5\n", 1, 2, "1\n2\n"},
		{"1\n2\n3\n4\n5\n", 4, 0, "4\n5\n"},
		{"a\nb\n", 2, 9, "b\n"},
		{"a\nb\n", 5, 1, ""},
		{"l1\nl2\n", 2, 1, "l2\n"},
		{"l1\nl2\n", 3, 0, ""},
		{"l1\nl2", 2, 0, "l2"},
		{"a\r\nb\r\n", 1, 1, "a\r\n"},
	}
	for _, tt := range tests {
		for _, open := range []bool{true, false} {
			s := start(t, fence.Rules{})
			s.put("a", tt.content)
			if open {
				s.must(s.editor.Load(s.path("a")))
			}
			c, err := s.Read(t.Context(), s.path("a"), tt.line, tt.limit)
			if err != nil || c.Text != tt.want {
				t.Errorf("Read of %q from %d, %d lines, open %t = %q, %v; want %q", tt.content, tt.line, tt.limit, open, c.Text, err, tt.want)
			}
		}
	}
}

func TestB5_CRLFInABuffer(t *testing.T) {
	tests := []struct {
		name, old, write, want string
		kept                   bool
	}{
		{"LF into CRLF", "a = 1\r\nb = 2\r\n", "a = 1\nb = 22\n", "a = 1\r\nb = 22\r\n", true},
		{"CRLF into CRLF", "a\r\n", "b\r\nc\r\n", "b\r\nc\r\n", false},
		{"CR is meant", "a\r\nb\r\n", "a\r\nb\n", "a\r\nb\n", false},
		{"LF into mixed", "a\r\nb\n", "a\nb\n", "a\nb\n", false},
		{"CRLF into LF", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n", false},
		{"no last newline", "a\r\nb", "a\nc", "a\r\nc", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fence.Rules{})
			s.open("a", tt.old)
			s.read("a")
			out := s.write("a", tt.write)
			s.wantBuffer("a", tt.want)
			s.wantDisk("a", tt.want)
			if out.KeptCRLF != tt.kept || out.Merged {
				t.Errorf("outcome %+v; want kept %t", out, tt.kept)
			}
			// The agent goes on from its LF text.
			s.must(s.editor.Set(s.path("a"), "typed\r\n"+tt.want))
			s.write("a", tt.write+"z\n")
			if got := s.editor.Content(s.path("a")); !strings.HasPrefix(got, "typed\r\n") {
				t.Errorf("then buffer %q; the typed line is lost", got)
			}
		})
	}
}

func TestB6_ByteOrderMark(t *testing.T) {
	const bom = "\uFEFF"
	for _, keeps := range []bool{false, true} { // whether the editor keeps it in its text
		s := start(t, fence.Rules{})
		s.put("a", bom+"hi\n")
		content, want := "hi\n", "hi2\n"
		if keeps {
			content, want = bom+content, bom+want
		}
		s.must(s.editor.Show(s.path("a"), content))
		if s.dirty("a") {
			t.Errorf("keeps %t: dirty as loaded", keeps)
		}
		if got := s.read("a"); got != "hi\n" {
			t.Errorf("keeps %t: read %q", keeps, got)
		}
		out := s.write("a", bom+"hi2\n") // it does not get two
		s.wantBuffer("a", want)
		if out.Before != text.Hash("hi\n") || out.After != text.Hash("hi2\n") || out.Asked != out.After {
			t.Errorf("keeps %t: hashes %+v; want those of the text alone", keeps, out.Hashes)
		}
	}
}

func TestB7_FileThatOnlyTheEditorDecodes(t *testing.T) {
	s := start(t, fence.Rules{})
	s.put("a", "caf\xe9\n")
	var notText *disk.NotTextError
	if _, err := s.Read(t.Context(), s.path("a"), 0, 0); !errors.As(err, &notText) {
		t.Errorf("closed: %v; want NotTextError", err)
	}
	s.must(s.editor.Show(s.path("a"), "café\n"))
	if got := s.read("a"); got != "café\n" {
		t.Errorf("open: %q; want the editor's text", got)
	}
}

func TestD4_WriteUnderAnotherName(t *testing.T) {
	s := start(t, fence.Rules{})
	s.open("Main.go", "disk\n")
	if err := os.Symlink("Main.go", s.path("link.go")); err != nil {
		t.Skip(err)
	}
	s.must(s.editor.Type(s.path("Main.go"), "disk", "dirty"))
	if got := s.read("link.go"); got != "dirty\n" {
		t.Errorf("read %q; want the buffer's text", got)
	}
	s.write("link.go", "dirty\nmore\n")
	s.wantBuffer("Main.go", "dirty\nmore\n")
	s.wantDisk("Main.go", "disk\n")
}

func TestD2_DecodedOnce(t *testing.T) {
	s := start(t, fence.Rules{})
	for name, content := range map[string]string{"p%20q/a.txt": "right\n", "p q/a.txt": "wrong\n"} {
		s.put(name, content)
	}
	base := workspace.URIOf(s.folder)
	if got := workspace.URIOf(s.path("p%20q/a.txt")); got != base+"/p%2520q/a.txt" {
		t.Errorf("URIOf = %s", got)
	}
	s.must(s.editor.Documents.Open(base+"/p%2520q/a.txt", "", 1, "unsaved\n"))
	if got := s.read("p%20q/a.txt"); got != "unsaved\n" {
		t.Errorf("read %q; want the open document", got)
	}
	if got := s.read("p q/a.txt"); got != "wrong\n" {
		t.Errorf("read of the other folder: %q", got)
	}
}

func TestD3_NamesThatURIsEscape(t *testing.T) {
	s := start(t, fence.Rules{})
	name := "테 x#y/a?b.txt"
	if runtime.GOOS == "windows" {
		name = "테 x#y/ab.txt"
	}
	s.open(name, "text\n")
	s.must(s.editor.Type(s.path(name), "text", "typed"))
	if got := s.read(name); got != "typed\n" {
		t.Errorf("read %q; want the buffer's text", got)
	}
	doc, _ := s.editor.Get(s.path(name))
	if path, err := workspace.PathOf(doc.URI); err != nil || path != s.path(name) || strings.ContainsAny(doc.URI, " #?테") {
		t.Errorf("URI %s gives %q, %v", doc.URI, path, err)
	}
	s.write(name, "typed\nmore\n")
	s.wantBuffer(name, "typed\nmore\n")
}
