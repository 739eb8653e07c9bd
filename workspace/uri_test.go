package workspace

import (
	"errors"
	"strings"
	"testing"
)

func TestPathOf(t *testing.T) {
	tests := []struct {
		name string
		f    flavour
		uri  string
		want string
	}{
		{"plain", posix, "file:///p/a.txt", "/p/a.txt"},
		{"D2 decoded once", posix, "file:///p%2520q/a.txt", "/p%20q/a.txt"},
		{"D3 space hash and Hangul", posix, "file:///tmp/%ED%85%8C%20x%23y", "/tmp/테 x#y"},
		{"bare hash and question mark", posix, "file:///p/a#b?c", "/p/a#b?c"},
		{"localhost", posix, "file://localhost/p/a", "/p/a"},
		{"one slash", posix, "file:/p/a", "/p/a"},
		{"upper case scheme", posix, "FILE:///p/a", "/p/a"},
		{"dots", posix, "file:///p/./b/../a", "/p/a"},
		{"dots above root", posix, "file:///../../p", "/p"},
		{"not UTF-8", posix, "file:///p/%FF", "/p/\xff"},
		{"root", posix, "file:///", "/"},
		{"backslash is a name", posix, `file:///p/a%5Cb`, `/p/a\b`},
		{"D1 escaped lower case drive", windows, "file:///c%3A/p/a.txt", `C:\p\a.txt`},
		{"D1 bare drive", windows, "file:///C:/p/a.txt", `C:\p\a.txt`},
		{"drive alone", windows, "file:///c:", `C:\`},
		{"UNC", windows, "file://server/share/d%20e/a.txt", `\\server\share\d e\a.txt`},
		{"UNC with four slashes", windows, "file:////server/share/a", `\\server\share\a`},
		{"UNC does not climb out of the share", windows, "file://server/share/../../x", `\\server\share\x`},
		{"localhost drive", windows, "file://localhost/c:/a", `C:\a`},
		{"percent", windows, "file:///c%3A/100%25", `C:\100%`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pathOf(tt.f, tt.uri)
			if err != nil || got != tt.want {
				t.Errorf("pathOf(%q) = %q, %v; want %q", tt.uri, got, err, tt.want)
			}
		})
	}
}

func TestPathOfErrors(t *testing.T) {
	tests := []struct {
		name   string
		f      flavour
		uri    string
		noPath bool
	}{
		{"untitled", posix, "untitled:Untitled-1", true},
		{"git", posix, "git:/p/a", true},
		{"empty", posix, "", false},
		{"a path", posix, "/p/a", false},
		{"a Windows path", windows, `c:\p\a`, false},
		{"bad escape", posix, "file:///p/100%", false},
		{"bad hex", posix, "file:///p/%zz", false},
		{"NUL", posix, "file:///p/%00a", false},
		{"other host", posix, "file://server/p", false},
		{"relative", posix, "file:p", false},
		{"no path", posix, "file://host", false},
		{"no drive", windows, "file:///p/a", false},
		{"host without share", windows, "file://server/", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pathOf(tt.f, tt.uri)
			if err == nil {
				t.Fatalf("pathOf(%q) = %q; want an error", tt.uri, got)
			}
			if errors.Is(err, ErrNoPath) != tt.noPath {
				t.Errorf("pathOf(%q): %v; ErrNoPath %v, want %v", tt.uri, err, !tt.noPath, tt.noPath)
			}
		})
	}
}

func TestURIOf(t *testing.T) {
	tests := []struct {
		f          flavour
		path, want string
	}{
		{posix, "/p/a.txt", "file:///p/a.txt"},
		{posix, "/tmp/테 x#y/a?b%.txt", "file:///tmp/%ED%85%8C%20x%23y/a%3Fb%25.txt"},
		{posix, `/p/a\b:c`, "file:///p/a%5Cb%3Ac"},
		{windows, `c:\p q\a.txt`, "file:///C:/p%20q/a.txt"},
		{windows, `C:`, "file:///C:/"},
		{windows, `\\server\share\a b`, "file://server/share/a%20b"},
	}
	for _, tt := range tests {
		if got := uriOf(tt.f, tt.path); got != tt.want {
			t.Errorf("uriOf(%q) = %q; want %q", tt.path, got, tt.want)
		}
	}
}

func FuzzURIRoundTrip(f *testing.F) {
	for _, seed := range []string{"/p/a.txt", "/tmp/테 x#y/a?b%20.txt", "/../a//b/.", `/C:\x`, "/\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.IndexByte(name, 0) >= 0 {
			t.Skip("no file is named so")
		}
		for path, fl := range map[string]flavour{"/" + name: posix, `C:\` + name: windows} {
			uri := uriOf(fl, path)
			got, err := pathOf(fl, uri)
			if err != nil || got != clean(fl, path) {
				t.Errorf("pathOf(uriOf(%q)) = %q, %v; want %q", path, got, err, clean(fl, path))
			}
		}
		if path, err := pathOf(posix, name); err == nil {
			again, err := pathOf(posix, uriOf(posix, path))
			if err != nil || again != path {
				t.Errorf("pathOf(%q) = %q, but its URI gives %q, %v", name, path, again, err)
			}
		}
	})
}
