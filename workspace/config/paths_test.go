package config

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the expected paths are written with slashes")
	}
	tests := []struct {
		name, system string
		env          map[string]string
		home         string
		want         Paths
	}{
		{"Linux", "linux", nil, "/h",
			Paths{"/h/.config/sallyport/config.json", "/h/.local/state/sallyport", "/h/.local/share/sallyport"}},
		{"XDG", "linux", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"}, "",
			Paths{"/c/sallyport/config.json", "/s/sallyport", "/d/sallyport"}},
		{"relative XDG is ignored", "linux", map[string]string{"XDG_CONFIG_HOME": "c"}, "/h",
			Paths{"/h/.config/sallyport/config.json", "/h/.local/state/sallyport", "/h/.local/share/sallyport"}},
		{"macOS", "darwin", nil, "/h", Paths{
			"/h/Library/Application Support/sallyport/config.json",
			"/h/Library/Application Support/sallyport/state",
			"/h/Library/Application Support/sallyport/packages"}},
		{"macOS with XDG", "darwin", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/h",
			Paths{"/c/sallyport/config.json", "/s/sallyport", "/h/Library/Application Support/sallyport"}},
		{"Windows", "windows", map[string]string{"APPDATA": "/roam", "LOCALAPPDATA": "/local"}, "/h",
			Paths{"/roam/sallyport/config.json", "/local/sallyport/state", "/local/sallyport/packages"}},
		{"Windows without variables", "windows", nil, "/h", Paths{
			"/h/AppData/Roaming/sallyport/config.json", "/h/AppData/Local/sallyport/state", "/h/AppData/Local/sallyport/packages"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pathsOf(tt.system, func(name string) string { return tt.env[name] }, tt.home)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := pathsOf("linux", func(string) string { return "" }, ""); err == nil {
		t.Error("paths were found without a home folder")
	}
}

func TestUserPathsAreAbsolute(t *testing.T) {
	p, err := UserPaths()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{p.Config, p.State, p.Data} {
		if !filepath.IsAbs(path) {
			t.Errorf("%s is not absolute", path)
		}
	}
}
