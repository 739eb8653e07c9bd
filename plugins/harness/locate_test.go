package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// onPath is a lookPath over a table.
func onPath(programs map[string]string) func(string) (string, error) {
	return func(name string) (string, error) {
		if path, ok := programs[name]; ok {
			return path, nil
		}
		return "", exec.ErrNotFound
	}
}

func TestFind(t *testing.T) {
	abs := func(name string) string { return filepath.Join(t.TempDir(), name) }
	first, second := abs("a"), abs("b")
	h := &Harness{
		Identity: Identity{ID: "x", Name: "X", From: From{Origin: Installed}},
		Program:  ProgramSpec{Locate: Locate{Names: []string{"a", "b"}}},
		Install:  InstallSpec{Lines: Lines{Windows: "get x", Unix: "get x"}},
		ACP:      ACP{Args: []string{"acp"}},
	}
	for _, tc := range []struct {
		name string
		path map[string]string
		want string
	}{
		{"first name", map[string]string{"a": first, "b": second}, first},
		{"second name", map[string]string{"b": second}, second},
		{"a relative result is not taken", map[string]string{"a": "./a", "b": second}, second},
		{"nothing", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := h.Find(onPath(tc.path))
			if tc.want == "" {
				var missing *NotFoundError
				if !errors.As(err, &missing) || missing.Install != "get x" || !IsNotFound(err) {
					t.Fatalf("error = %v, want *NotFoundError with the install line", err)
				}
				if got, want := err.Error(), "X is not installed: a or b is not on PATH"; got != want {
					t.Errorf("error = %q, want %q", got, want)
				}
				return
			}
			if err != nil || p.Path != tc.want || !slices.Equal(p.Args, []string{"acp"}) {
				t.Errorf("Find = %+v, %v, want %s", p, err, tc.want)
			}
		})
	}
}

// TestL6_WhatIsMissing: what the look-up knows (the PATH searched, a missing
// interpreter) reaches the user; there is a short form for lists.
func TestL6_WhatIsMissing(t *testing.T) {
	h := &Harness{Identity: Identity{Name: "X"}, Program: ProgramSpec{Locate: Locate{Names: []string{"x"}}}}
	cause := errors.New("program node not found on PATH /usr/bin:/bin, which /opt/x needs to run")
	_, err := h.Find(func(string) (string, error) { return "", cause })
	var missing *NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, cause) {
		t.Fatalf("error = %v", err)
	}
	if got, want := err.Error(), "X cannot be started: "+cause.Error(); got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
	if got, want := missing.Short(), "X is not installed: x is not on PATH"; got != want {
		t.Errorf("Short() = %q, want %q", got, want)
	}
}

// TestFindLooksNow: what PATH says at the call counts, not an earlier answer
// (C018, C019).
func TestFindLooksNow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	h := &Harness{Identity: Identity{Name: "X"}, Program: ProgramSpec{Locate: Locate{Names: []string{"agent-of-test"}}}}
	if _, err := h.Find(nil); !IsNotFound(err) {
		t.Fatalf("before it is there: %v", err)
	}
	name := filepath.Join(dir, "agent-of-test")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.WriteFile(name, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err := h.Find(nil); err != nil || p.Path != name {
		t.Errorf("Find = %+v, %v, want %s", p, err, name)
	}
}

// TestOtherAdapter: two adapters with one program name are told apart by the
// package that the program belongs to, through links and launcher scripts.
func TestOtherAdapter(t *testing.T) {
	by := builtins(t)
	const acp, zed = "@agentclientprotocol/codex-acp", "@zed-industries/codex-acp"
	for _, tc := range []struct {
		name      string
		pkg       string
		script    bool
		yes, no   string
		version   string
		otherName string
	}{
		{"link", acp, false, "codex", "codex-zed", "2.6.0", acp},
		{"link to the other", zed, false, "codex-zed", "codex", "0.16.0", zed},
		{"script", acp, true, "codex", "codex-zed", "2.6.0", acp},
		{"script of the other", zed, true, "codex-zed", "codex", "0.16.0", zed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && !tc.script {
				t.Skip("npm makes scripts here, not links")
			}
			path := npmInstall(t, tc.pkg, tc.version, tc.script)
			p, err := by[tc.yes].Find(onPath(map[string]string{"codex-acp": path}))
			if err != nil || p.Package != (Package{tc.pkg, tc.version}) {
				t.Errorf("%s: Find = %+v, %v", tc.yes, p, err)
			}
			_, err = by[tc.no].Find(onPath(map[string]string{"codex-acp": path}))
			var missing *NotFoundError
			if !errors.As(err, &missing) || missing.Other.Name != tc.otherName || !strings.Contains(err.Error(), tc.otherName) {
				t.Errorf("%s: error = %v, want one that names %s", tc.no, err, tc.otherName)
			}
		})
	}
}

