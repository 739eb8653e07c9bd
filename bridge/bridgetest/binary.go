package bridgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Build builds the sallyport program for the test and gives its path.
func Build(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sallyport")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", name, "./cmd/sallyport")
	cmd.Dir = Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building sallyport: %v: %s", err, out)
	}
	return name
}
