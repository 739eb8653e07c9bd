package ignore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Indexes that git writes, of each version and split, have what git says is tracked.
func TestParseIndexOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with")
	}
	for _, args := range []string{"--index-version 2", "--index-version 3", "--index-version 4", "--split-index", "sha256"} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			run := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(git, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
				return string(out)
			}
			if args == "sha256" {
				run("init", "-q", "--object-format=sha256")
			} else {
				run("init", "-q")
			}
			for i := range 300 {
				name := filepath.Join(dir, fmt.Sprintf("d%d", i%7), fmt.Sprintf("e%d", i%3), strings.Repeat("n", i%20)+fmt.Sprint("ä", i))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
					t.Fatal(err)
				}
				if i == 200 {
					run("add", ".")
					if args != "sha256" {
						run(append([]string{"update-index"}, strings.Split(args, " ")...)...)
					}
				}
			}
			run("add", "-N", ".") // an intent to add needs version 3
			x := readIndex(t, dir, "index")
			want := strings.Split(strings.TrimSuffix(run("ls-files", "-z"), "\x00"), "\x00")
			if !slices.Equal(x.paths, want) || len(want) != 300 {
				t.Errorf("got %d paths, want %d: %.200q", len(x.paths), len(want), x.paths)
			}
		})
	}
}

func readIndex(t *testing.T, dir, name string) *Index {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", name))
	if err != nil {
		t.Fatal(err)
	}
	x, shared, err := ParseIndex(data)
	if err != nil {
		t.Fatal(err)
	}
	if shared != "" {
		x.Add(readIndex(t, dir, shared))
	}
	return x
}

func TestIndexIn(t *testing.T) {
	x := &Index{paths: []string{"a", "b/c", "b/c.d", "b/c/d", "b/c/e/f", "b/c0", "bc"}}
	for folder, want := range map[string][]string{"b": {"c", "c.d", "c0"}, "b/c": {"d", "e"}, "b/c/e": {"f"}, "a": nil, "c": nil} {
		if got := x.In(folder); !slices.Equal(got, want) {
			t.Errorf("in %s: got %q, want %q", folder, got, want)
		}
	}
	if !x.Has("b/c") || x.Has("b") {
		t.Error("a tracked file, and a folder")
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 62) + "\x00name\x00" + strings.Repeat("\x00", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, _, err := ParseIndex(data)
		if err == nil && !slices.IsSorted(x.paths) {
			t.Errorf("got %q", x.paths)
		}
	})
}