// npmInstall lays out a package and its program as npm does.
func npmInstall(t *testing.T, pkg, version string, script bool) string {
	t.Helper()
	prefix := t.TempDir()
	root := filepath.Join(prefix, "node_modules", filepath.FromSlash(pkg))
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "package.json"), `{"name": "`+pkg+`", "version": "`+version+`", "type": "module"}`)
	write(filepath.Join(root, "dist", "index.js"), "")
	write(filepath.Join(root, "dist", "package.json"), `{"type": "module"}`) // no name: not the package's own
	program := filepath.Join(prefix, "node_modules", ".bin", "codex-acp")
	if script {
		write(program, `"%dp0%\..\`+strings.ReplaceAll(pkg, "/", `\`)+`\dist\index.js" %*`)
		return program
	}
	write(filepath.Join(filepath.Dir(program), ".keep"), "")
	if err := os.Symlink(filepath.Join(root, "dist", "index.js"), program); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestNoPackage: a package.json of the user's project is not the program's.
func TestNoPackage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name": "mine", "version": "9.9.9"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gemini")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := builtins(t)["gemini"].Find(onPath(map[string]string{"gemini": program}))
	if err != nil || p.Package != (Package{}) {
		t.Errorf("Find = %+v, %v, want no package", p, err)
	}
}

// TestL7_Launcher: what cmd.exe would read as syntax does not reach a batch
// file (C029); a space does, and so does everything towards other programs.
func TestL7_Launcher(t *testing.T) {
	for _, tc := range []struct {
		goos, path, arg string
		refused         bool
	}{
		{"windows", `C:\bin\agent.cmd`, "a b", false},
		{"windows", `C:\bin\agent.cmd`, "a&calc", true},
		{"windows", `C:\bin\agent.CMD`, "a|b", true},
		{"windows", `C:\bin\agent.bat`, "a<b", true},
		{"windows", `C:\bin\agent.bat`, "a>b", true},
		{"windows", `C:\bin\agent.bat`, "a^b", true},
		{"windows", `C:\bin\agent.bat`, "%PATH%", true},
		{"windows", `C:\bin\agent.bat`, `a"b`, true},
		{"windows", `C:\bin\agent.bat`, "a\nb", true},
		{"windows", `C:\bin\agent.exe`, "a&calc", false},
		{"windows", `C:\bin.cmd\agent`, "a&calc", false},
		{"linux", "/bin/agent.cmd", "a&calc", false},
	} {
		err := checkLauncher(tc.goos, Program{Path: tc.path, Args: []string{"x", tc.arg}})
		var launcher *LauncherError
		if errors.As(err, &launcher) != tc.refused {
			t.Errorf("%s %s %q: error %v, refused should be %v", tc.goos, tc.path, tc.arg, err, tc.refused)
		}
		if launcher != nil && (launcher.Argument != tc.arg || launcher.Launcher != tc.path) {
			t.Errorf("%s %q: %+v", tc.path, tc.arg, launcher)
		}
	}
}

// TestDemoIsOurselves: the demo needs nothing on PATH.
func TestDemoIsOurselves(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := builtins(t)["demo"].Find(onPath(nil))
	if err != nil || p.Path != self || !slices.Equal(p.Args, []string{"fake-agent", "--demo"}) {
		t.Errorf("Find = %+v, %v, want %s", p, err, self)
	}
}
