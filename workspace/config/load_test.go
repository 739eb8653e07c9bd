package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string) Paths {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Paths{Config: file}
}

func TestLoadMissing(t *testing.T) {
	c, problems, err := Load(Paths{Config: filepath.Join(t.TempDir(), "none", "config.json")})
	if err != nil || len(problems) > 0 {
		t.Fatalf("Load = %v, %v; want defaults", problems, err)
	}
	if diff := cmp.Diff(Default(), c); diff != "" {
		t.Error(diff)
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	c, problems, err := Load(write(t, `{
	// comments and trailing commas
	"$schema": "x",
	"agent": "mine", /* block */
	"agents": {"mine": {
		"name": "Mine", "command": "mine --acp 'a b'", "args": ["-x"], "env": {"A": "b"},
		"passEnv": ["KEY"], "removeEnv": ["B"], "cwd": "~/w", "state": ["~/s", "/t"], "fs": false, "modes": {"plan": "ro"},
		"network": "loopback",
	}},
	"prestart": ["mine"], "maxAgents": 2, "idleMinutes": 5, "terminal": "pass", "unsaved": "save",
	"saveAfterWrite": "never", "mode": "plan", "permissions": {"policy": "deny", "deny": ["Bash(rm:*)"], "ask": ["Read"], "allow": ["Bash(ls)"],
		"claudeSettings": ["~/.claude/settings.json", ".claude/settings.json"], "deciders": [{"folder": "~/d", "off": ["~/p", "/r"], "private": ["~/q"]}]},
	"fences": {"region": ["src", "~/out"], "reserved": ["x"], "ci": true, "unreadable": [],
		"alsoUnreadable": ["*.sec"], "private": ["~/q"]},
	"sandbox": "require", "network": "off", "timeouts": {"startSeconds": 1}, "logLevel": "debug",
	"checkpoint": {"seconds": 3, "maxFileMiB": 5, "ignored": "none", "leaveOut": ["node_modules"], "wide": true},
	"retention": {"days": 1, "MiB": 16}, "untrusted": ["~/Downloads/**", "https://x.org/**"],
	"verify": [{"name": "tests", "command": "go test ./..."}, {"name": "lint", "command": "lint", "seconds": 7, "passEnv": ["KEY"], "sandbox": "off", "state": ["~/c"]}],
}`))
	if err != nil || len(problems) > 0 {
		t.Fatalf("Load: %v, %v", problems, err)
	}
	no := false
	want := &Config{
		Agents: Agents{
			Agent: "mine", Prestart: []string{"mine"}, MaxAgents: 2, IdleMinutes: 5,
			Custom: map[string]Agent{"mine": {
				Name: "Mine", Command: "mine --acp 'a b'", Args: []string{"-x"}, FS: &no, Modes: map[Mode]string{Plan: "ro"},
				Launch: Launch{Env: map[string]string{"A": "b"}, PassEnv: []string{"KEY"}, RemoveEnv: []string{"B"}, Cwd: filepath.Join(home, "w"), State: []string{filepath.Join(home, "s"), "/t"}},
				Kernel: Kernel{Network: NetworkLoopback},
			}},
			Timeouts: Timeouts{StartSeconds: 1, CancelGraceSeconds: 5}, Terminal: TerminalPass,
		},
		Turns: Turns{
			Checkpoint: Checkpoint{Seconds: 3, MaxFileMiB: 5, Ignored: IgnoredNone, LeaveOut: []string{"node_modules"}, Wide: true},
			Retention:  Retention{Days: 1, MiB: 16},
			Verify: []Check{{Name: "tests", Command: "go test ./...", Seconds: 300},
				{Name: "lint", Command: "lint", Seconds: 7, PassEnv: []string{"KEY"}, Kernel: Kernel{Sandbox: SandboxOff}, State: []string{filepath.Join(home, "c")}}},
			Untrusted: []string{filepath.Join(home, "Downloads/**"), "https://x.org/**"},
		},
		Files: Files{Unsaved: UnsavedSave, SaveAfterWrite: Never}, Mode: Plan, Permissions: Permit{Policy: PolicyDeny, Deny: []string{"Bash(rm:*)"}, Ask: []string{"Read"}, Allow: []string{"Bash(ls)"},
			ClaudeSettings: []string{filepath.Join(home, ".claude/settings.json"), ".claude/settings.json"},
			Deciders:       []Decider{{Folder: filepath.Join(home, "d"), Off: []string{filepath.Join(home, "p"), "/r"}, Private: []string{filepath.Join(home, "q")}}}},
		Fences: Fences{Region: []string{"src", filepath.Join(home, "out")}, Reserved: []string{"x"}, CI: true, Unreadable: []string{},
			AlsoUnreadable: []string{"*.sec"}, Private: []string{filepath.Join(home, "q")}},
		Kernel: Kernel{Sandbox: SandboxRequire, Network: NetworkOff}, LogLevel: slog.LevelDebug,
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestLoadProblems(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // of the one problem, without the file
	}{
		{"syntax", "{\n  \"agent\": x\n}", "2:12: not JSON: invalid literal: x; check the quotes, commas and braces there"},
		{"empty", "", " is empty; write {} or delete the file"},
		{"only blanks", " \n", " is empty; write {} or delete the file"},
		{"cut off", `{"agent": "a`, "1:13: not JSON: parsing string: unexpected EOF; check the quotes, commas and braces there"},
		{"twice", "{\"agent\": \"a\",\n \"agent\": \"b\"}", "2:2: agent: stands here twice; remove one"},
		{"twice within", `{"fences": {"ci": true, "ci": false}}`, "1:25: fences.ci: stands here twice; remove one"},
		{"not an object", `[]`, "1:1: must be object, not array"},
		{"type", "{\n\t\"maxAgents\": \"4\"}", "2:15: maxAgents: must be integer, not string"},
		{"too small", `{"maxAgents": 0}`, "1:15: maxAgents: minimum: got 0, want 1"},
		{"fraction", `{"maxAgents": 4.0}`, "1:15: maxAgents: must be written as int"},
		{"choice", `{"unsaved": "sav"}`, `1:13: unsaved: must be "ask", "save", "send" or "leave"; did you mean "save"?`},
		{"far choice", `{"mode": "zzzzzzzz"}`, `1:10: mode: must be "plan", "default", "acceptEdits" or "bypassPermissions"`},
		{"in a list", `{"fences": {"region": ["a", 1]}}`, "1:29: fences.region[1]: must be string, not number"},
		{"empty item", `{"fences": {"region": [""]}}`, "1:24: fences.region[0]: must not be empty"},
		{"twice in a list", `{"prestart": ["a", "a"]}`, "1:20: prestart[1]: stands here twice; remove one"},
		{"bad id", `{"agents": {"a b": {}}}`, `1:13: agents["a b"]: not a good name; use letters, digits, '.', '_' and '-'`},
		{"column counts characters", `{"agent": "테스트", "mode": 1}`, `1:26: mode: must be "plan", "default", "acceptEdits" or "bypassPermissions"`},
		{"unknown", `{"agnet": "a"}`, `1:2: warning: agnet: unknown key; did you mean agent?`},
		{"unknown, other case", `{"fences": {"Region": []}}`, `1:13: warning: fences.Region: unknown key; did you mean region?`},
		{"unknown in agent", `{"agents": {"a": {"comand": ""}}}`, `1:19: warning: agents.a.comand: unknown key; did you mean command?`},
		{"unknown, far", `{"colours": 1}`, `1:2: warning: colours: unknown key; remove "colours", it has no effect`},
		{"after a BOM", "\uFEFF{\"mode\": 1}", `1:10: mode: must be "plan", "default", "acceptEdits" or "bypassPermissions"`},
		{"no glob", `{"checkpoint": {"leaveOut": ["a", "[b"]}}`, "1:35: checkpoint.leaveOut[1]: is no glob; close its brackets"},
		{"a path for a glob", `{"checkpoint": {"leaveOut": ["a/b"]}}`, "1:30: checkpoint.leaveOut[0]: must match ^[^/]+$"},
		{"check without a command", `{"verify": [{"name": "a"}]}`, "1:13: verify[0]: missing property 'command'"},
		{"checks of one name", `{"verify": [{"name": "a", "command": "b"}, {"name": "a", "command": "c"}]}`,
			"1:53: verify[1].name: is the name of an earlier check; give it another"},
		{"check of no time", `{"verify": [{"name": "a", "command": "b", "seconds": 0}]}`, "1:54: verify[0].seconds: minimum: got 0, want 1"},
		{"network of an agent", `{"agents": {"a": {"network": "lopback"}}}`, `1:30: agents.a.network: must be "", "on", "loopback" or "off"; did you mean "loopback"?`},
		{"secret is not told", `{"agents": {"a": {"env": {"K": 77}}}}`, "1:32: agents.a.env.K: must be string, not number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths := write(t, tt.text)
			c, problems, err := Load(paths)
			if len(problems) != 1 {
				t.Fatalf("Load(%s): problems %v, %v; want one", tt.text, problems, err)
			}
			got := strings.TrimPrefix(problems[0].String(), paths.Config+":")
			if got != tt.want {
				t.Errorf("Load(%s)\n got %s\nwant %s", tt.text, got, tt.want)
			}
			var broken *Broken
			if problems[0].Warning != (err == nil) || err != nil && (!errors.As(err, &broken) || c != nil) {
				t.Errorf("Load(%s) = %v, %v; warning is %v", tt.text, c, err, problems[0].Warning)
			}
		})
	}
}

func TestLoadSeveralProblems(t *testing.T) {
	_, problems, err := Load(write(t, "{\"x\": 1,\n\"mode\": 1,\n\"sandbox\": 2}"))
	if len(problems) != 3 || problems[0].Line != 1 || problems[1].Line != 2 || problems[2].Line != 3 {
		t.Errorf("problems %v; want three, in the order of the lines", problems)
	}
	if want := "has 2 errors"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load: %v; want %q", err, want)
	}
}

