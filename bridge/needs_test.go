package bridge

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sallyport/plugins/harness"
)

// TestSeedsFollowNothing: what an agent made of its own folder leads no copy elsewhere.
func TestSeedsFollowNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"shared/plugins", "own/real", "elsewhere"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"shared/plugins/a", "shared/settings", "elsewhere/settings"} {
		if err := os.WriteFile(at(f), []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"own/plugins": at("elsewhere"), "own/settings": at("elsewhere/settings")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	s := seeds{dirs: []string{at("own")}}
	s.copy(at("shared/plugins"), at("own/plugins"))
	s.copy(at("shared/settings"), at("own/settings"))
	s.copy(at("shared/settings"), at("outside"))
	if left, err := os.ReadDir(at("elsewhere")); err != nil || len(left) != 1 {
		t.Errorf("elsewhere are %v, %v", left, err)
	}
	if got, err := os.ReadFile(at("elsewhere/settings")); err != nil || string(got) != "elsewhere/settings" {
		t.Errorf("a file elsewhere is %q, %v", got, err)
	}
	if got, err := os.ReadFile(at("own/settings")); err != nil || string(got) != "shared/settings" {
		t.Errorf("the copy is %q, %v", got, err)
	}
	if _, err := os.Lstat(at("outside")); err == nil {
		t.Error("something was copied outside")
	}
}

// TestInstalledManifestsOpenLittle: what a manifest says of state is believed of built-in ones and the user's own; an
// installed one opens folders with its agent's name.
func TestInstalledManifestsOpenLittle(t *testing.T) {
	h := &harness.Harness{Identity: harness.Identity{ID: "goose"}, Program: harness.ProgramSpec{Locate: harness.Locate{Names: []string{"goose-cli"}}}}
	h.Own.Footprint.State = []string{"~/.goose", "~/.config/goose", "~/.local/share/goose-cli", "~/.bashrc", "~/.config/autostart", "~/goose", "~/.ssh", "~/.config"}
	h.Own.Footprint.Sockets = []string{"~/run/docker.sock"}
	w := whereabouts{env: map[string]string{"HOME": "/h"}}
	for origin, want := range map[harness.Origin]int{harness.Installed: 3, harness.Builtin: 8, harness.User: 8} {
		h.From.Origin = origin
		n := w.expand(h, "/p")
		if len(n.State) != want || (len(n.Sockets) == 0) != (origin == harness.Installed) {
			t.Errorf("%s: %v, %v", origin, n.State, n.Sockets)
		}
	}
}

// TestWhereabouts: a path is where the variable that is set moves it.
func TestWhereabouts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for _, tt := range []struct {
		row  string
		env  map[string]string
		want string
	}{
		{"~/.codex", map[string]string{"HOME": "/h"}, "/h/.codex"},
		{"~/.codex", map[string]string{"HOME": "/h", "CODEX_HOME": "/c"}, "/c"},
		{"~/.codex/config.toml", map[string]string{"HOME": "/h", "CODEX_HOME": "/c"}, "/c/config.toml"},
		{"~/.codex", map[string]string{"HOME": "/h", "CODEX_HOME": "relative"}, "/h/.codex"},
		{"~/.codex2", map[string]string{"HOME": "/h", "CODEX_HOME": "/c"}, "/h/.codex2"},
		{"~/.config/x", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/x"},
		{"~/.config/x", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x", "ALL": "/a"}, "/x/x"},
		{"~/.other", map[string]string{"HOME": "/h", "ALL": "/a"}, "/a/.other"},
	} {
		w := whereabouts{env: tt.env, moves: map[string]string{"CODEX_HOME": "~/.codex", "ALL": "~/"}}
		if got := w.place(tt.row); got != tt.want {
			t.Errorf("%s with %v: got %s, want %s", tt.row, tt.env, got, tt.want)
		}
	}
}
