package fence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words are the components that the fuzzer puts together. Nearly every one exists somewhere in the tree.
var words = []string{
	"p", "out", "q", "a", "b", "f", "new", "..", ".", "", "in", "up", "abs", "far", "priv", "loop", "dang", "chain",
	".git", ".GIT", "g", ".env", "e", "p-evil", ".gitignore", "x",
}

func fuzzTree(t testing.TB) string {
	needLinksTB(t)
	return tree(t, map[string]string{
		"p/a/b/f": "inside", "p/f": "inside", "p/.git/f": "git", "p/a/.git/f": "git", "p/.env": "secret",
		"out/f": "outside", "out/a/b/f": "outside", "q/f": "private", "q/a/f": "private", "p-evil/f": "outside",
		"p/in": "-> a/b", "p/up": "-> ..", "p/abs": "-> $/p/a", "p/far": "-> $/out", "p/priv": "-> ../q", "p/loop": "-> loop",
		"p/dang": "-> a/none", "p/a/dang": "-> ../../out/none", "p/chain": "-> abs/../in", "p/g": "-> .git", "p/e": "-> .env",
		"p/a/up": "-> ../..", "p/a/far": "-> ../far/a", "out/in": "-> $/p", "out/priv": "-> ../q", "q/far": "-> ../p/a",
		"p/x": "-> $/p/a/up/out/in/a",
	})
}

func needLinksTB(t testing.TB) {
	if native() == windowsPaths {
		t.Skip("symbolic links need a privilege on Windows")
	}
}

// FuzzPaths performs every access that is allowed, and asks filepath.EvalSymlinks where it went.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"\x00\x03\x05", "\x00\x0b\x01\x05", "\x00\x0d\x05", "\x00\x19\x05", "\x00\x03\x0b\x02\x05", "\x00\x11\x05", "\x00\x14\x05", "\x00\x03\x10"} {
		f.Add([]byte(s))
	}
	root := fuzzTree(f)
	p := policy(f, root+"/p", Rules{Private: []string{root + "/q"}})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := root
		for _, b := range data[:min(len(data), 12)] {
			path += "/" + words[int(b)%len(words)]
		}
		checkReadTruth(t, p, root, path)
		checkWriteTruth(t, p, root, path)
	})
}

func checkReadTruth(t *testing.T, p *Policy, root, path string) {
	truth, err := filepath.EvalSymlinks(filepath.Clean(path))
	exists := err == nil
	f, err := p.OpenRead(path)
	if err != nil {
		if exists && verdictOf(err) == Private && !strings.HasPrefix(truth, root+"/q") && !strings.HasPrefix(filepath.Clean(path), root+"/q") {
			t.Errorf("read of %s, which is %s: %v", path, truth, err)
		}
		return
	}
	defer f.Close()
	if !exists || strings.HasPrefix(truth+"/", root+"/q/") || filepath.Base(truth) == ".env" {
		t.Errorf("read of %s, which is %s, is allowed", path, truth)
	}
	info, err := os.Stat(truth)
	opened, err2 := f.Stat()
	if err != nil || err2 != nil || !os.SameFile(info, opened) {
		t.Errorf("read of %s opened another file than %s", path, truth)
	}
}

func checkWriteTruth(t *testing.T, p *Policy, root, path string) {
	clean := filepath.Clean(path)
	w, err := p.Writable(path)
	if err != nil {
		if truth, ok := existing(clean); ok && verdictOf(err) == Region && strings.HasPrefix(truth+"/", root+"/p/") {
			t.Errorf("write to %s, which is %s: %v", path, truth, err)
		}
		return
	}
	defer w.Dir.Close()
	_, err = w.Dir.Lstat(w.Name)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		if err := w.Dir.WriteFile(w.Name, []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	truth, err := filepath.EvalSymlinks(clean)
	if fresh {
		w.Dir.Remove(w.Name)
		for _, made := range []string{"/p/new", "/p/x/new", "/p/a/new", "/p/a/b/new", "/p/a/none"} {
			os.RemoveAll(root + made)
		}
	}
	if err != nil || truth != w.Path || !strings.HasPrefix(truth, root+"/p/") {
		t.Fatalf("write to %s went to %s (%v), the target says %s", path, truth, err, w.Path)
	}
	for c := range strings.SplitSeq(strings.TrimPrefix(truth, root), "/") {
		if strings.EqualFold(c, ".git") || c == ".env" {
			t.Errorf("write to %s went to %s", path, truth)
		}
	}
}

// existing resolves what exists of a path and appends the rest; false where a link leads nowhere.
func existing(path string) (string, bool) {
	var rest []string
	for {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		rest = append([]string{filepath.Base(path)}, rest...)
		path = filepath.Dir(path)
	}
	truth, err := filepath.EvalSymlinks(path)
	return filepath.Join(slices.Insert(rest, 0, truth)...), err == nil
}
