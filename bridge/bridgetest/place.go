package bridgetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Place is where one test runs an agent. It is removed when the test ends.
type Place struct {
	Dir     string // holds the others
	Home    string // HOME
	Temp    string // TMPDIR
	Project string // the project; its parent belongs to the place too
	Bin     string // first on PATH
}

// NewPlace makes one, not below /tmp.
func NewPlace(t testing.TB) Place {
	t.Helper()
	base := filepath.Join(cache(t), "sallyport", "tests")
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "place-")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	p := Place{Dir: dir, Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp"), Project: filepath.Join(dir, "ws", "project"), Bin: filepath.Join(dir, "bin")}
	for _, d := range []string{p.Home, p.Temp, p.Project, p.Bin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { remove(t, dir) })
	return p
}

// removing is how long a dying process may go on writing into its place.
const removing = 10 * time.Second

// remove deletes a folder that a process may still be writing to.
func remove(t testing.TB, dir string) {
	var err error
	for end := time.Now().Add(removing); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = os.RemoveAll(dir); err == nil {
			return
		}
	}
	t.Errorf("removing the place: %v", err)
}

// Write makes a file below the place's folder.
func (p Place) Write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(p.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Environ is the environment for programs of this place, sallyport itself
// among them: its folders, PATH with Bin first, a language, nothing else.
func (p Place) Environ() []string {
	return []string{
		"HOME=" + p.Home, "TMPDIR=" + p.Temp, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/bash",
		"PATH=" + strings.Join([]string{p.Bin, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"GORACE=atexit_sleep_ms=0", // programs built for the race detector sleep at their end
	}
}
