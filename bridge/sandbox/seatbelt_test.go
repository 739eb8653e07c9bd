package sandbox

import (
	"strings"
	"testing"

	"sallyport/workspace/fence"
)

// TestProfile: the order of the rules, of which the last that matches decides, and paths that would break out of the text.
// The profile itself was not run on macOS.
func TestProfile(t *testing.T) {
	p := &plan{
		layout: &fence.Layout{
			Folder: "/Users/a/p", Writable: []string{"/Users/a/p"}, Closed: []string{`/Users/a/p/.vscode`}, Pinned: []string{"/Users/a/p/.git"},
			Told:   []string{"/Users/a/p/.mcp.json"},
			Absent: []fence.Absent{{Path: "/Users/a/p/.idea"}},
			Hidden: []fence.Hidden{
				{Path: `/Users/a/se"cr\et`, Folder: true}, {Path: "/Users/a/.ssh", Folder: true, Open: []string{"config"}}, {Path: "/Users/a/.netrc"},
				{Path: "/Users/a/state", Folder: true},
			},
		},
		needs: Needs{State: []string{"/Users/a/.codex", "/Users/a/state/agents/codex"}, Settings: []string{"/Users/a/.codex/config.toml"}},
		temp:  "/Users/a/state/fence/tmp/1", sockets: []string{"/private/var/run/docker.sock"}, network: NetworkOff,
	}
	text := p.profile()
	at := -1
	for _, want := range []string{
		"(version 1)\n(allow default)\n(deny file-write* (subpath \"/\"))\n",
		`(allow file-write* (subpath "/Users/a/p") (subpath "/Users/a/.codex")`,
		`(deny file-write* (subpath "/Users/a/p/.vscode") (subpath "/Users/a/.codex/config.toml") (subpath "/Users/a/p/.idea") (subpath "/Users/a/p/.mcp.json"))`,
		`(regex #"^/Users/a/p(/.*)?/\.git/(hooks|info)(/|$)")`,
		`(deny file-write-unlink (literal "/Users") (literal "/Users/a") (literal "/Users/a/p") (literal "/Users/a/p/.git") (literal "/Users/a/p/.vscode"))`,
		`(deny file-read* file-write* (subpath "/Users/a/se\"cr\\et") (subpath "/Users/a/.ssh") (literal "/Users/a/.netrc") (subpath "/Users/a/state"))`,
		`(allow file-read* (literal "/Users/a/.ssh/config"))`,
		`(allow file-read* file-write* (subpath "/Users/a/state/fence/tmp/1") (subpath "/Users/a/state/agents/codex"))`,
		`(deny network-outbound (path "/private/var/run/docker.sock"))`,
		"(deny network*)\n",
		"(deny signal (target others))\n",
	} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("%s is missing, or comes too early (%d after %d) in\n%s", want, i, at, text)
		}
		at = max(at, i)
	}
	depth, inText := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && c == '(':
			depth++
		case !inText && c == ')':
			depth--
		}
		if depth < 0 {
			t.Fatalf("unbalanced at %d of\n%s", i, text)
		}
	}
	if depth != 0 || inText {
		t.Errorf("unbalanced: %d, in a text: %v\n%s", depth, inText, text)
	}
}
