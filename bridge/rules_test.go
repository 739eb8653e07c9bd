package bridge_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/config"
)

// asking is a script of one prompt that asks for a permission.
func asking(kind, input string) string {
	return fmt.Sprintf(`{"prompts": [{"steps": [{"ask": {"toolCall": {"toolCallId": "t", "kind": %q, "title": "t", "rawInput": %s},
  "then": {"allow": [{"say": "allowed"}], "reject": [{"say": "rejected"}], "cancelled": [{"say": "cancelled"}]}}}]}]}`, kind, input)
}

// TestRulesDecide: allow settles without a card, deny refuses with its reason,
// ask goes to the user in every mode.
func TestRulesDecide(t *testing.T) {
	long := strings.Repeat("a", permit.MaxText)
	for _, tt := range []struct {
		name, kind, input string
		rules             config.Permit
		mode              config.Mode
		want, note        string // of the agent; of the outcome
		asks              bool
	}{
		{name: "allowed", kind: "execute", input: `{"command": "npm test -- -u"}`, rules: config.Permit{Allow: []string{"Bash(npm test:*)"}}, want: "allowed"},
		{name: "denied", kind: "execute", input: `{"command": "ls && sudo rm -rf x"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}, Allow: []string{"Bash"}},
			want: "rejected", note: "Refused by rule Bash(rm:*) through Sallyport: rm -rf x"},
		{name: "denied in bypass", kind: "execute", input: `{"command": "rm x"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}}, mode: config.Bypass,
			want: "rejected", note: "Refused by rule Bash(rm:*) through Sallyport: rm x"},
		{name: "denied in another folder", kind: "execute", input: `{"command": "touch a", "cwd": "gen"}`, rules: config.Permit{Deny: []string{"Edit(gen/**)"}, Allow: []string{"Bash"}},
			want: "rejected", note: "Refused by rule Edit(gen/**) through Sallyport: touch a"},
		{name: "git in another folder", kind: "execute", input: `{"command": "git status", "workdir": "gen"}`, rules: config.Permit{Allow: []string{"Bash"}}, want: "rejected", asks: true},
		{name: "a shell of its own", kind: "execute", input: `{"command": ["/tmp/bash", "-c", "ls"]}`, rules: config.Permit{Allow: []string{"Bash(ls)"}}, want: "rejected", asks: true},
		{name: "a command in a tool of a server", kind: "execute", input: `{"server": "db", "tool": "x", "cmd": "rm x"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}, Allow: []string{"mcp__db"}},
			want: "rejected", note: "Refused by rule Bash(rm:*) through Sallyport: rm x"},
		{name: "denied by the project", kind: "execute", input: `{"command": ["bash", "-lc", "rm x"]}`, mode: config.Bypass,
			rules: config.Permit{Allow: []string{"Bash"}, Project: config.ProjectRules{Folder: "/p", Deny: []string{"Bash(rm:*)"}}},
			want:  "rejected", note: "Refused by rule Bash(rm:*) of the project through Sallyport: rm x"},
		{name: "asked in bypass", kind: "execute", input: `{"command": "git push"}`, rules: config.Permit{Ask: []string{"Bash(git push:*)"}}, mode: config.Bypass, want: "rejected", asks: true},
		{name: "unclear in bypass", kind: "execute", input: `{"command": "$X x"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}, Allow: []string{"Bash"}}, mode: config.Bypass, want: "rejected", asks: true},
		{name: "cut", kind: "execute", input: `{"command": "echo ` + long + `; x"}`, rules: config.Permit{Allow: []string{"Bash"}}, want: "rejected", asks: true},
		{name: "no rule is about it", kind: "execute", input: `{"command": "make"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}}, want: "rejected", asks: true},
		{name: "nor in bypass", kind: "execute", input: `{"command": "make"}`, rules: config.Permit{Deny: []string{"Bash(rm:*)"}}, mode: config.Bypass, want: "allowed"},
		{name: "asked in acceptEdits", kind: "edit", input: `{"file_path": "go.mod", "old_string": "a", "new_string": "b"}`, rules: config.Permit{Ask: []string{"Edit(go.mod)"}}, mode: config.AcceptEdits, want: "rejected", asks: true},
		{name: "another file in acceptEdits", kind: "edit", input: `{"file_path": "a.go", "old_string": "a", "new_string": "b"}`, rules: config.Permit{Ask: []string{"Edit(go.mod)"}}, mode: config.AcceptEdits, want: "allowed"},
		{name: "an edit is denied", kind: "edit", input: `{"file_path": "gen/a.go", "old_string": "a", "new_string": "b"}`, rules: config.Permit{Deny: []string{"Edit(gen/**)"}, Allow: []string{"Edit"}},
			want: "rejected", note: "Refused by rule Edit(gen/**) through Sallyport: gen/a.go"},
		{name: "a pattern that climbs", kind: "search", input: `{"pattern": "a/../gen/*.go"}, "_meta": {"toolName": "glob"}`, rules: config.Permit{Deny: []string{"Read(gen/**)"}, Allow: []string{"Read"}},
			want: "rejected", note: "Refused by rule Read(gen/**) through Sallyport: gen"},
		{name: "a page", kind: "fetch", input: `{"url": "https://example.com/x"}`, rules: config.Permit{Allow: []string{"WebFetch(domain:example.com)"}}, want: "allowed"},
		{name: "a tool of a server", kind: "other", input: `{"server": "db", "tool": "drop"}`, rules: config.Permit{Deny: []string{"mcp__db__drop"}, Allow: []string{"mcp__db"}},
			want: "rejected", note: "Refused by rule mcp__db__drop through Sallyport: mcp__db__drop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, asking(tt.kind, tt.input))
			r.display.answer = reject
			tt.rules.Policy = config.PolicyAsk
			r.config.Permissions = tt.rules
			if tt.mode != "" {
				r.config.Mode = tt.mode
			}
			r.turn("go")
			if got := r.said(); got != tt.want {
				t.Errorf("the agent got %q, want %q", got, tt.want)
			}
			if asked := len(r.display.asked) > 0; asked != tt.asks {
				t.Errorf("the user was asked: %v, want %v", asked, tt.asks)
			}
			if o := r.display.settled[0].outcome; !tt.asks && o.DenyNote() != tt.note {
				t.Errorf("got the note %q, want %q", o.DenyNote(), tt.note)
			}
		})
	}
}

// TestRuleThatCannotBeRead: it may be one that forbids, so no session starts.
func TestRuleThatCannotBeRead(t *testing.T) {
	r := newRig(t, `{}`)
	r.config.Permissions.Deny = []string{"Bash(rm"}
	_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
	var bad *bridge.RuleError
	if !errors.As(err, &bad) || bad.Problem.Rule != "Bash(rm" {
		t.Errorf("got %v, want the rule named", err)
	}
}

// TestRulesOnWrites: a write through fs/* meets the rules of Edit as well.
func TestRulesOnWrites(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/gen/a.go", "text": "x", "as": "w"}}, {"say": "[${w.error}]"}, {"write": {"path": "${cwd}/b.go", "text": "y"}}]}]}`)
	r.config.Permissions = config.Permit{Policy: config.PolicyAsk, Deny: []string{"Edit(gen/**)"}, Allow: []string{"Edit(*.go)"}}
	r.turn("go")
	if got, want := r.said(), "[Refused by rule Edit(gen/**) through Sallyport: "; !strings.HasPrefix(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if got := r.disk("gen/a.go") + r.disk("b.go"); got != "y" || len(r.display.asked) > 0 {
		t.Errorf("got the files %q and %d cards, want only b.go and none", got, len(r.display.asked))
	}
}

