package rules_test

import (
	"strings"
	"testing"

	"sallyport/plugins/rules"
)

func TestFiles(t *testing.T) {
	for _, tt := range []struct {
		rule string
		yes  string // files that it covers
		no   string
	}{
		{"Edit(src/**)", "src/a src/b/c ./src/a /p/src/a x/../src/a", "a srcx/a /src/a ../src/a src/../a /q/src/a"},
		{"Edit(./src/*.go)", "src/a.go", "src/b/a.go a.go src/a.c"},
		{"Edit(/src/**)", "/conf/src/a", "src/a /src/a"},
		{"Edit(//etc/**)", "/etc/passwd /p/../etc/x ../etc/x", "etc/passwd /etcx/a"},
		{"Edit(~/.ssh/**)", "~/.ssh/id /home/u/.ssh/id ../home/u/.ssh/id", ".ssh/id /home/v/.ssh/id"},
		{"Edit(.env)", ".env a/b/.env .env/x", "x.env ../.env /etc/.env .envx"},
		{"Edit(*.pem)", "a.pem b/a.pem", "a.pemx /q/a.pem"},
		{"Edit(src)", "src src/a a/src/b", "srcx"},
		{"Edit(docs/)", "docs/a", "docsx/a"},
		{"Edit(../x/**)", "../x/a", "x/a ../y /p/x/a"},
		{"Edit(**)", "a b/c", "../a /etc/x"},
		{"Edit({a})", "{a}", "a"},
		{"Edit([ab].c)", "a.c x/b.c", "c.c"},
		{"Edit(//**)", "/etc/x a ~/x", ""},
		{"Edit", "a /etc/x ~nobody/x", ""},
		{"Edit(*)", "a /etc/x", ""},
		{"Write(a)", "", "b"},
	} {
		r, problems := rules.Parse(rules.Lists{Allow: []string{tt.rule}}, rules.Source{Root: "/conf"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for want, files := range map[rules.Say]string{rules.Allow: tt.yes, rules.None: tt.no} {
			for _, f := range strings.Fields(files) {
				q := rules.Request{Kind: rules.Edit, Tool: "MultiEdit", Paths: []string{f}, Folder: "/p", Home: "/home/u"}
				if got := r.Decide(q); got.Say != want {
					t.Errorf("%s on %s: got %v, want %v", tt.rule, f, got.Say, want)
				}
			}
		}
	}
}

func TestFilesOfARequest(t *testing.T) {
	r := set(t, []string{"Edit(secret/**)", "Read(~/.ssh)", "Write(gen/**)"}, []string{"Edit(go.mod)"}, []string{"Edit(**)", "Read"})
	for _, tt := range []struct {
		kind, tool, paths string
		want              rules.Say
	}{
		{rules.Edit, "Edit", "a b", rules.Allow},
		{rules.Edit, "Write", "a secret/x", rules.Deny},
		{rules.Edit, "Write", "a go.mod", rules.Ask},
		{rules.Edit, "Edit", "a /etc/x", rules.None},
		{rules.Edit, "Edit", "a ~nobody/x", rules.Ask},
		{rules.Edit, "Edit", "https://x/y", rules.Ask},
		{rules.Edit, "Edit", "", rules.Ask},
		{rules.Edit, "Write", "gen/x", rules.Deny},
		{rules.Edit, "Edit", "gen/x", rules.Allow},
		{rules.Edit, "Write", "~/.ssh/config", rules.Deny}, // what may not be read may not be changed
		{rules.Read, "Read", "secret/x", rules.Allow},
		{rules.Read, "Grep", "~/.ssh/id", rules.Deny},
		{rules.Read, "Grep", "", rules.Allow},
		{rules.Read, "Grep", "~", rules.Ask}, // what it finds in there is not told
		{rules.Tool, "Delete", "secret/x", rules.Deny},
		{rules.Tool, "Delete", "../p", rules.Ask},
		{rules.Tool, "Move", "a secret/x", rules.Deny},
		{rules.Tool, "TodoWrite", "", rules.None},
	} {
		q := rules.Request{Kind: tt.kind, Tool: tt.tool, Paths: strings.Fields(tt.paths), Folder: "/p", Home: "/home/u"}
		if e := r.Explain(q); e.Say != tt.want {
			t.Errorf("%s %s: got %v, want %v\n%v", tt.tool, tt.paths, e.Say, tt.want, e)
		}
	}
}

func TestFetchAndTools(t *testing.T) {
	r := set(t, []string{"WebFetch(domain:evil.com)", "mcp__db", "mcp__git__push*", "Task"}, []string{"WebFetch(domain:*.corp)", "mcp__git__commit"},
		[]string{"WebFetch(domain:Example.com)", "mcp__git", "WebSearch", "mcp__fs__read"})
	for _, tt := range []struct {
		kind, tool, url string
		want            rules.Say
	}{
		{rules.Fetch, "WebFetch", "https://example.com/x", rules.Allow},
		{rules.Fetch, "WebFetch", "example.com", rules.Allow},
		{rules.Fetch, "WebFetch", "https://EXAMPLE.com.:8080/x", rules.Allow},
		{rules.Fetch, "WebFetch", "https://a.example.com", rules.None},
		{rules.Fetch, "WebFetch", "https://example.com@evil.com/", rules.Deny},
		{rules.Fetch, "WebFetch", "https://evil.com/?example.com", rules.Deny},
		{rules.Fetch, "WebFetch", `https://evil.com\@example.com`, rules.Ask},
		{rules.Fetch, "WebFetch", "", rules.Ask},
		{rules.Fetch, "WebFetch", "file:///etc/passwd", rules.Ask},
		{rules.Fetch, "WebFetch", "http://a.b.corp", rules.Ask},
		{rules.Fetch, "WebFetch", "http://corp", rules.None},
		{rules.Fetch, "WebSearch", "", rules.Allow},
		{rules.MCP, "mcp__db__query", "", rules.Deny},
		{rules.MCP, "mcp__dbx__query", "", rules.None},
		{rules.MCP, "mcp__git__push_all", "", rules.Deny},
		{rules.MCP, "mcp__git__commit", "", rules.Ask},
		{rules.MCP, "mcp__git__log", "", rules.Allow},
		{rules.MCP, "mcp__fs__read", "", rules.Allow},
		{rules.MCP, "mcp__fs__read2", "", rules.None},
		{rules.Tool, "Task", "", rules.Deny},
		{rules.Tool, "other", "", rules.None},
	} {
		if e := r.Explain(rules.Request{Kind: tt.kind, Tool: tt.tool, URL: tt.url}); e.Say != tt.want {
			t.Errorf("%s %s: got %v, want %v\n%v", tt.tool, tt.url, e.Say, tt.want, e)
		}
	}
}

// TestHosts: a host is found in every spelling that is sure; a deny rule makes the
// others a question.
func TestHosts(t *testing.T) {
	r := set(t, []string{"WebFetch(domain:evil.com)", "WebFetch(domain:127.0.0.1)"}, nil, []string{"WebFetch(domain:good.com)"})
	for want, pages := range map[rules.Say][]string{
		rules.Deny: {"http://EVIL.com", "evil.com:80", "http://evil.com..", "http://good.com@evil.com", "http://good.com:80@evil.com:80/", " http://evil.com ", "http://[::ffff:127.0.0.1]/", "http://127.0.0.1:80"},
		rules.Ask: {"http://ｅｖｉｌ.com", "http://evil。com", "http://evıl.com", "http://2130706433", "http://0x7f.1", "http://127.1", "http://0177.0.0.1", "http://127.0.0.0x1", "http://%65vil.com", "http:evil.com", "http:/evil.com",
			"//evil.com", "http:///evil.com", "http:\\\\evil.com", "http://good.com\\@evil.com", "http://ev\til.com", "ht\ntp://evil.com", "view-source:http://evil.com", "ftp://evil.com", "", "http://good.com\x00.evil.com"},
		rules.Allow: {"http://good.com", "https://good.com/?http://evil.com", "https://good.com/#@evil.com"},
		rules.None:  {"http://notevil.com", "http://evil.com.good.org", "http://good.com.org", "http://[::1]", "http://xn--vil-jma.com"},
	} {
		for _, page := range pages {
			if e := r.Explain(rules.Request{Kind: rules.Fetch, Tool: "WebFetch", URL: page}); e.Say != want {
				t.Errorf("%q: got %v, want %v\n%v", page, e.Say, want, e)
			}
		}
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		list, rule, why string
	}{
		{"deny", "", "empty"},
		{"deny", "Bash(rm", "not closed"},
		{"deny", "Bash()", "nothing in its parentheses"},
		{"deny", "Bash(a\nb)", "control character"},
		{"deny", "rm -rf", "no tool's name"},
		{"deny", "(x)", "no tool's name"},
		{"ask", "Skill(x)", "takes no parentheses"},
		{"ask", "mcp__a__b(x)", "takes no parentheses"},
		{"ask", "WebFetch(example.com)", "domain:"},
		{"ask", "WebFetch(domain:https://x/)", "host alone"},
		{"ask", "WebFetch(domain:exämple.com)", "xn--"},
		{"allow", "mcp__*", "names its server"},
		{"deny", "mcp__a*b__c", "at the end"},
		{"allow", "Bash(git log | head)", "one rule for each command"},
		{"allow", "Edit(a[b)", "wildcards"},
		{"allow", `Edit(C:\x)`, "with /"},
		{"allow", "Edit(!a)", "takes nothing back"},
		{"allow", "Edit(~v/x)", "another user"},
		{"allow", strings.Repeat("a", 5000), "longer"},
	} {
		lists := map[string]*rules.Lists{"deny": {Deny: []string{tt.rule}}, "ask": {Ask: []string{tt.rule}}, "allow": {Allow: []string{tt.rule}}}
		r, problems := rules.Parse(*lists[tt.list], rules.Source{})
		if len(problems) != 1 || problems[0].Rule != tt.rule || problems[0].List != tt.list || !strings.Contains(problems[0].Error(), tt.why) || r.Len() != 0 {
			t.Errorf("%q: got %v, want one problem with %q", tt.rule, problems, tt.why)
		}
	}
}

func TestParseClaude(t *testing.T) {
	r, problems := rules.ParseClaude([]byte(`{"permissions":{"allow":["Bash(npm test:*)",3,"Skill(x)"],"deny":["Read(./.env)"],"ask":"x","defaultMode":"plan"},"model":"m"}`), rules.Source{})
	if r.Len() != 2 || len(problems) != 3 {
		t.Errorf("got %d rules and %v, want 2 rules and 3 problems", r.Len(), problems)
	}
	says(t, r, rules.Allow, "npm test")
	for _, bad := range []string{"", "[]", "{", `{"permissions":[]}`} {
		if r, problems := rules.ParseClaude([]byte(bad), rules.Source{}); len(problems) != 1 || r.Len() != 0 {
			t.Errorf("%q: got %v, want one problem", bad, problems)
		}
	}
	if r, problems := rules.ParseClaude([]byte(`{}`), rules.Source{}); len(problems) != 0 || r.Len() != 0 {
		t.Errorf("got %v, want no problem", problems)
	}
}

func TestJoin(t *testing.T) {
	user := set(t, nil, nil, []string{"Bash", "Edit", "mcp__a", "WebFetch"})
	project := set(t, []string{"Bash(rm:*)", "Edit(x)", "mcp__a__b", "WebFetch(domain:x)", "Bash(* -f)", "Bash(a | b)"}, nil, nil)
	r := rules.Join(user, nil, project)
	says(t, r, rules.Deny, "rm x", "git -f", "a | b")
	says(t, r, rules.Allow, "ls")
	says(t, user, rules.Allow, "rm x")
	if r.Len() != 10 {
		t.Errorf("got %d rules, want 10", r.Len())
	}
}
