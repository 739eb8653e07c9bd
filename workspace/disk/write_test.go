package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// names lists a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are other things on Windows")
	}
}

func TestWritten(t *testing.T) {
	dir, p := project(t)
	w := write(t, p, dir+"/f", "one\n")
	if want := (Written{After: text.Hash("one\n"), Created: true, Bytes: 4}); w != want {
		t.Errorf("new: %+v, want %+v", w, want)
	}
	w = write(t, p, dir+"/f", "two two\n")
	if want := (Written{Before: text.Hash("one\n"), After: text.Hash("two two\n"), Bytes: 8}); w != want {
		t.Errorf("replaced: %+v, want %+v", w, want)
	}
	w = write(t, p, dir+"/f", "")
	if want := (Written{Before: text.Hash("two two\n"), After: text.Hash("")}); w != want || bytesOf(t, dir+"/f") != "" {
		t.Errorf("emptied: %+v, want %+v", w, want)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"f"}) {
		t.Errorf("left behind: %q", got)
	}
}

func TestE1_NewFileHasTheUmask(t *testing.T) {
	needUnix(t)
	dir, p := project(t)
	plain, err := os.OpenFile(dir+"/plain", os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	want, err := plain.Stat()
	if err != nil {
		t.Fatal(err)
	}
	write(t, p, dir+"/f", "x")
	if got, err := os.Stat(dir + "/f"); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, %v, want %v", got.Mode(), err, want.Mode())
	}
}

func TestModesAreKeptExceptSetuid(t *testing.T) {
	needUnix(t)
	dir, p := project(t)
	for mode, want := range map[fs.FileMode]fs.FileMode{
		0o600: 0o600, 0o666: 0o666, 0o755: 0o755, 0o640: 0o640,
		0o755 | fs.ModeSetuid: 0o755, 0o755 | fs.ModeSetgid: 0o755,
		0o644 | fs.ModeSticky: 0o644 | fs.ModeSticky,
	} {
		path := put(t, dir+"/f", "x")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		write(t, p, path, "y")
		if got, _ := os.Stat(path); got.Mode() != want {
			t.Errorf("%v became %v, want %v", mode, got.Mode(), want)
		}
	}
}

func TestReadOnlyFileIsNotReplaced(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "old")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(path, 0o644) })
	var ro *ReadOnlyError
	if _, err := Write(p, path, "new"); !errors.As(err, &ro) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
	if got := bytesOf(t, path); got != "old" || len(names(t, dir)) != 1 {
		t.Errorf("on disk %q, %q", got, names(t, dir))
	}
}

func TestW29_LinksStayLinks(t *testing.T) {
	needUnix(t)
	dir, p := project(t)
	put(t, dir+"/f", "old")
	for link, target := range map[string]string{"abs": dir + "/f", "rel": "./f", "two": "abs", "new": dir + "/made/g"} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	for link, real := range map[string]string{"abs": "f", "rel": "f", "two": "f", "new": "made/g"} {
		write(t, p, dir+"/"+link, "by "+link)
		if got := bytesOf(t, dir+"/"+real); got != "by "+link {
			t.Errorf("%s: on disk %q", link, got)
		}
		if info, err := os.Lstat(dir + "/" + link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is a link no more: %v", link, err)
		}
	}
}

func TestW14_HardLinksKeepTheOldContent(t *testing.T) {
	dir, p := project(t)
	outside := put(t, t.TempDir()+"/outside", "OTHER")
	if err := os.Link(outside, dir+"/f"); err != nil {
		t.Skip("hard links cannot be made here: ", err)
	}
	write(t, p, dir+"/f", "x")
	if in, out := bytesOf(t, dir+"/f"), bytesOf(t, outside); in != "x" || out != "OTHER" {
		t.Errorf("inside %q, outside %q", in, out)
	}
}

func TestWriteOverSpecialFiles(t *testing.T) {
	dir, p := project(t)
	if err := os.Mkdir(dir+"/d", 0o755); err != nil {
		t.Fatal(err)
	}
	var s *SpecialError
	if _, err := Write(p, dir+"/d", "x"); !errors.As(err, &s) || s.Type != "folder" {
		t.Errorf("over a folder: %v", err)
	}
	put(t, dir+"/f", "old")
	if _, err := Write(p, dir+"/f/g", "x"); err == nil {
		t.Error("a file was taken for a folder")
	}
	if got := bytesOf(t, dir+"/f"); got != "old" {
		t.Errorf("on disk %q", got)
	}
}

func TestWriteRefusals(t *testing.T) {
	dir, p := project(t)
	outside := filepath.Dir(dir)
	for path, want := range map[string]fence.Kind{
		dir + "/.git/hooks/x": fence.Reserved, outside + "/x": fence.Region, dir + "/../x": fence.Region, "x": fence.Special, dir + "/.env": fence.Unreadable,
	} {
		_, err := Write(p, path, "x")
		var r *fence.Refusal
		if !errors.As(err, &r) || r.Fence != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := Write(p, dir+"/f", "\xff"); err == nil {
		t.Error("content that is not UTF-8 was written")
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// Writers of one path at once leave one of the contents, whole; readers never see anything else.
func TestConcurrentWritesAreWhole(t *testing.T) {
	dir, p := project(t)
	path := dir + "/f"
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 200_000), strings.Repeat("c", 50)}
	write(t, p, path, contents[0])
	var wg sync.WaitGroup
	for _, c := range contents {
		wg.Go(func() {
			for range 20 {
				if _, err := Write(p, path, c); err != nil && !errors.Is(err, errMoved) {
					t.Errorf("writing: %v", err)
				}
			}
		})
	}
	for range 100 {
		if got := read(t, p, path, Window{}).Text; !slices.Contains(contents, got) {
			t.Errorf("read %d bytes that nobody wrote", len(got))
		}
	}
	wg.Wait()
	if got := names(t, dir); !slices.Equal(got, []string{"f"}) {
		t.Errorf("left behind: %q", got)
	}
}

// A file that the user saves between our look and the replacement is looked at again.
func TestWriteLooksAgain(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "a\n")
	target, err := p.Writable(path)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Dir.Close()
	o, err := openOld(target, path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.file.Close()
	put(t, path, "saved by the user\r\n")
	r := replacement{target: target, path: path, data: "x", old: o}
	if err := r.run(); !errors.Is(err, errMoved) {
		t.Errorf("replacing what was not looked at: %v", err)
	}
	if got := bytesOf(t, path); got != "saved by the user\r\n" {
		t.Errorf("on disk %q", got)
	}
}
