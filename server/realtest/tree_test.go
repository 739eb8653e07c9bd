package realtest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// look reads the project, without git's machinery.
func (s *stage) look(t *testing.T) bridgetest.Tree {
	t.Helper()
	return bridgetest.Look(t, s.Project, ".git")
}

// same wants two trees to be one.
func same(t *testing.T, when string, got, want bridgetest.Tree) {
	t.Helper()
	for _, name := range got.Changed(want) {
		t.Errorf("%s %s is %s, want %s", when, name, got.At(name), want.At(name))
	}
}

// git runs git in the project, as a person does, and returns what it prints.
func (s *stage) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.gitTried(args...)
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return out
}

func (s *stage) gitTried(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{
		"-C", s.Project, "--no-optional-locks", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.safecrlf=false",
	}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// machinery is what git knows of the project: what it says, and the bytes of
// what it keeps, but for the index, of which only the meaning counts: agents
// run git, too, and it notes the times of files there.
func (s *stage) machinery(t *testing.T) bridgetest.Tree {
	t.Helper()
	all := bridgetest.Tree{
		"status": s.git(t, "status", "--porcelain=v2", "--branch"),
		"staged": s.git(t, "diff", "--cached", "--binary"),
		"index":  s.git(t, "ls-files", "--stage", "-v"),
		"stash":  s.git(t, "stash", "list"),
	}
	for _, name := range []string{"HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "config", "refs/heads", "refs/stash", "logs/HEAD"} {
		all[name] = s.kept(t, filepath.Join(s.Project, ".git", filepath.FromSlash(name)))
	}
	return all
}

// kept is a file's bytes, or those of all files in a folder.
func (s *stage) kept(t *testing.T, path string) string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(p)
		files[p] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s: %q\n", filepath.Base(p), files[p])
	}
	return b.String()
}
