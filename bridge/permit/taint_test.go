package permit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace/fence"
)

// tainted is a taint of the place project, in which /p/.git is reserved.
func taintOf(untrusted ...string) *permit.Taint {
	p := project()
	write := p.CheckWrite
	p.CheckWrite = func(path string) error {
		if strings.Contains(path, "/.git/") {
			return &fence.Refusal{Fence: fence.Reserved, Path: path}
		}
		return write(path)
	}
	t := &permit.Taint{Place: p, Tools: map[string]string{"look": "Read"}}
	if len(untrusted) > 0 {
		t.Untrusted = func(name string) bool { return slices.Contains(untrusted, name) }
	}
	return t
}

func marks(t *permit.Taint) string {
	var all []string
	for _, m := range t.Marks() {
		all = append(all, string(m.Kind)+" "+m.Source)
	}
	return strings.Join(all, ", ")
}

// TestWhatMarks: fetched pages, MCP results, files from outside, and what the
// user marked; with the source, and never more of an address than its host.
func TestWhatMarks(t *testing.T) {
	for _, tt := range []struct {
		name string
		call permit.Call
		want string
	}{
		{"a page", permit.Call{Kind: "fetch", Input: jsontext.Value(`{"url":"https://u:pw@a.example:8443/x?token=s3cret"}`)}, "fetch a.example"},
		{"a page by a prompt", permit.Call{Kind: "fetch", Input: jsontext.Value(`{"prompt":"sum up (https://b.example/x), please"}`)}, "fetch b.example"},
		{"a page without address", permit.Call{Kind: "fetch"}, "fetch a page"},
		{"a search", permit.Call{ToolName: "google_web_search", Kind: "other", Input: jsontext.Value(`{"query":"x"}`)}, "fetch a search"},
		{"an MCP tool", permit.Call{Kind: "other", ToolName: "mcp__db__read"}, "mcp db"},
		{"an MCP tool that says it runs", permit.Call{Kind: "execute", Input: jsontext.Value(`{"server":"db","tool":"read"}`)}, "mcp db"},
		{"a file outside", permit.Call{Kind: "read", Locations: []string{"/etc/hosts"}}, "outside /etc/hosts"},
		{"a file outside by dots", permit.Call{Kind: "read", Locations: []string{"../x"}}, "outside /x"},
		{"a search outside", permit.Call{Kind: "search", Input: jsontext.Value(`{"path":"/usr/include"}`)}, "outside /usr/include"},
		{"files by another tool", permit.Call{Kind: "other", ToolName: "x_view", Input: jsontext.Value(`{"path":"/etc/x","url":"http://c.example/"}`)}, "outside /etc/x, fetch c.example"},
		{"a marked file", permit.Call{Kind: "read", Locations: []string{"/p/vendor.txt"}}, "marked /p/vendor.txt"},
		{"a marked page", permit.Call{Kind: "fetch", Input: jsontext.Value(`{"url":"https://bad.example/"}`)}, "marked bad.example"},
		{"a file inside", permit.Call{Kind: "read", Locations: []string{"/p/a", "b"}}, ""},
		{"an edit", permit.Call{Kind: "edit", Locations: []string{"/x/a"}}, ""},
		{"a command", permit.Call{Kind: "execute", Input: jsontext.Value(`{"command":"curl https://x.example","cwd":"/x"}`)}, ""},
		{"controls", permit.Call{Kind: "other", ToolName: "mcp__a\x1b[2J__x"}, "mcp a␛[2J"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, status := range []string{"", "pending", "failed", "completed"} {
				taint := taintOf("/p/vendor.txt", "https://bad.example/")
				tt.call.ID, tt.call.Status = "c", status
				taint.Call(&tt.call)
				want := ""
				if status == "completed" {
					want = tt.want
				}
				if got := marks(taint); got != want {
					t.Errorf("status %q: got the marks %q, want %q", status, got, want)
				}
			}
			taint := taintOf("/p/vendor.txt", "https://bad.example/")
			if taint.Left(&tt.call); marks(taint) != tt.want {
				t.Errorf("left open: got the marks %q, want %q", marks(taint), tt.want)
			}
		})
	}
}

