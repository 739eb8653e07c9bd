package permit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/permit"
	"sallyport/workspace/fence"
)

// TestRealFences: cards against the real fences, on a real disk: dots, links and
// bare names, in every mode and under every policy.
func TestRealFences(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, dir := range []string{in("p", "src"), in("q"), in("p", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in("q"), in("p", "src", "link")); err != nil {
		t.Skipf("this system lets us make no link: %v", err)
	}
	policy, err := fence.New(in("p"), fence.Rules{Private: []string{in("q")}})
	if err != nil {
		t.Fatal(err)
	}
	dots := in("p") + string(filepath.Separator) + ".." + string(filepath.Separator) + "out.txt"
	for _, tt := range []struct {
		name string
		card *permit.Card
		by   string // empty: passes
	}{
		{"edit in the project", card(permit.Edit, in("p", "src", "a")), ""},
		{"edit of a bare name", card(permit.Edit, "a"), ""},
		{"edit outside by dots", card(permit.Edit, dots), "region fence"},
		{"edit outside by a bare name", card(permit.Edit, filepath.Join("..", "out.txt")), "region fence"},
		{"edit outside by its diff alone", diffCard(permit.Tool, dots), "region fence"},
		{"edit of a reserved file", card(permit.Edit, in("p", ".git", "config")), "reserved fence"},
		{"edit through a link into a private project", card(permit.Edit, in("p", "src", "link", "s")), "private fence"},
		{"read through a link into a private project", card(permit.Read, in("p", "src", "link", "s")), "private fence"},
		{"command in a private project", card(permit.Command, in("q")), "private fence"},
		{"read of what is unreadable", card(permit.Read, in("p", ".env")), "unreadable fence"},
	} {
		for _, m := range []permit.Mode{permit.Default, permit.AcceptEdits, permit.Bypass} {
			for _, p := range []permit.Policy{permit.Ask, permit.Record} {
				e := &permit.Engine{Mode: mode(m), Policy: p, Ask: pick("a"), Place: permit.Place{
					Folder: policy.Folder(), CheckRead: policy.CheckRead, CheckWrite: policy.CheckWrite, InRegion: policy.InRegion,
				}}
				o := e.Decide(t.Context(), tt.card)
				switch {
				case tt.by == "" && !o.Allowed:
					t.Errorf("%s in %s: got %+v, want it allowed", tt.name, m, o)
				case tt.by != "" && (o.Allowed || o.Option != "r" || o.By != permit.ByFence || o.Name != tt.by):
					t.Errorf("%s in %s: got %+v, want refused by the %s", tt.name, m, o, tt.by)
				case tt.by != "" && (!strings.HasPrefix(o.DenyNote(), "Refused by "+tt.by+" through Sallyport: ") || !strings.Contains(o.Why, "; ")):
					t.Errorf("%s: got the note %q, want the fence, the path and what is allowed", tt.name, o.DenyNote())
				}
			}
		}
	}
}
