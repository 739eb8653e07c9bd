package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sallyport/workspace/fence"
)

// project makes an empty folder with its policy.
func project(t testing.TB) (string, *fence.Policy) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return projectAt(t, dir)
}

// projectAt is the policy of a folder, with private folders elsewhere.
func projectAt(t testing.TB, dir string, private ...string) (string, *fence.Policy) {
	t.Helper()
	p, err := fence.New(dir, fence.Rules{Private: private})
	if err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// put writes a file past the fences.
func put(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func bytesOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func read(t testing.TB, p *fence.Policy, path string, w Window) File {
	t.Helper()
	f, err := Read(p, path, w)
	if err != nil {
		t.Fatalf("read of %s %+v: %v", path, w, err)
	}
	return f
}

func write(t testing.TB, p *fence.Policy, path, content string) Written {
	t.Helper()
	w, err := Write(p, path, content)
	if err != nil {
		t.Fatalf("write of %q to %s: %v", content, path, err)
	}
	return w
}

func TestReadOfMissingFile(t *testing.T) {
	dir, p := project(t)
	for _, path := range []string{"/nope", "/no/folder/either"} {
		if _, err := Read(p, dir+path, Window{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read of %s: %v, want fs.ErrNotExist", path, err)
		}
	}
}

func TestB4_LoneCRIsContent(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "a\rb\nc\r\nd\n")
	got := read(t, p, path, Window{}).Text
	if got != "a\rb\nc\r\nd\n" {
		t.Fatalf("read %q", got)
	}
	write(t, p, path, "a\rb\nc\r\ne\n")
	if got := bytesOf(t, path); got != "a\rb\nc\r\ne\n" {
		t.Errorf("on disk %q", got)
	}
}

func TestB5_UniformCRLFIsKept(t *testing.T) {
	for _, c := range []struct {
		old, content, want string
		kept               bool
	}{
		{"a = 1\r\nb = 2\r\n", "a = 1\nb = 22\n", "a = 1\r\nb = 22\r\n", true},
		{"a\r\n", "a\nb", "a\r\nb", true},
		{"a\r\nb", "a\r\nb\nc\n", "a\r\nb\nc\n", false}, // has CR: as sent
		{"a\r\nb\n", "a\nc\n", "a\nc\n", false},         // mixed
		{"a\n", "b\n", "b\n", false},
		{"a\r\n", "b", "b", false}, // nothing to convert
		{"", "b\n", "b\n", false},
	} {
		dir, p := project(t)
		path := put(t, dir+"/f", c.old)
		w := write(t, p, path, c.content)
		if got := bytesOf(t, path); got != c.want || w.KeptCRLF != c.kept {
			t.Errorf("%q over %q: on disk %q kept %v, want %q kept %v", c.content, c.old, got, w.KeptCRLF, c.want, c.kept)
		}
		if got := read(t, p, path, Window{}); got.Hash != w.After || got.Bytes != w.Bytes {
			t.Errorf("%q over %q: write says %+v, read %+v", c.content, c.old, w, got)
		}
	}
}

func TestB6_ByteOrderMark(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	for _, c := range []struct{ old, content, want string }{
		{mark + "hi\n", "hi2\n", mark + "hi2\n"},
		{mark + "hi\n", "\uFEFFhi2\n", mark + "hi2\n"},
		{"hi\n", "\uFEFFhi2\n", "hi2\n"},
		{mark + "hi\r\n", "ho\n", mark + "ho\r\n"},
		{mark, "x", mark + "x"},
	} {
		dir, p := project(t)
		path := put(t, dir+"/f", c.old)
		before := read(t, p, path, Window{})
		if mark+before.Text != c.old && before.Text != c.old || before.BOM != (c.old[0] == mark[0]) {
			t.Errorf("read of %q: %+v", c.old, before)
		}
		w := write(t, p, path, c.content)
		if got := bytesOf(t, path); got != c.want {
			t.Errorf("%q over %q: on disk %q, want %q", c.content, c.old, got, c.want)
		}
		if after := read(t, p, path, Window{}); w.Before != before.Hash || w.After != after.Hash {
			t.Errorf("%q over %q: write says %+v, reads %q and %q", c.content, c.old, w, before.Hash, after.Hash)
		}
	}
}

func TestB7_B8_NotText(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    NotTextError
	}{
		"B7 latin-1":        {"caf\xE9\n", NotTextError{Size: 5}},
		"B8 zip":            {"PK\x03\x04\x00\x00\x01", NotTextError{Size: 7, Binary: true}},
		"UTF-16 with BOM":   {"\xFF\xFEh\x00", NotTextError{Size: 4, Encoding: "UTF-16LE"}},
		"UTF-32 with BOM":   {"\xFF\xFE\x00\x00h\x00\x00\x00", NotTextError{Size: 8, Encoding: "UTF-32LE"}},
		"cut rune at end":   {"a\xE2\x82", NotTextError{Size: 3}},
		"surrogate encoded": {"\xED\xA0\x80", NotTextError{Size: 3}},
	} {
		dir, p := project(t)
		path := put(t, dir+"/f", c.content)
		c.want.Path = path
		for what, do := range map[string]func() error{
			"read":        func() error { _, err := Read(p, path, Window{}); return err },
			"window read": func() error { _, err := Read(p, path, Window{Line: 1, Limit: 3}); return err },
			"write":       func() error { _, err := Write(p, path, "cafe\n"); return err },
		} {
			var got *NotTextError
			if err := do(); !errors.As(err, &got) || *got != c.want {
				t.Errorf("%s: %s gives %v, want %+v", name, what, err, c.want)
			}
		}
		if got := bytesOf(t, path); got != c.content {
			t.Errorf("%s: on disk %q", name, got)
		}
	}
}

func TestE1_Mode(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/run.sh", "old")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, p, path, "new")
	if info, _ := os.Stat(path); info.Mode() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestE2_ParentsAreMade(t *testing.T) {
	dir, p := project(t)
	w := write(t, p, dir+"/new/dir/a.txt", "x")
	if got := bytesOf(t, dir+"/new/dir/a.txt"); got != "x" || !w.Created || w.Before != "" {
		t.Errorf("on disk %q, %+v", got, w)
	}
	_, err := Write(p, dir+"/deep/.git/dir/x", "x")
	var r *fence.Refusal
	if !errors.As(err, &r) {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir + "/deep"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder was made for a refused write")
	}
}
