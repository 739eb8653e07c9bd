package permit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
)

// goose is the acp.tools of goose's manifest (H041).
var goose = map[string]string{"shell": "Bash", "write": "Write", "edit": "Edit", "text_editor": "Edit", "read": "Read", "tree": "Glob"}

// request reads a permission request about toolCall with a fresh Reader.
func request(t *testing.T, toolCall string) *permit.Card {
	t.Helper()
	r := &permit.Reader{Session: "s", Tools: goose}
	c, err := r.Read("t", jsontext.Value(`{"sessionId":"x","options":[],"toolCall":`+toolCall+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClassify is the table of kinds and names (P024–P031, H039–H041, K1).
// What the recorded agents send is in permissions.golden.
func TestClassify(t *testing.T) {
	for _, tt := range []struct{ call, want string }{
		{`{"kind":"execute","rawInput":{"command":"ls"}}`, `command Bash {"command":"ls"}`},
		{`{"kind":"execute","rawInput":{"command":["/bin/bash","-lc","ls | wc"],"cwd":"/p"}}`, `command Bash {"command":"ls | wc","cwd":"/p"}`},
		{`{"kind":"execute","rawInput":{"command":["git","commit","-m","it's"]}}`, `command Bash {"command":"git commit -m 'it'\\''s'"}`},
		{`{"kind":"execute","rawInput":{"command":["bash","-c","ls","x"]}}`, `command Bash {"command":"bash -c ls x"}`},
		{`{"kind":"execute","rawInput":{"cmd":"ls"}}`, `command Bash {"command":"ls","cmd":"ls"}`},
		{`{"kind":"execute","title":"rm -rf /"}`, `command Bash {}`},
		{`{"kind":"read","rawInput":{"command":["bash","-lc","cat x"]}}`, `command Bash {"command":"cat x"}`},
		{`{"kind":"read","name":"exec_command"}`, `command Bash {}`},
		{`{"kind":"other","_meta":{"toolName":"run_shell_command"},"rawInput":{"command":"ls"}}`, `command Bash {"command":"ls"}`},
		{`{"kind":"edit","rawInput":{"filePath":"/p/a","oldString":"x","newString":"y"}}`, `edit Edit {"file_path":"/p/a","filePath":"/p/a","oldString":"x","newString":"y"}`},
		{`{"kind":"edit","content":[{"type":"diff","path":"/p/a","newText":"y"}]}`, `edit Write {"file_path":"/p/a","content":"y"}`},
		{`{"kind":"edit","content":[{"type":"diff","path":"/p/a","newText":"y"},{"type":"diff","path":"/p/b","oldText":"1","newText":"2"}]}`, `edit Edit {"file_path":"/p/a","file_paths":["/p/a","/p/b"]}`},
		{`{"kind":"edit","_meta":{"claudeCode":{"toolName":"NotebookEdit"}},"rawInput":{"notebook_path":"/p/n"}}`, `edit NotebookEdit {"file_path":"/p/n","notebook_path":"/p/n"}`},
		{`{"kind":"edit","locations":[{"path":"/p/a"}]}`, `edit Edit {"file_path":"/p/a"}`},
		{`{"kind":"edit","rawInput":{"changes":{"/p/a":{"type":"update","move_path":"/out/b"}}}}`, `edit Edit {"file_path":"/p/a","file_paths":["/p/a","/out/b"],"changes":{"/p/a":{"type":"update","move_path":"/out/b"}}}`},
		{`{"kind":"delete","locations":[{"path":"/p/a"}]}`, `tool Delete {"file_path":"/p/a"}`},
		{`{"kind":"move","rawInput":{"source":"/p/a","destination":"/out/b"}}`, `tool Move {"file_path":"/p/a","file_paths":["/p/a","/out/b"],"source":"/p/a","destination":"/out/b"}`},
		{`{"kind":"read","locations":[{"path":"/p/a"}]}`, `read Read {"file_path":"/p/a"}`},
		{`{"kind":"search","rawInput":{"pattern":"x"}}`, `read Grep {"pattern":"x"}`},
		{`{"kind":"search","_meta":{"claudeCode":{"toolName":"Glob"}},"rawInput":{"pattern":"*"}}`, `read Glob {"pattern":"*"}`},
		{`{"kind":"search","_meta":{"toolName":"list_directory"}}`, `read LS {}`},
		{`{"kind":"read","_meta":{"toolName":"write_file"},"rawInput":{"path":"/p/a"}}`, `edit Write {"file_path":"/p/a","path":"/p/a"}`},
		{`{"kind":"search","_meta":{"toolName":"web_fetch"},"rawInput":{"url":"https://h"}}`, `fetch WebFetch {"url":"https://h"}`},
		{`{"kind":"execute","rawInput":"{\"command\":\"ls\"}"}`, `command Bash {"command":"ls"}`},
		{`{"kind":"execute","rawInput":"{\"command\":"}`, `command Bash {"input":"{\"command\":"}`},
		{`{"kind":"fetch","rawInput":{"url":"https://h"}}`, `fetch WebFetch {"url":"https://h"}`},
		{`{"kind":"fetch","_meta":{"toolName":"google_web_search"}}`, `fetch WebSearch {}`},
		{`{"kind":"think","_meta":{"claudeCode":{"toolName":"Task"}}}`, `tool Task {}`},
		{`{"kind":"switch_mode","rawInput":{"plan":"do it"}}`, `plan ExitPlanMode {"plan":"do it"}`},
		{`{"kind":"other","_meta":{"toolName":"exit_plan_mode"}}`, `plan ExitPlanMode {}`},
		{`{"kind":"other","_meta":{"claudeCode":{"toolName":"AskUserQuestion"}}}`, `question AskUserQuestion {}`},
		{`{"kind":"think","_meta":{"toolName":"ask_user_question"}}`, `question AskUserQuestion {}`},
		{`{"kind":"other","rawInput":{"serverName":"s","description":"?","schema":{}}}`, `question AskUserQuestion {"serverName":"s","description":"?","schema":{}}`},
		{`{"kind":"fetch","rawInput":{"serverName":"s","description":"?","url":"https://h"}}`, `question AskUserQuestion {"serverName":"s","description":"?","url":"https://h"}`},
		{`{"kind":"execute","rawInput":{"serverName":"s","description":"?","schema":{}}}`, `mcp mcp__s__unknown {"serverName":"s","description":"?","schema":{}}`},
		{`{"kind":"other","_meta":{"claudeCode":{"toolName":"mcp__db__query"}},"rawInput":{"q":1}}`, `mcp mcp__db__query {"q":1}`},
		{`{"kind":"edit","_meta":{"toolName":"mcp__files__write"},"rawInput":{"path":"/p/a"}}`, `mcp mcp__files__write {"path":"/p/a"}`},
		{`{"kind":"execute","rawInput":{"server":"db","tool":"query","arguments":{}}}`, `mcp mcp__db__query {"server":"db","tool":"query","arguments":{}}`},
		{`{"kind":"execute","rawInput":{"invocation":{"server":"db","tool":"query"}}}`, `mcp mcp__db__query {"invocation":{"server":"db","tool":"query"}}`},
		{`{"kind":"execute","rawInput":{"server":"db","tool":"query","command":"rm x"}}`, `command Bash {"command":"rm x","server":"db","tool":"query"}`},
		{`{"kind":"other","name":"mcp.db.query"}`, `mcp mcp__db__query {}`},
		{`{"kind":"other","title":"mcp.db.query"}`, `tool other {}`},
		{`{"kind":"other","_meta":{"goose":{"toolCall":{"toolName":"shell"}}},"rawInput":{"command":"ls"}}`, `command Bash {"command":"ls"}`},
		{`{"kind":"other","title":"text_editor · write /p/a","rawInput":{"path":"/p/a"}}`, `edit Edit {"file_path":"/p/a","path":"/p/a"}`},
		{`{"kind":"other","title":"nothing · known"}`, `tool other {}`},
		{`{"kind":"other","title":"Bash"}`, `tool other {}`},
		{`{"kind":"x_tool","title":"T"}`, `tool x_tool {}`},
		{`{"title":"T"}`, `tool other {}`},
		{`{"kind":"x_tool","name":"pay","rawInput":7}`, `tool pay {"input":7}`},
		{`{"kind":"other","name":"a\nb"}`, `tool a_b {}`},
	} {
		c := request(t, tt.call)
		if got := string(c.Request.Kind) + " " + c.Request.Tool + " " + string(c.Request.Input); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.call, got, tt.want)
		}
	}
}

// TestInputIsCut: long texts are cut with their full length said, twice: at the
// end of the text for a person, and in sallyport_cut for a program, where
// nothing that the agent writes can stand.
func TestInputIsCut(t *testing.T) {
	long := strings.Repeat("é", 3000)
	many := strings.TrimSuffix(strings.Repeat(`"x",`, 20000), ",")
	names := ""
	for i := range 300 {
		names += `"m` + strings.Repeat("i", i) + `":1,`
	}
	large := ""
	for i := range 100 {
		large += fmt.Sprintf(`,"x%d":["%s"]`, i, strings.Repeat("x", 4000))
	}
	for name, tt := range map[string]struct{ input, want string }{
		"text":     {`{"command":"` + long + `"}`, `{"command":6000}`},
		"nested":   {`{"command":"ls","env":{"a":["` + long + `"]}}`, `{"env":6000}`},
		"array":    {`{"command":"ls","args":[` + many + `]}`, `{"args":80001}`},
		"names":    {`{` + names + `"command":"ls"}`, `{"…":45}`},
		"large":    {`{"command":"ls"` + large + `}`, `{"…":34}`},
		"repeated": {`{"command":"ls","x":{"a":1,"a":2}}`, `{"x":13}`},
		"spoofed":  {`{"command":"` + long + `","sallyport_cut":{}}`, `{"command":6000}`},
		"none":     {`{"command":"ls","sallyport_cut":{"command":1}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			c := request(t, `{"kind":"execute","rawInput":`+tt.input+`}`)
			var got map[string]jsontext.Value
			if err := json.Unmarshal(c.Request.Input, &got); err != nil {
				t.Fatalf("%v: %.200s", err, c.Request.Input)
			}
			if string(got[permit.CutMember]) != tt.want {
				t.Errorf("got the cuts %s, want %s", got[permit.CutMember], tt.want)
			}
			if len(c.Request.Input) > 300<<10 {
				t.Errorf("the input has %d bytes", len(c.Request.Input))
			}
			if name == "text" {
				var s string
				if err := json.Unmarshal(got["command"], &s); err != nil || !strings.HasSuffix(s, "é… [cut by Sallyport: 6000 bytes in all]") || len(s) > permit.MaxText+60 {
					t.Errorf("got the text …%q (%v)", s[len(s)-60:], err)
				}
			}
		})
	}
}

// TestG8_Titles: the whole title is shown, its controls made visible.
func TestG8_Titles(t *testing.T) {
	for _, title := range []string{"git status\nrm -rf ~", strings.Repeat("x", 5000), "a\x1b[2Jb", "a\u202eb\u200bc", "\u009b2J"} {
		quoted, err := json.Marshal(title)
		if err != nil {
			t.Fatal(err)
		}
		got := request(t, `{"kind":"execute","title":`+string(quoted)+`}`).Title
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0x200b }) {
			t.Errorf("%.40q: a control is left in %.40q", title, got)
		}
		for _, part := range []string{"rm -rf ~", "[2J", strings.Repeat("x", 5000)} {
			if strings.Contains(title, part) && !strings.Contains(got, part) {
				t.Errorf("%.40q: %.40q is cut from %.40q", title, part, got)
			}
		}
	}
	if got := request(t, `{"kind":"execute","title":" "}`).Title; got != "Bash" {
		t.Errorf("no title: got %q, want the tool's name", got)
	}
}

// TestReader: malformed requests are errors, odd ones are cards.
func TestReader(t *testing.T) {
	r := &permit.Reader{Session: "s"}
	for _, bad := range []string{`{}`, `[]`, `null`, ``, `{"options":[]}`, `{"toolCall":{}}`, `{"toolCall":7,"options":[]}`, `{"toolCall":{},"options":{}}`, `{"toolCall":null,"options":null}`} {
		if c, err := r.Read("t", jsontext.Value(bad)); err == nil {
			t.Errorf("%s: got %+v, want an error", bad, c)
		}
	}
	c, err := r.Read("t", jsontext.Value(`{"toolCall":{"toolCallId":"c","x":1},"options":[{"optionId":"a","name":"A","kind":"x_future","_meta":{"d":1},"y":2},7,{"optionId":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Options) != 2 || c.Options[0].Kind != "x_future" || string(c.Options[0].Meta) != `{"d":1}` || c.Options[1].ID != "" {
		t.Errorf("got the options %+v", c.Options)
	}
	if string(c.Raw) != `{"toolCallId":"c","x":1}` || c.Turn != "t" || c.Session != "s" || c.Request.ID != c.ID {
		t.Errorf("got %+v", c)
	}
	if other, _ := r.Read("t", jsontext.Value(`{"toolCall":{},"options":[]}`)); other.ID == c.ID {
		t.Errorf("two cards have the id %s", c.ID)
	}
}

// TestCommandInTitle: only with the quirk, only where there is no input.
func TestCommandInTitle(t *testing.T) {
	for _, tt := range []struct {
		quirk bool
		call  string
		want  string
	}{
		{true, `{"kind":"execute","title":"ls\n-l"}`, `{"command":"ls\n-l"}`},
		{true, `{"kind":"execute","title":"T","rawInput":{"command":"ls"}}`, `{"command":"ls"}`},
		{true, `{"kind":"read","title":"T"}`, `{}`},
		{false, `{"kind":"execute","title":"ls"}`, `{}`},
	} {
		r := &permit.Reader{CommandInTitle: tt.quirk}
		c, err := r.Read("t", jsontext.Value(`{"options":[],"toolCall":`+tt.call+`}`))
		if err != nil || string(c.Request.Input) != tt.want {
			t.Errorf("%s, quirk %v: got %s (%v), want %s", tt.call, tt.quirk, c.Request.Input, err, tt.want)
		}
	}
}

// TestK1_UnknownKinds: a kind of tool and of option that nobody knows yet is
// kept as text, and asked about.
func TestK1_UnknownKinds(t *testing.T) {
	r := &permit.Reader{}
	c, err := r.Read("t", jsontext.Value(`{"options":[{"optionId":"o","name":"N\u001b","kind":"x_kind"}],"toolCall":{"toolCallId":"c","kind":"x_tool","status":"x_new","content":[{"type":"x_blob"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Request.Kind != permit.Tool || c.Request.Tool != "x_tool" || c.Options[0].Kind != "x_kind" || c.Options[0].Label() != "N␛" {
		t.Errorf("got %+v", c)
	}
	e := &permit.Engine{Ask: pick("o")}
	if o := e.Decide(t.Context(), c); o.Option != "o" || o.By != permit.ByUser || o.Allowed {
		t.Errorf("got %+v, want the option that the user picked, which counts as no grant", o)
	}
}

// FuzzReader: whatever an agent sends, the card's input is one valid object of
// bounded size, and nothing panics.
func FuzzReader(f *testing.F) {
	f.Add(`{"toolCall":{"toolCallId":"c","kind":"execute","rawInput":{"command":["a","b"]},"locations":[{"path":"/p"}],"content":[{"type":"diff","path":"/p","oldText":null,"newText":"x"}]},"options":[{"optionId":"a","kind":"allow_once"}]}`)
	f.Add(`{"toolCall":{"kind":"edit","rawInput":{"changes":{"/p/a":{"move_path":"b"}},"x":[{"a":1,"a":2}]},"_meta":{"goose":{"toolCall":{"toolName":"shell"}}}},"options":[]}`)
	f.Add(`{"toolCall":{"kind":"move","rawInput":"x","title":"\ud800"},"options":[7]}`)
	f.Fuzz(func(t *testing.T, params string) {
		r := &permit.Reader{Session: "s", Tools: goose, CommandInTitle: true}
		c, err := r.Read("t", jsontext.Value(params))
		if err != nil {
			return
		}
		if len(c.Request.Input) > 1<<20 {
			t.Errorf("the input has %d bytes", len(c.Request.Input))
		}
		valid := jsontext.Value(params).IsValid(jsontext.AllowDuplicateNames(true))
		if valid && (!c.Request.Input.IsValid() || c.Request.Input.Kind() != '{') {
			t.Errorf("%s: got the input %s", params, c.Request.Input)
		}
	})
}
