package permit_test

import (
	"testing"

	"sallyport/bridge/permit"
)

// TestModes is the table of what each mode lets through, refuses and leaves to
// the user.
func TestModes(t *testing.T) {
	const asks, allows, refuses, fenced = "asks", "allows", "refuses", "fenced"
	tests := []struct {
		what                                 string
		card                                 *permit.Card
		byDefault, acceptEdits, plan, bypass string
	}{
		{"edit in the region", card(permit.Edit, "/p/a"), asks, allows, refuses, allows},
		{"edit of a bare name", card(permit.Edit, "a"), asks, allows, refuses, allows},
		{"edit, one of two outside", card(permit.Edit, "/p/a", "/out/b"), fenced, fenced, fenced, fenced},
		{"edit that leaves by dots", card(permit.Edit, "/p/../out/b"), fenced, fenced, fenced, fenced},
		{"edit of a bare name that leaves", card(permit.Edit, "../out"), fenced, fenced, fenced, fenced},
		{"edit of a reserved file", card(permit.Edit, "/p/.git/config"), fenced, fenced, fenced, fenced},
		{"edit in the home", card(permit.Edit, "~/.profile"), fenced, fenced, fenced, fenced},
		{"edit of somebody's home", card(permit.Edit, "~root/x"), fenced, fenced, fenced, fenced},
		{"edit of what is no file", card(permit.Edit, "git://h/x"), fenced, fenced, fenced, fenced},
		{"edit of a file URI", card(permit.Edit, "file:///p/a"), asks, allows, refuses, allows},
		{"edit of a file URI outside", card(permit.Edit, "file:///out/a"), fenced, fenced, fenced, fenced},
		{"edit of nothing named", card(permit.Edit), asks, asks, refuses, allows},
		{"edit whose diff is outside", diffCard(permit.Edit, "/out/x", "/p/a"), fenced, fenced, fenced, fenced},
		{"tool with a diff outside", diffCard(permit.Tool, "/out/x"), fenced, fenced, fenced, fenced},
		{"command", card(permit.Command), asks, asks, refuses, allows},
		{"command in a private project", card(permit.Command, "/q"), fenced, fenced, fenced, fenced},
		{"read in the region", card(permit.Read, "/p/a"), asks, asks, allows, allows},
		{"read elsewhere", card(permit.Read, "/etc/hosts"), asks, asks, asks, allows},
		{"read of a private project", card(permit.Read, "/q/s"), fenced, fenced, fenced, fenced},
		{"fetch", card(permit.Fetch), asks, asks, asks, allows},
		{"fetch of a page", card(permit.Fetch, "https://h/x"), asks, asks, asks, allows},
		{"mcp", card(permit.MCP), asks, asks, asks, allows},
		{"tool", card(permit.Tool, "/p/a"), asks, asks, asks, allows},
		{"plan", card(permit.Plan), asks, asks, asks, asks},
		{"question", card(permit.Question), asks, asks, asks, asks},
		{"plan about a private project", card(permit.Plan, "/q/s"), fenced, fenced, fenced, fenced},
	}
	for _, tt := range tests {
		for m, want := range map[permit.Mode]string{"": tt.byDefault, permit.Default: tt.byDefault, permit.AcceptEdits: tt.acceptEdits, permit.PlanMode: tt.plan, permit.Bypass: tt.bypass, "x_future": tt.byDefault} {
			e := &permit.Engine{Mode: mode(m), Place: project(), Ask: pick("a")}
			o := e.Decide(t.Context(), tt.card)
			got := string(o.By) + " " + o.Option
			switch {
			case o.By == permit.ByUser && o.Allowed:
				got = asks
			case o.By == permit.ByMode && o.Allowed && o.Option == "a":
				got = allows
			case o.By == permit.ByMode && !o.Allowed && o.Option == "r":
				got = refuses
			case o.By == permit.ByFence && !o.Allowed && o.Option == "r":
				got = fenced
			}
			if got != want {
				t.Errorf("%s in mode %q: got %s, want %s (%+v)", tt.what, m, got, want, o)
			}
		}
	}
}

func diffCard(kind permit.Kind, diff string, paths ...string) *permit.Card {
	c := card(kind, paths...)
	c.Diffs = []permit.Diff{{Path: diff, New: "x"}}
	return c
}
