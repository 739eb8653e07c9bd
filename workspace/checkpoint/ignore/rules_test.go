package ignore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		rules, path string
		folder      bool
		want        Verdict
	}{
		{"*.log", "a/b.log", false, Ignored},
		{"*.log\n!b.log", "a/b.log", false, Kept},
		{"!b.log\n*.log", "b.log", false, Ignored},
		{"build/", "build", false, Nothing},
		{"build/", "a/build", true, Ignored},
		{"/build", "a/build", true, Nothing},
		{"a/b", "c/a/b", false, Nothing},
		{"**/b", "c/a/b", false, Ignored},
		{"a/**/b", "a/b", false, Ignored},
		{"a/**/b", "a/x/y/b", false, Ignored},
		{"a/**", "a", true, Nothing},
		{"a/*", "a/b/c", false, Nothing},
		{"a**/c", "ab/c", false, Ignored},
		{"a/b**/c", "a/bx/y/c", false, Ignored}, // git leaves off "a/b" first
		{"a/?b**/c", "a/xbx/y/c", false, Nothing},
		{"# c\n\\#d", "#d", false, Ignored},
		{"\\!d", "!d", false, Ignored},
		{"d  ", "d", false, Ignored},
		{"d\\ ", "d ", false, Ignored},
		{"d\r\n", "d", false, Ignored},
		{"\xef\xbb\xbfd", "d", false, Ignored},
		{"[[:digit:]a-c-]", "-", false, Ignored},
		{"[!a]", "a", false, Nothing},
		{"[^a]", "b", false, Ignored},
		{"[]a]", "]", false, Ignored},
		{"[a", "[a", false, Nothing},
		{"[[:none:]]", "n", false, Nothing},
		{"\xff*", "\xff\xfe", false, Ignored},
		{"", "", false, Nothing},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 200), false, Nothing},
		{strings.Repeat("**/", 30) + "b", strings.Repeat("a/", 200) + "c", false, Doubt},
		{strings.Repeat("\n", MaxSize+1), "a", false, Doubt},
	} {
		if got := Parse([]byte(test.rules)).Match(test.path, test.folder); got != test.want {
			t.Errorf("%.60q of %.60q: got %d, want %d", test.rules, test.path, got, test.want)
		}
	}
}

// Git itself is asked about many rules, made of what rules are made of, and about all paths of a small tree.
func TestAgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with")
	}
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	names := []string{"a", "b", "ab", "a.b", "-", "]", "a\\b", "ä", "A", " a", "a ", "#a", "!", "\xff", "1", "[a"}
	var paths []string
	folders := map[string]bool{}
	for range 220 {
		path := names[random.IntN(len(names))]
		for range random.IntN(4) {
			path += "/" + names[random.IntN(len(names))]
		}
		full := filepath.Join(dir, path)
		if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
			continue
		}
		for p := filepath.Dir(path); p != "."; p = filepath.Dir(p) {
			folders[p] = true
		}
		if f, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			f.Close()
			paths = append(paths, path)
		}
	}
	for p := range folders {
		if info, err := os.Stat(filepath.Join(dir, p)); err != nil || !info.IsDir() {
			delete(folders, p)
			continue
		}
		paths = append(paths, p)
	}
	run := func(in []byte, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	run(nil, "init", "-q")
	parts := []string{"a", "b", "ab", "*", "**", "?", "/", "/", "/**/", "**/", "/**", "[", "]", "[a-c]", "[!a]", "[^b]", "[[:alpha:]]", "[[:x:]]", "[[:", "[]a]", "[a-]", "[\\]]", "\\", "\\a", "\\ ", " ", "!", "#", "-", ".", "ä", "\xff", "\r", "A", "\\/", "[a-\\c]", "1", "[0-9]"}
	said := map[bool]int{}
	for round := range 400 {
		var text strings.Builder
		for range 1 + random.IntN(4) {
			if random.IntN(5) == 0 {
				text.WriteString("!")
			}
			for range 1 + random.IntN(5) {
				text.WriteString(parts[random.IntN(len(parts))])
			}
			text.WriteString("\n")
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		ignored := map[string]bool{}
		for _, p := range bytes.Split(run([]byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "--stdin", "-z"), []byte{0}) {
			ignored[string(p)] = true
		}
		rules := Parse([]byte(text.String()))
		for _, p := range paths {
			said[ignored[p]]++
			if got, want := ignores(rules, p, folders), ignored[p]; got != want {
				t.Errorf("round %d: %q of %q: got ignored %v, git says %v", round, text.String(), p, got, want)
			}
		}
		if t.Failed() {
			return
		}
	}
	if said[true] < 1000 || said[false] < 1000 {
		t.Errorf("git's answers are too much the same: %v", said)
	}
}

// ignores asks about the folders above first: what is in an ignored one is ignored.
func ignores(r *Rules, path string, folders map[string]bool) bool {
	for i := range len(path) {
		if path[i] == '/' && r.Match(path[:i], true) == Ignored {
			return true
		}
	}
	return r.Match(path, folders[path]) == Ignored
}

// No rules and no path take more than their steps, or leave the pattern.
func FuzzMatch(f *testing.F) {
	f.Add([]byte("a/**/[!b]\\*\n!x"), "a/b/c*", false)
	f.Fuzz(func(t *testing.T, text []byte, path string, folder bool) {
		rules := Parse(text)
		if got := rules.Match(path, folder); got == Doubt && len(text)*len(path) < 100 {
			t.Errorf("%q of %q: too many steps", text, path)
		}
	})
}
