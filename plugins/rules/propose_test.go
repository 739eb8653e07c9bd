package rules_test

import (
	"strings"
	"testing"

	"sallyport/plugins/rules"
)

func commandIn(line string) rules.Request {
	return rules.Request{Kind: rules.Command, Tool: "Bash", Command: line, Folder: "/p", Home: "/home/ada"}
}

func fileIn(kind, tool string, paths ...string) rules.Request {
	return rules.Request{Kind: kind, Tool: tool, Paths: paths, Folder: "/p", Home: "/home/ada"}
}

func page(url string) rules.Request {
	return rules.Request{Kind: rules.Fetch, Tool: "WebFetch", URL: url, Folder: "/p"}
}

func named(kind, tool string) rules.Request {
	return rules.Request{Kind: kind, Tool: tool, Folder: "/p"}
}

// TestPropose: the rule for a request, "" for none, and neighbours of the request
// that the rule leaves alone.
func TestPropose(t *testing.T) {
	var cut = commandIn("npm test")
	cut.Cut = true
	for name, tt := range map[string]struct {
		of     rules.Request
		want   string
		others []rules.Request
	}{
		"command": {commandIn("npm test"), "Bash(npm test)", []rules.Request{
			commandIn("npm test --watch"), commandIn("npm testing"), commandIn("npm"), commandIn("npm test; rm x"), commandIn("npm test && rm x"),
			commandIn("npm test | sh"), commandIn("npm test > x"), commandIn("npm test $X"), commandIn("npm test `rm x`"), commandIn("FOO=1 npm test"),
			commandIn("./npm test"), commandIn("npm\ttest\nrm x"), commandIn("sudo npm test"), cut}},
		"spaces":            {commandIn("  npm   test  # all"), "Bash(npm test)", nil},
		"star":              {commandIn(`find . -name '*.go'`), `Bash(find . -name \*.go)`, []rules.Request{commandIn(`find . -name 'a.go'`), commandIn(`find . -name *.go`)}},
		"tail":              {commandIn(`echo 'a:*'`), `Bash(echo a:\*)`, []rules.Request{commandIn("echo a:b"), commandIn("echo a b")}},
		"operators":         {commandIn(`grep 'a|b' f`), `Bash(grep "a|b" f)`, []rules.Request{commandIn("grep a|b f"), commandIn("grep a f")}},
		"backslash":         {commandIn(`grep 'a\b' f`), `Bash(grep a\\b f)`, []rules.Request{commandIn("grep ab f")}},
		"assignment":        {commandIn("CI=1 npm test"), "Bash(CI=1 npm test)", []rules.Request{commandIn("npm test"), commandIn("CI=2 npm test")}},
		"sudo":              {commandIn("sudo npm test"), "Bash(sudo npm test)", []rules.Request{commandIn("npm test"), commandIn("sudo rm x")}},
		"two":               {commandIn("npm i && npm test"), "", nil},
		"pipe":              {commandIn("cat x | sh"), "", nil},
		"expansion":         {commandIn("echo $HOME"), "", nil},
		"wildcard":          {commandIn("ls *.go"), "", nil},
		"substitution":      {commandIn("echo $(date)"), "", nil},
		"writes":            {commandIn("npm test > log"), "", nil},
		"reads":             {commandIn("sh < x"), "", nil},
		"fed":               {commandIn("python3 <<EOF\nprint(1)\nEOF"), "", nil},
		"here string":       {commandIn("sh <<< ls"), "", nil},
		"background":        {commandIn("npm test &"), "", nil},
		"subshell":          {commandIn("(npm test)"), "", nil},
		"not":               {commandIn("! npm test"), "", nil},
		"space in a word":   {commandIn(`python3 -c "pass # x"`), "", nil}, // as with a line's end for the space
		"empty word":        {commandIn(`npm test ""`), "", nil},
		"shell":             {commandIn(`bash -c ls`), "", nil},
		"neutral wrapper":   {commandIn("timeout 5 npm test"), "", nil},
		"opaque":            {commandIn("watch ls"), "Bash(watch ls)", []rules.Request{commandIn("watch rm x"), commandIn("ls")}},
		"only assignment":   {commandIn("PATH=/x"), "", nil},
		"two lines":         {commandIn("ls\nrm x"), "", nil},
		"no line":           {commandIn(""), "", nil},
		"broken":            {commandIn("echo 'a"), "", nil},
		"escape":            {commandIn("echo \x1b[2J"), "", nil},
		"right to left":     {commandIn("echo \u202e"), "", nil},
		"long":              {commandIn("echo " + strings.Repeat("a", 300)), "", nil},
		"cut":               {cut, "", nil},
		"edit":              {fileIn(rules.Edit, "Edit", "/p/src/a.go", "src/a.go"), "Edit(./src/a.go)", []rules.Request{fileIn(rules.Edit, "Edit", "/p/src/b.go"), fileIn(rules.Edit, "Edit", "/p/a.go"), fileIn(rules.Edit, "Edit", "/p/x/src/a.go"), fileIn(rules.Edit, "Edit", "/p/src/a.go", "/p/b"), fileIn(rules.Read, "Read", "/p/src/a.go")}},
		"write":             {fileIn(rules.Edit, "Write", "notes.txt"), "Edit(./notes.txt)", []rules.Request{fileIn(rules.Edit, "Write", "/p/sub/notes.txt")}},
		"outside":           {fileIn(rules.Edit, "Edit", "/q/a"), "Edit(//q/a)", []rules.Request{fileIn(rules.Edit, "Edit", "/p/q/a"), fileIn(rules.Edit, "Edit", "/q/b")}},
		"climbs":            {fileIn(rules.Edit, "Edit", "/p/../q/a"), "Edit(//q/a)", []rules.Request{fileIn(rules.Edit, "Edit", "/p/q/a")}},
		"read":              {fileIn(rules.Read, "Read", "~/notes"), "Read(//home/ada/notes)", []rules.Request{fileIn(rules.Read, "Read", "notes"), fileIn(rules.Edit, "Edit", "~/notes")}},
		"search":            {fileIn(rules.Read, "Grep"), "Grep(./**)", []rules.Request{fileIn(rules.Read, "Grep", "/q"), fileIn(rules.Read, "Read", "/p/a")}},
		"list":              {fileIn(rules.Read, "LS", "src"), "LS(./src)", []rules.Request{fileIn(rules.Read, "LS", "."), fileIn(rules.Read, "Grep", "src")}},
		"two files":         {fileIn(rules.Edit, "Edit", "a", "b"), "", nil},
		"no file":           {fileIn(rules.Edit, "Edit"), "", nil},
		"wildcard in name":  {fileIn(rules.Edit, "Edit", "a*"), "", nil},
		"braces":            {fileIn(rules.Edit, "Edit", "{a,b}"), "", nil},
		"blank at the end":  {fileIn(rules.Edit, "Edit", "a "), "", nil},
		"parenthesis":       {fileIn(rules.Edit, "Edit", "a)"), "Edit(./a))", []rules.Request{fileIn(rules.Edit, "Edit", "a")}},
		"not this kind":     {fileIn(rules.Read, "Edit", "a"), "", nil},
		"page":              {page("https://Docs.Example/x?y#z"), "WebFetch(domain:docs.example)", []rules.Request{page("https://example/x"), page("https://a.docs.example"), page("https://docs.example.evil"), page("https://docs.example@evil/"), page("ftp://docs.example")}},
		"every host":        {page("https://*/"), "", nil},
		"hosts below":       {page("https://.example/"), "", nil},
		"wild host":         {page("https://*.example/"), "", nil},
		"address":           {page("http://[::1]/"), "", nil},
		"no page":           {page(""), "", nil},
		"no host":           {page("file:///etc/passwd"), "", nil},
		"search engine":     {named(rules.Fetch, "WebSearch"), "WebSearch", []rules.Request{page("https://a.example")}},
		"mcp":               {named(rules.MCP, "mcp__db__query"), "mcp__db__query", []rules.Request{named(rules.MCP, "mcp__db__drop"), named(rules.MCP, "mcp__db__query2"), named(rules.MCP, "mcp__db")}},
		"mcp server":        {named(rules.MCP, "mcp__db"), "", nil},
		"mcp star":          {named(rules.MCP, "mcp__db__*"), "", nil},
		"mcp not known":     {named(rules.MCP, "mcp__db__unknown"), "", nil},
		"tool":              {named(rules.Tool, "deploy"), "", nil},
		"tool that deletes": {rules.Request{Kind: rules.Tool, Tool: "Delete", Paths: []string{"a"}, Folder: "/p"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := rules.Propose(tt.of)
			if got != tt.want || ok != (tt.want != "") {
				t.Fatalf("Propose(%+v) = %q, %t, want %q", tt.of, got, ok, tt.want)
			}
			if !ok {
				return
			}
			set, problems := rules.Parse(rules.Lists{Allow: []string{got}}, rules.Source{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			for _, q := range tt.others {
				if e := set.Explain(q); e.Say == rules.Allow {
					t.Errorf("%s allows %+v: %s", got, q, e)
				}
			}
			refusing, _ := rules.Parse(rules.Lists{Deny: []string{got}}, rules.Source{})
			if e := refusing.Explain(tt.of); e.Say != rules.Deny {
				t.Errorf("denied, %s says: %s", got, e)
			}
		})
	}
}

// FuzzPropose: a rule allows the line that it comes from, and no line with more
// in it.
func FuzzPropose(f *testing.F) {
	for _, line := range []string{"npm test", `grep 'a|b' "x;y"`, `find . -name \*.go`, "A=1 ls", "sudo env X=1 ls -l", `echo 'a:*' \'`, "timeout 5 ls", "a\nb", "ls #x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rule, ok := rules.Propose(commandIn(line))
		if !ok {
			return
		}
		set, problems := rules.Parse(rules.Lists{Allow: []string{rule}}, rules.Source{})
		if len(problems) > 0 {
			t.Fatalf("%q of %q: %v", rule, line, problems)
		}
		if e := set.Explain(commandIn(line)); e.Say != rules.Allow {
			t.Errorf("%s does not allow the line %q that it comes from: %s", rule, line, e)
		}
		for _, more := range []string{"\nrm x", " ;rm x", " && rm x", " | sh", " more", " > x", " $X", " *"} {
			near := strings.TrimSpace(line) + more
			if strings.ContainsAny(line, "#\\") { // where the end may be no part of the command
				near = "rm x\n" + line
			}
			if e := set.Explain(commandIn(near)); e.Say == rules.Allow {
				t.Errorf("%s, of %q, allows %q: %s", rule, line, near, e)
			}
		}
	})
}