// TestMarksAreTold once each, the first one as such, and are bounded.
func TestMarksAreTold(t *testing.T) {
	taint := taintOf()
	var told []string
	taint.New = func(m permit.Mark, first bool) { told = append(told, fmt.Sprint(m.Source, first)) }
	for range 2 {
		taint.Read("/etc/a")
		taint.Read("/p/a")
		taint.Read("/etc/b")
	}
	if got := strings.Join(told, " "); got != "/etc/atrue /etc/bfalse" {
		t.Errorf("told %q", got)
	}
	for i := range 1000 {
		taint.Read(fmt.Sprint("/etc/", i))
	}
	if n := len(taint.Marks()); n != 200 {
		t.Errorf("%d marks are kept, want 200", n)
	}
	taint.Clear()
	taint.Read("/etc/a")
	if got := told[len(told)-1]; marks(taint) != "outside /etc/a" || got != "/etc/atrue" {
		t.Errorf("after Clear the marks are %q, told %q", marks(taint), got)
	}
}

// TestGate: while the session is marked nothing is allowed automatically for
// commands, fetches, MCP tools, what cannot be classified, and reserved or
// outside paths: the user is asked in every mode, under every policy and whatever
// a decider allows, with the reason. Deny wins all the same.
func TestGate(t *testing.T) {
	allow := func(context.Context, *permit.Card) permit.Verdict {
		return permit.Verdict{Say: permit.Allow, By: permit.ByDecider}
	}
	for _, tt := range []struct {
		card  *permit.Card
		gated bool
	}{
		{card(permit.Command), true},
		{card(permit.Fetch), true},
		{card(permit.MCP), true},
		{card(permit.Tool), true},
		{card("x_future"), true},
		{card(permit.Read, "/etc/hosts"), true},
		{card(permit.Read, "/p/.git/config"), true},
		{card(permit.Read, "ftp://x/y"), true},
		{card(permit.Edit), true},
		{card(permit.Read), false},
		{card(permit.Read, "/p/a"), false},
		{card(permit.Edit, "/p/a"), false},
	} {
		for _, m := range []permit.Mode{permit.Default, permit.AcceptEdits, permit.Bypass} {
			for _, policy := range []permit.Policy{permit.Ask, permit.Record, permit.Deny} {
				for _, marked := range []bool{false, true} {
					taint := taintOf()
					if marked {
						taint.Read("/etc/x")
					}
					asked, reason := 0, ""
					e := &permit.Engine{Mode: mode(m), Policy: policy, Place: taint.Place, Hearing: permit.Hearing{Judges: []permit.Judge{allow}, Gate: taint.Gate},
						Ask: func(_ context.Context, c *permit.Card) (permit.Answer, error) {
							asked++
							reason = c.Reason
							return permit.Answer{Option: "r"}, nil
						}}
					c := *tt.card
					o := e.Decide(t.Context(), &c)
					name := fmt.Sprintf("%s %q, mode %s, policy %s, marked %v", c.Request.Kind, c.Paths, m, policy, marked)
					switch {
					case !marked || !tt.gated:
						if asked > 0 || !o.Allowed {
							t.Errorf("%s: asked %d times, %+v; want the decider's leave", name, asked, o)
						}
					case policy == permit.Deny:
						if asked > 0 || o.Allowed || !strings.Contains(o.Why, "/etc/x") {
							t.Errorf("%s: asked %d times, %+v; want a refusal with the reason", name, asked, o)
						}
					case asked != 1 || o.Allowed || !strings.Contains(reason, "/etc/x"):
						t.Errorf("%s: asked %d times for %q, %+v; want the user's answer", name, asked, reason, o)
					}
				}
			}
		}
	}
}

// TestGateAndItsOwnCall: an agent may say "in progress" before it asks: that call
// does not count against itself, and does against every other.
func TestGateAndItsOwnCall(t *testing.T) {
	taint := taintOf()
	taint.Call(&permit.Call{ID: "c", Kind: "fetch", Status: "in_progress", Input: jsontext.Value(`{"url":"https://a.example/"}`)})
	of := func(id string) *permit.Card {
		c := card(permit.Fetch)
		c.Raw = jsontext.Value(`{"toolCallId":"` + id + `"}`)
		return c
	}
	say := func(id string) permit.Say { return taint.Gate(t.Context(), of(id)).Say }
	if say("c") != permit.Pass || say("d") != permit.AskUser || say("") != permit.AskUser {
		t.Errorf("got %v for its own card, %v for another, %v for none", say("c"), say("d"), say(""))
	}
	taint.Call(&permit.Call{ID: "c", Kind: "fetch", Status: "completed", Input: jsontext.Value(`{"url":"https://a.example/"}`)})
	if say("c") != permit.AskUser {
		t.Error("a call that has ended does not count against a card of its id")
	}
}

