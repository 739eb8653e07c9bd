package bridgetest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Build builds the sallyport program for the test and gives its path.
func Build(t testing.TB) string {
	t.Helper()
	path, err := build(t, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(t testing.TB, dir string) (string, error) {
	path := filepath.Join(dir, "sallyport")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	root := Root(t)
	if err := dependOn(root); err != nil {
		return "", fmt.Errorf("looking at the source: %w", err)
	}
	cmd := exec.Command("go", "build", "-o", path, "./cmd/sallyport")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building sallyport: %w: %s", err, out)
	}
	return path, nil
}

// dependOn looks at every folder of the source. The go command remembers which a
// test has looked at, and repeats no result of another source.
func dependOn(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		return err
	})
}

// Program is the sallyport program, built once for all tests of a package whose
// TestMain is Main. The zero value is ready.
type Program struct {
	once      sync.Once
	dir, path string
	err       error
}

// Main runs the tests and removes what was built for them.
func (p *Program) Main(m *testing.M) {
	status := m.Run()
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
	os.Exit(status)
}

// Path gives the program's path, and builds it for the first test that asks.
func (p *Program) Path(t testing.TB) string {
	t.Helper()
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "sallyport-built-"); p.err == nil {
			p.path, p.err = build(t, p.dir)
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.path
}
