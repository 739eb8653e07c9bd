package rules

import "testing"

func TestWithout(t *testing.T) {
	all, problems := Parse(Lists{
		Deny: []string{"Bash(rm:*)", "Edit(/gen/**)", "WebFetch(domain:example.com)", "mcp__db", "Bash(* --force)"},
		Ask:  []string{"Bash", "Bash(a | b)"}, Allow: []string{"Bash(ls)", "Read", "WebSearch"},
	}, Source{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	rest := all.Without(Allow)
	if all.Len() != 10 || rest.Len() != 7 {
		t.Errorf("got %d and %d rules, want 10 and 7", all.Len(), rest.Len())
	}
	for _, q := range []Request{{Kind: Command, Tool: "Bash", Command: "ls"}, {Kind: Read, Tool: "Read", Paths: []string{"/a"}}, {Kind: Tool, Tool: "WebSearch"}} {
		if got := rest.Decide(q).Say; got == Allow {
			t.Errorf("%v: it is allowed", q)
		}
	}
	if got := rest.Decide(Request{Kind: Command, Tool: "Bash", Command: "ls; rm x"}).Say; got != Deny {
		t.Errorf("got %v, want deny", got)
	}
	if got := all.Decide(Request{Kind: Read, Tool: "Read", Paths: []string{"/a"}}).Say; got != Allow {
		t.Errorf("the whole set was changed: got %v, want allow", got)
	}
}