// TestAllowedMarks: from the moment that a fetch is allowed its content may flow.
func TestAllowedMarks(t *testing.T) {
	for _, tt := range []struct {
		kind  permit.Kind
		tool  string
		input string
		want  string
	}{
		{permit.Fetch, "WebFetch", `{"url":"https://a.example/x"}`, "fetch a.example"},
		{permit.MCP, "mcp__db__q", `{}`, "mcp db"},
		{permit.Command, "Bash", `{"command":"ls"}`, ""},
	} {
		taint := taintOf()
		c := card(tt.kind)
		c.Request.Tool, c.Request.Input = tt.tool, jsontext.Value(tt.input)
		if taint.Allowed(c); marks(taint) != tt.want {
			t.Errorf("%s: got the marks %q, want %q", tt.kind, marks(taint), tt.want)
		}
	}
}

// TestRecordNeedsACheckpoint: policy record grants nothing in a turn that cannot
// be taken back; a person is asked, and with nobody there it is refused.
func TestRecordNeedsACheckpoint(t *testing.T) {
	none := permit.Hearing{Uncovered: func(*permit.Card) string { return "the disk is full" }}
	e := &permit.Engine{Policy: permit.Record, Hearing: none, Log: quiet, Ask: func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		if !strings.Contains(c.Reason, "the disk is full") {
			t.Errorf("asked for the reason %q", c.Reason)
		}
		return permit.Answer{Option: "a"}, nil
	}}
	if o := e.Decide(t.Context(), card(permit.Command)); !o.Allowed || o.By != permit.ByUser {
		t.Errorf("with a person there: got %+v, want the user's answer", o)
	}
	for name, ask := range map[string]func(context.Context, *permit.Card) (permit.Answer, error){
		"nobody": nil, "gone": func(context.Context, *permit.Card) (permit.Answer, error) { return permit.Answer{}, errors.New("gone") },
	} {
		e.Ask = ask
		if o := e.Decide(t.Context(), card(permit.Command)); o.Allowed || !strings.Contains(o.Why, "the disk is full") {
			t.Errorf("%s: got %+v, want a refusal with the reason", name, o)
		}
	}
}

// TestLearn: the call is told once its work runs or is done, with all that was
// said of it; also when it was never announced.
func TestLearn(t *testing.T) {
	var calls permit.Calls
	learn := func(kind, raw string) string {
		c, told := calls.Learn(kind, members(raw))
		if !told {
			return "-"
		}
		return strings.Join([]string{c.ID, c.Kind, c.Status, string(c.Input), strings.Join(c.Locations, ",")}, " ")
	}
	for _, tt := range []struct{ kind, raw, want string }{
		{"tool_call", `{"toolCallId":"1","kind":"fetch","status":"pending","rawInput":{"url":"u"}}`, "-"},
		{"tool_call_update", `{"toolCallId":"1","status":"in_progress"}`, `1 fetch in_progress {"url":"u"} `},
		{"tool_call_update", `{"toolCallId":"1","content":[]}`, "-"},
		{"tool_call_update", `{"toolCallId":"1","locations":[{"path":"/x"}]}`, `1 fetch in_progress {"url":"u"} /x`},
		{"tool_call_update", `{"toolCallId":"1","status":"completed"}`, `1 fetch completed {"url":"u"} /x`},
		{"tool_call_update", `{"toolCallId":"1","status":"completed"}`, `1  completed  `},
		{"tool_call_update", `{"toolCallId":"2","kind":"read","status":"completed","locations":[{"path":"/y"}]}`, `2 read completed  /y`},
		{"tool_call", `{"kind":"read","status":"completed","locations":[{"path":"/y"}]}`, ` read completed  /y`},
		{"tool_call_update", `{"toolCallId":"3","status":"failed"}`, "-"},
		{"tool_call", `{"toolCallId":"4","kind":"execute","status":"in_progress","rawInput":{"command":"x"}}`, "-"},
		{"tool_call_update", `{"toolCallId":"4","status":"completed","rawInput":{"server":"s","tool":"t"}}`, `4 execute completed {"server":"s","tool":"t"} `},
		{"agent_message_chunk", `{"toolCallId":"3","status":"completed"}`, "-"},
	} {
		if got := learn(tt.kind, tt.raw); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.kind, tt.raw, got, tt.want)
		}
	}
	if n := len(calls.Open()); n != 0 {
		t.Errorf("%d calls are open, want none", n)
	}
}

func members(raw string) func(func(key, value []byte) bool) error {
	return func(fn func(key, value []byte) bool) error { return rpc.Members([]byte(raw), fn) }
}