func TestLoadTooLarge(t *testing.T) {
	_, problems, err := Load(write(t, strings.Repeat("[", maxSize+1)))
	if err == nil || len(problems) != 1 || problems[0].Message != "is larger than 256 KiB" {
		t.Errorf("Load: %v, %v", problems, err)
	}
}

func TestLoadDeep(t *testing.T) {
	_, problems, err := Load(write(t, strings.Repeat("[", maxSize/2)+strings.Repeat("]", maxSize/2)))
	if err == nil || len(problems) != 1 {
		t.Errorf("Load: %v, %v; want one problem", problems, err)
	}
}

func TestLoadFolder(t *testing.T) {
	if _, _, err := Load(Paths{Config: t.TempDir()}); err == nil {
		t.Error("a folder in place of the file was accepted")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"agent", "agents", "mode", "maxAgents", "sandbox"}
	for name, want := range map[string]string{
		"agnet": "agent", "AGENTS": "agents", "max_agents": "maxAgents", "sanbox": "sandbox", "xyz": "", "": "", "m": "",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest(%q) = %q; want %q", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"agent": "a", // x` + "\n}", "\uFEFF{\"mode\": \"plan\",}", `{"agents":{"a":{"env":{"A":"b"}}}}`, `{"fences":{"region":["a",1]}}`,
		`{"a":1,"a":2}`, `[[[[`, `{"agent": "\ud800"}`, "{\"agent\": \"\xff\"}", `{"maxAgents": 1e99}`, `{"logLevel":"info"}`, `{"maxAgents": 4.0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, rules := range []func() (*schema, error){userRules, projectRules} {
			var out any = Default()
			if p, _ := projectRules(); p != nil && p.wider == nil {
				t.Fatal("the project's schema knows no wider one")
			}
			_, problems, err := parse("f", data, rules, out)
			if err != nil {
				t.Errorf("parse(%q): %v; types and schema disagree", data, err)
			}
			lines := 1 + strings.Count(string(data), "\n")
			whole := len(strings.TrimSpace(strings.TrimPrefix(string(data), "\uFEFF"))) == 0 || len(data) > maxSize
			for _, p := range problems {
				if p.Message == "" || p.Line > lines || !whole && (p.Line < 1 || p.Column < 1) {
					t.Errorf("parse(%q): problem %+v of %d lines", data, p, lines)
				}
			}
		}
	})
}
