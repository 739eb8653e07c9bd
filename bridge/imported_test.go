package bridge_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/workspace/config"
)

// TestClaudeSettings: the rules of files that the user names count; what allows in
// a project's does not.
func TestClaudeSettings(t *testing.T) {
	const settings = `{"model": "x", "permissions": {"deny": ["Bash(rm:*)"], "ask": ["Bash(make:*)"], "allow": ["Bash(ls)", "Skill(x)"], "defaultMode": "bypassPermissions"}}`
	for _, tt := range []struct {
		name, command string
		mine          bool
		mode          config.Mode
		want          string // of the agent; "asked" where the user was
	}{
		{"mine denies", "rm x", true, config.Bypass, "rejected"},
		{"mine allows", "ls", true, config.Ask, "allowed"},
		{"a project's denies", "rm x", false, config.Bypass, "rejected"},
		{"a project's asks", "make all", false, config.Bypass, "asked"},
		{"a project's allows nothing", "ls", false, config.Ask, "asked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, asking("execute", `{"command": "`+tt.command+`"}`))
			name := filepath.Join(".claude", "settings.json")
			path := r.write(name, settings)
			if tt.mine {
				name = path
			}
			r.config.Permissions.ClaudeSettings = []string{name, "not-there.json"}
			r.config.Mode, r.display.answer = tt.mode, reject
			r.turn("go")
			got := r.said()
			if len(r.display.asked) > 0 {
				got = "asked"
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if o := r.display.settled[0].outcome; got == "rejected" && o.Name != "rule Bash(rm:*) of "+name {
				t.Errorf("it was settled by %q", o.Name)
			}
			if r.disk(".claude/settings.json") != settings {
				t.Error("the settings were written")
			}
		})
	}
}

// TestClaudeSettingsThatCannotBeRead: they may hold a rule that forbids, so no
// session starts.
func TestClaudeSettingsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{`no`, `{"permissions": {"deny": ["Bash(rm"]}}`, `{"permissions": {"ask": "Bash"}}`, strings.Repeat(" ", 2<<20)} {
		r := newRig(t, `{}`)
		path := r.write("settings.json", text)
		for _, name := range []string{path, "settings.json"} {
			r.config.Permissions.ClaudeSettings = []string{name}
			if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || !strings.Contains(err.Error(), "settings.json") {
				t.Errorf("%.40s as %s: got %v", text, name, err)
			}
		}
	}
	r := newRig(t, `{}`)
	r.config.Permissions.ClaudeSettings = []string{r.path("gone.json")}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil {
		t.Error("a file of the user's that is gone is passed over")
	}
	r.config.Permissions.ClaudeSettings = []string{r.folder}
	var bad *bridge.RuleError
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || errors.As(err, &bad) {
		t.Errorf("a folder: got %v", err)
	}
}

// TestClaudeSettingsAreOutOfReach: who could write there could allow itself
// everything.
func TestClaudeSettingsAreOutOfReach(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/mine.json", "text": "x", "as": "w"}}, {"say": "[${w.error}]"}]}]}`)
	path := r.write("mine.json", "{}")
	r.config.Permissions.ClaudeSettings = []string{path}
	r.config.Mode = config.Bypass
	r.turn("go")
	if r.disk("mine.json") != "{}" || r.said() == "[]" {
		t.Errorf("got %q in the file, and the agent %q", r.disk("mine.json"), r.said())
	}
}
