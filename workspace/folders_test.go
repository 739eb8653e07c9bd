package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestD7_Folders(t *testing.T) {
	base := t.TempDir()
	one, two, file := filepath.Join(base, "one"), filepath.Join(base, "two x"), filepath.Join(base, "file")
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, file, "")
	got, errs := Folders([]string{"", one, file, URIOf(two), filepath.Join(base, "none"), "relative", one + string(filepath.Separator), " "})
	if !slices.Equal(got, []string{one, two}) || len(errs) != 3 {
		t.Errorf("Folders = %q, %v; want %q and three errors", got, errs, []string{one, two})
	}
}

func TestD7_UnreadableFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("this user can read every folder")
	}
	base := t.TempDir()
	closed := filepath.Join(base, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	got, errs := Folders([]string{closed, base})
	if !slices.Equal(got, []string{base}) || len(errs) != 1 {
		t.Errorf("Folders = %q, %v; want the other one", got, errs)
	}
}

func TestFolderPath(t *testing.T) {
	tests := []struct {
		f           flavour
		entry, want string
		bad         bool
	}{
		{windows, "C:", `C:\`, false},
		{windows, "c:/p", `C:\p`, false},
		{windows, "file:///c%3A/p", `C:\p`, false},
		{windows, "", "", false},
		{windows, "p", "", true},
		{windows, `C:p`, "", true}, // relative to the drive's own current folder
		{windows, `\\server\share`, `\\server\share\`, false},
		{posix, "", "", false},
		{posix, "C:", "", true},
		{posix, "/p/", "/p", false},
		{posix, "untitled:a", "", true},
	}
	for _, tt := range tests {
		got, err := folderPath(tt.f, tt.entry)
		if got != tt.want || (err != nil) != tt.bad {
			t.Errorf("folderPath(%q) = %q, %v; want %q, error %t", tt.entry, got, err, tt.want, tt.bad)
		}
	}
}
