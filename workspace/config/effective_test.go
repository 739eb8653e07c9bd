package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func projectFile(t *testing.T, folder, text string) *Project {
	t.Helper()
	file := filepath.Join(folder, ProjectFile)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, problems, err := LoadProject(folder)
	if err != nil || len(problems) > 0 {
		t.Fatalf("LoadProject(%s): %v, %v", text, problems, err)
	}
	return p
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEffective(t *testing.T) {
	tests := []struct {
		name    string
		user    func(*Config)
		project string
		want    func(*Config)
	}{
		{"nothing", func(*Config) {}, `{}`, func(*Config) {}},
		{"stricter mode", func(c *Config) { c.Mode = Bypass }, `{"mode": "default"}`, func(c *Config) { c.Mode = Ask }},
		{"mode plan", func(*Config) {}, `{"mode": "plan"}`, func(c *Config) { c.Mode = Plan }},
		{"the user's mode is stricter", func(c *Config) { c.Mode = Plan }, `{"mode": "default"}`, func(c *Config) { c.Mode = Plan }},
		{"policy deny", func(*Config) {}, `{"permissions": {"policy": "deny"}}`, func(c *Config) { c.Permissions.Policy = PolicyDeny }},
		{"policy ask for record", func(c *Config) { c.Permissions.Policy = PolicyRecord }, `{"permissions": {"policy": "ask"}}`,
			func(c *Config) { c.Permissions.Policy = PolicyAsk }},
		{"the user's policy is stricter", func(c *Config) { c.Permissions.Policy = PolicyDeny }, `{"permissions": {"policy": "ask"}}`,
			func(c *Config) { c.Permissions.Policy = PolicyDeny }},
		{"rules", func(c *Config) { c.Permissions.Deny = []string{"Bash(rm:*)"} }, `{"permissions": {"deny": ["Bash(a)"], "ask": ["Bash(b)"]}}`,
			func(c *Config) {
				c.Permissions.Deny = []string{"Bash(rm:*)"}
				c.Permissions.Project = ProjectRules{Folder: "PROJECT", Deny: []string{"Bash(a)"}, Ask: []string{"Bash(b)"}}
			}},
		{"sandbox", func(c *Config) { c.Sandbox = SandboxOff }, `{"sandbox": "require"}`, func(c *Config) { c.Sandbox = SandboxRequire }},
		{"network", func(*Config) {}, `{"network": "loopback"}`, func(c *Config) { c.Network = NetworkLoopback }},
		{"the user's network is stricter", func(c *Config) { c.Network = NetworkOff }, `{"network": "loopback"}`,
			func(c *Config) { c.Network = NetworkOff }},
		{"an agent that the user lets more", func(c *Config) {
			c.Sandbox, c.Network = SandboxRequire, NetworkOff
			c.Custom = map[string]Agent{"a": {Kernel: Kernel{SandboxOff, NetworkOn}}, "b": {}}
		}, `{"sandbox": "require", "network": "loopback"}`, func(c *Config) {
			c.Custom = map[string]Agent{"a": {Kernel: Kernel{SandboxRequire, NetworkLoopback}}, "b": {Kernel: Kernel{SandboxRequire, NetworkOff}}}
		}},
		{"reserved and unreadable", func(c *Config) { c.Fences.Reserved = []string{"a"}; c.Fences.AlsoUnreadable = []string{"*.a"} },
			`{"fences": {"reserved": ["b"], "unreadable": ["*.b"], "ci": true}}`,
			func(c *Config) {
				c.Fences.Reserved, c.Fences.AlsoUnreadable, c.Fences.CI = []string{"a", "b"}, []string{"*.a", "*.b"}, true
			}},
		{"the built-in unreadable list stays", func(*Config) {}, `{"fences": {"unreadable": ["*.b"]}}`,
			func(c *Config) { c.Fences.AlsoUnreadable = []string{"*.b"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := tempDir(t)
			user, before, want := Default(), Default(), Default()
			tt.user(user)
			tt.user(before)
			tt.user(want)
			tt.want(want)
			if want.Permissions.Project.Folder != "" {
				want.Permissions.Project.Folder = folder
			}
			got, problems := Effective(user, projectFile(t, folder, tt.project), folder)
			if len(problems) > 0 {
				t.Errorf("problems %v", problems)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, user); diff != "" {
				t.Errorf("the user's configuration was changed: %s", diff)
			}
		})
	}
}

func TestKernelOf(t *testing.T) {
	c := Default()
	c.Network = NetworkLoopback
	c.Custom = map[string]Agent{"a": {Kernel: Kernel{Sandbox: SandboxRequire}}, "b": {Kernel: Kernel{Network: NetworkOff}}}
	for id, want := range map[string]Kernel{
		"a": {SandboxRequire, NetworkLoopback}, "b": {SandboxAuto, NetworkOff}, "unknown": {SandboxAuto, NetworkLoopback},
	} {
		if got := c.KernelOf(id); got != want {
			t.Errorf("KernelOf(%s) = %v, want %v", id, got, want)
		}
	}
}

func TestEffectiveWithoutProject(t *testing.T) {
	for _, p := range []*Project{nil, {}} {
		got, problems := Effective(Default(), p, t.TempDir())
		if diff := cmp.Diff(Default(), got); diff != "" || len(problems) > 0 {
			t.Error(diff, problems)
		}
	}
}

// @ stands for the session's folder. An entry that grants nothing leaves only the project
// file, which no agent may write.
func TestEffectiveRegion(t *testing.T) {
	const nothing = "@/" + ProjectFile
	tests := []struct {
		name    string
		user    []string
		project string
		want    []string
		refused int
	}{
		{"inside the session's folder", nil, `["src"]`, []string{"@/src"}, 0},
		{"dots", nil, `["./src/../lib"]`, []string{"@/lib"}, 0},
		{"not there yet", nil, `["new/dir"]`, []string{"@/new/dir"}, 0},
		{"the same", nil, `["."]`, []string{"@"}, 0},
		{"inside the user's", []string{"src"}, `["src/a"]`, []string{"@/src/a"}, 0},
		{"around the user's", []string{"src/a", "lib"}, `["src"]`, []string{"@/src/a"}, 0},
		{"everything", []string{"src"}, `["**"]`, []string{"@/src"}, 0},
		{"glob inside", nil, `["src/*.go"]`, []string{"@/src/*.go"}, 0},
		{"glob inside the user's folder", []string{"src/**"}, `["src/*.go"]`, []string{"@/src/*.go"}, 0},
		{"the same glob", []string{"src/*.go"}, `["src/*.go"]`, []string{"@/src/*.go"}, 0},
		{"folder around the user's glob", []string{"src/*.go"}, `["src"]`, []string{"@/src/*.go"}, 0},
		{"two globs", []string{"src/*.go"}, `["src/a*"]`, []string{nothing}, 1},
		{"one good, one outside", nil, `["src", "../x"]`, []string{"@/src"}, 1},
		{"outside", nil, `["../x"]`, []string{nothing}, 1},
		{"a sibling by name", []string{"src"}, `["src-evil"]`, []string{nothing}, 1},
		{"absolute outside", nil, `["/"]`, []string{"@"}, 0},
		{"link out", nil, `["out"]`, []string{nothing}, 1},
		{"below a link out", nil, `["out/new"]`, []string{nothing}, 1},
		{"dangling link", nil, `["dangling"]`, []string{nothing}, 1},
		{"glob that climbs", nil, `["s*/../../x"]`, []string{nothing}, 1},
		{"a name like a pattern", []string{"src"}, `["[src"]`, []string{nothing}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := tempDir(t)
			folder := filepath.Join(base, "p")
			for _, dir := range []string{"p/src/a", "p/lib", "x", "p/src-evil"} {
				if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for link, target := range map[string]string{"out": "../x", "dangling": "../later"} {
				if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
					t.Skip(err)
				}
			}
			user := Default()
			user.Fences.Region = tt.user
			got, problems := Effective(user, projectFile(t, folder, `{"fences": {"region": `+tt.project+`}}`), folder)
			want := slices.Clone(tt.want)
			for i := range want {
				want[i] = filepath.FromSlash(strings.Replace(want[i], "@", folder, 1))
			}
			if diff := cmp.Diff(want, got.Fences.Region); diff != "" || len(problems) != tt.refused {
				t.Errorf("region %s\nproblems %v; want %d", diff, problems, tt.refused)
			}
			for _, p := range problems {
				if p.Warning || p.Line != 1 || !strings.HasPrefix(p.Field, "fences.region[") {
					t.Errorf("problem %+v", p)
				}
			}
		})
	}
}

// A session in a folder below the project file is held by it too.
func TestProjectFileAbove(t *testing.T) {
	folder := tempDir(t)
	below := filepath.Join(folder, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	projectFile(t, folder, `{"mode": "plan", "fences": {"region": ["a"]}}`)
	p, _, err := LoadProject(below)
	if err != nil || p.File != filepath.Join(folder, ProjectFile) {
		t.Fatalf("LoadProject = %v, %v", p, err)
	}
	c, problems := Effective(Default(), p, below)
	if c.Mode != Plan || len(problems) > 0 || !slices.Equal(c.Fences.Region, []string{below}) {
		t.Errorf("Effective: mode %s, region %v, %v", c.Mode, c.Fences.Region, problems)
	}
}

func TestProjectCannotLoosen(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"program", `{"agents": {"a": {"command": "x"}}}`, "agents: only the user's own configuration may set this; " + onlyTighten},
		{"agent", `{"agent": "a"}`, "agent: only the user's own configuration may set this; " + onlyTighten},
		{"allow", `{"permissions": {"allow": ["Bash"]}}`, "permissions.allow: only the user's own configuration may set this; " + onlyTighten},
		{"rules of elsewhere", `{"permissions": {"claudeSettings": ["/s"]}}`, "permissions.claudeSettings: only the user's own configuration may set this; " + onlyTighten},
		{"decider, which is a program", `{"permissions": {"deciders": [{"folder": "/d"}]}}`, "permissions.deciders: only the user's own configuration may set this; " + onlyTighten},
		{"private", `{"fences": {"private": ["/q"]}}`, "fences.private: only the user's own configuration may set this; " + onlyTighten},
		{"mode", `{"mode": "bypassPermissions"}`, `mode: must be "plan" or "default"; ` + onlyTighten},
		{"policy", `{"permissions": {"policy": "record"}}`, `permissions.policy: must be "ask" or "deny"; ` + onlyTighten},
		{"sandbox", `{"sandbox": "off"}`, `sandbox: must be "require"; ` + onlyTighten},
		{"network", `{"network": "on"}`, `network: must be "loopback" or "off"; ` + onlyTighten},
		{"a check, which is a program", `{"verify": [{"name": "a", "command": "x"}]}`, "verify: only the user's own configuration may set this; " + onlyTighten},
		{"less to take back", `{"checkpoint": {"leaveOut": ["*"]}}`, "checkpoint: only the user's own configuration may set this; " + onlyTighten},
		{"ci", `{"fences": {"ci": false}}`, "fences.ci: must be true; " + onlyTighten},
		{"reserved taken off", `{"fences": {"reserved": ["!x"]}}`, `fences.reserved[0]: must not begin with "!"; ` + onlyTighten},
		{"unreadable taken off", `{"fences": {"unreadable": ["!.env"]}}`, `fences.unreadable[0]: must not begin with "!"; ` + onlyTighten},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, ProjectFile), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			p, problems, err := LoadProject(folder)
			var broken *Broken
			if !errors.As(err, &broken) || p != nil || len(problems) != 1 || problems[0].Warning {
				t.Fatalf("LoadProject(%s) = %v, %v, %v; want one error", tt.text, p, problems, err)
			}
			if !strings.HasSuffix(problems[0].String(), ": "+tt.want) {
				t.Errorf("LoadProject(%s)\n got %v\nwant %s", tt.text, problems[0], tt.want)
			}
		})
	}
}

func TestProjectUnknownKey(t *testing.T) {
	p, problems, err := parseProject("f", []byte(`{"mdoe": "plan"}`))
	if err != nil || p == nil || len(problems) != 1 || !problems[0].Warning || problems[0].Remedy != "did you mean mode?" {
		t.Errorf("parseProject = %v, %v, %v", p, problems, err)
	}
}
