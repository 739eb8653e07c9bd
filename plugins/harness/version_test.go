package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	// Each comes before the next (Semantic Versioning 2.0.0, section 11).
	order := []string{"0.9.9", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.57.0", "2", "10.0"}
	for i, a := range order {
		for j, b := range order {
			got := compareVersions(a, b)
			if got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("compareVersions(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"1.2", "1.2.0"}, {"v1.2.3", "1.2.3"}, {"1.2.3+x", "1.2.3"}, {"01.2.3", "1.2.3"}} {
		if got := compareVersions(same[0], same[1]); got != 0 {
			t.Errorf("compareVersions(%s, %s) = %d, want 0", same[0], same[1], got)
		}
	}
}

func TestFindVersion(t *testing.T) {
	for text, want := range map[string]string{
		"0.61.0\n":                             "0.61.0",
		"@agentclientprotocol/codex-acp 2.6.0": "2.6.0",
		" goose v1.57.0-rc.1 (abc)":            "1.57.0-rc.1",
		"v20.20.2":                             "20.20.2",
		"tool/3.4":                             "3.4",
		"no number, or 3":                      "",
		"":                                     "",
		"warning: a1.2.3 is old\n4.5.6":        "4.5.6",
	} {
		if got := findVersion(text); got != want {
			t.Errorf("findVersion(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestVersion: the version is read from the program and compared with those
// tested (H015, H016); the package speaks for a program that does not.
func TestVersion(t *testing.T) {
	h := &Harness{Program: ProgramSpec{VersionArgs: []string{"--version"}, Tested: Tested{"1.2.0", "1.4.0"}}}
	for _, tc := range []struct {
		name, printed, packaged string
		err                     error
		found                   string
		status                  Status
	}{
		{"tested", "x 1.3.0", "", nil, "1.3.0", IsTested},
		{"oldest", "1.2.0", "", nil, "1.2.0", IsTested},
		{"newest", "1.4.0", "", nil, "1.4.0", IsTested},
		{"older", "1.1.9", "", nil, "1.1.9", IsOlder},
		{"newer", "1.4.1", "", nil, "1.4.1", IsNewer},
		{"pre-release of the oldest", "1.2.0-rc.1", "", nil, "1.2.0-rc.1", IsOlder},
		{"silent", "", "", nil, "", Untested},
		{"silent, but a package", "", "1.3.0", nil, "1.3.0", IsTested},
		{"program over package", "1.4.1", "1.3.0", nil, "1.4.1", IsNewer},
		{"does not run", "2.0.0 missing\nmore", "1.3.0", errors.New("exit status 127"), "1.3.0", IsTested},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := h.Version(t.Context(), Program{Path: "/bin/x", Package: Package{Version: tc.packaged}},
				func(_ context.Context, path string, args []string) ([]byte, error) {
					if path != "/bin/x" || !slices.Equal(args, []string{"--version"}) {
						t.Errorf("ran %s %q", path, args)
					}
					return []byte(tc.printed), tc.err
				})
			if v != (Version{tc.found, tc.status}) {
				t.Errorf("Version = %+v, want %s %s", v, tc.found, tc.status)
			}
			if !errors.Is(err, tc.err) {
				t.Errorf("error = %v, want %v", err, tc.err)
			}
			if err != nil && !strings.HasSuffix(err.Error(), "exit status 127: 2.0.0 missing") {
				t.Errorf("error %q does not say what the program said", err)
			}
		})
	}
}

// TestVersionTellsWhy: what the program said on standard error is in the error.
func TestVersionTellsWhy(t *testing.T) {
	h := &Harness{Program: ProgramSpec{VersionArgs: []string{"-v"}}}
	_, err := h.Version(t.Context(), Program{Path: "/x"}, func(context.Context, string, []string) ([]byte, error) {
		return nil, &exec.ExitError{ProcessState: &os.ProcessState{}, Stderr: []byte("env: node: not there\n\x1b[2J")}
	})
	if err == nil || !strings.HasPrefix(err.Error(), "running /x -v: ") || !strings.HasSuffix(err.Error(), ": env: node: not there") {
		t.Errorf("error = %v", err)
	}
}

// TestVersionRunsNothing: a user's command line and ourselves are not run
// with arguments that are not theirs.
func TestVersionRunsNothing(t *testing.T) {
	run := func(context.Context, string, []string) ([]byte, error) {
		t.Error("it ran")
		return nil, nil
	}
	user := &Harness{Identity: Identity{From: From{Origin: User}}, Program: ProgramSpec{VersionArgs: []string{"--version"}}}
	self := &Harness{Own: Own{Self: true}, Program: ProgramSpec{VersionArgs: []string{"--version"}}}
	for _, h := range []*Harness{user, self} {
		if v, err := h.Version(t.Context(), Program{Path: "/x"}, run); err != nil || v != (Version{"", Untested}) {
			t.Errorf("Version = %+v, %v", v, err)
		}
	}
}