// TestRulesFollowLinks: what is forbidden in a folder is forbidden by every name
// of it, and what is allowed in one is not allowed elsewhere by a link in it.
func TestRulesFollowLinks(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"write": {"path": "${cwd}/link/a.go", "text": "x", "as": "a"}},
	  {"write": {"path": "${cwd}/x/../link/b.go", "text": "x", "as": "b"}},
	  {"write": {"path": "${cwd}/free/out/c.go", "text": "x", "as": "c"}},
	  {"write": {"path": "${cwd}/free/new", "text": "x", "as": "d"}}, {"say": "${a.code} ${b.code} ${c.code} ${d.code}"}]}]}`)
	r.config.Permissions = config.Permit{Policy: config.PolicyAsk, Deny: []string{"Edit(gen/**)"}, Allow: []string{"Edit(free/**)"}}
	r.display.answer = reject
	r.write("gen/x", "")
	r.write("free/x", "")
	r.write("other/x", "")
	for link, to := range map[string]string{"link": "gen", "free/out": "other", "free/new": "gen/new"} {
		if err := os.Symlink(r.path(to), r.path(link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	r.turn("go")
	if got := r.said(); got != "-32010 -32010 -32010 -32010" {
		t.Errorf("the writes gave %s, want all refused", got)
	}
	if n := len(r.display.asked); n != 1 {
		t.Errorf("asked %d times, want only about the write that no rule is about", n)
	}
}
