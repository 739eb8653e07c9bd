package fence

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// git runs it in dir, with nobody's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@y", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@y")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

// TestTracked: a file whose content git tracks is not hidden, in every form of index; one that was changed is, and one that
// an index names without knowing its content.
func TestTracked(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	for name, init := range map[string][]string{
		"version 2": {"init", "-q"}, "version 4": {"-c", "index.version=4", "init", "-q"}, "sha256": {"init", "-q", "--object-format=sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{
				"p/a.go": "x", "p/testdata/cert.pem": "CERT", "p/testdata/changed.pem": "old", "p/testdata/forged.pem": "SECRET",
				"p/b/b.txt": "", "p/b/bb.key": "KEY", "p/untracked.pem": "NEW",
			})
			p := root + "/p"
			git(t, p, init...)
			if name == "version 4" {
				git(t, p, "config", "index.version", "4")
			}
			git(t, p, "add", "a.go", "testdata/cert.pem", "testdata/changed.pem", "b")
			blob := strings.Fields(git(t, p, "rev-parse", ":a.go"))[0]
			git(t, p, "update-index", "--add", "--cacheinfo", "100644,"+blob+",testdata/forged.pem")
			if err := os.WriteFile(p+"/testdata/changed.pem", []byte("new"), 0o644); err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(git(t, p, "ls-files"))
			var got []string
			for file := range readTracked(p).files {
				got = append(got, file)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("tracked are %q, want %q", got, want)
			}
			l := layoutOf(t, root, Rules{})
			has(t, "hidden", hiddenPaths(l), "$/p/testdata/changed.pem", "$/p/testdata/forged.pem", "$/p/untracked.pem")
			lacks(t, "hidden", hiddenPaths(l), "$/p/testdata/cert.pem", "$/p/b/bb.key")
			has(t, "closed", l.Closed, "$/p/testdata/cert.pem", "$/p/b/bb.key")
		})
	}
}

// FuzzIndex: an index is an agent's to write.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), 20)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"+strings.Repeat("\x00", 62)+"\x00a\x00"), 20)
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		if size != 20 && size != 32 {
			return
		}
		for path, oid := range parseIndex(raw, size) {
			if len(oid) != size || strings.ContainsRune(path, 0) {
				t.Errorf("%q is %x", path, oid)
			}
		}
	})
}
