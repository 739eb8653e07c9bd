package bridgetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Peers is the folder that testdata/peers installs into.
func Peers(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("SALLYPORT_PEERS"); dir != "" {
		return dir
	}
	return filepath.Join(cache(t), "sallyport", "peers")
}

// cache is the user's cache folder, as the scripts of testdata/peers see it on
// every system.
func cache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, ".cache")
}

// editors are the real editors, by name, below the folder of peers.
var editors = map[string]string{
	"nvim-0.10": "nvim-0.10/bin/nvim",
	"nvim-0.12": "nvim-0.12/bin/nvim",
	"helix":     "helix/bin/hx",
}

// Editor is the program of a real editor: nvim-0.10, nvim-0.12 or helix.
func Editor(t testing.TB, name string) string {
	t.Helper()
	below, ok := editors[name]
	if !ok {
		t.Fatalf("no editor is called %s", name)
	}
	path := filepath.Join(Peers(t), filepath.FromSlash(below))
	if _, err := os.Stat(path); err != nil {
		Missing(t, name, "testdata/peers/editors.sh")
	}
	return path
}

// Missing ends a test for which a peer is not here: a skip with its reason, a
// failure where the variable CI is true.
func Missing(t testing.TB, peer, remedy string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing, and CI needs it: %s", peer, remedy)
	}
	t.Skipf("%s is missing: %s", peer, remedy)
}

// Root is the module's folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module sallyport\n") {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the module's folder is not above the test's")
		}
		dir = filepath.Dir(dir)
	}
}
