package fakeagent_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/fakeagent"
)

func TestPoliteSession(t *testing.T) {
	c := start(t, `{
		"agent": {"name": "a", "version": "2"}, "capabilities": {"loadSession": true},
		"modes": {"currentModeId": "x", "availableModes": [{"id": "x", "name": "X"}, {"id": "y", "name": "Y"}]},
		"configOptions": [{"id": "o", "name": "O", "type": "select", "currentValue": "1", "options": []}],
		"prompts": [{"steps": [{"say": "in ${cwd}: ${prompt}"}]}],
	}`)
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	c.want(result(0, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"a","version":"2"},"authMethods":[]}`))
	c.send(`{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/p","mcpServers":[]}}`)
	c.want(`{"jsonrpc":"2.0","id":"n","result":{"sessionId":"fake-1",
		"modes":{"currentModeId":"x","availableModes":[{"id":"x","name":"X"},{"id":"y","name":"Y"}]},
		"configOptions":[{"id":"o","name":"O","type":"select","currentValue":"1","options":[]}]}}`)
	c.send(prompt(2, "hi"))
	c.want(said("in /p: hi"))
	c.want(result(2, `{"stopReason":"end_turn"}`))
	c.send(`{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"fake-1","modeId":"y"}}`)
	c.want(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"fake-1","update":{"sessionUpdate":"current_mode_update","currentModeId":"y"}}}`)
	c.want(result(3, `{}`))
	c.send(`{"jsonrpc":"2.0","id":4,"method":"session/set_config_option","params":{"sessionId":"fake-1","configId":"o","value":"2"}}`)
	c.want(result(4, `{"configOptions":[{"id":"o","name":"O","type":"select","currentValue":"2","options":[]}]}`))
	c.send(`{"jsonrpc":"2.0","id":5,"method":"session/resume","params":{"sessionId":"fake-1","cwd":"/p"}}`)
	c.want(`{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found","data":{"method":"session/resume"}}}`)
	if err := c.end(); err != nil {
		t.Errorf("got %v, want a quiet end", err)
	}
	if got := strings.Count(c.log.String(), "\n"); got != 6 {
		t.Errorf("got %d logged lines, want 6", got)
	}
}

func TestReadChangeWrite(t *testing.T) {
	c := start(t, `{"prompts": [{"steps": [
		{"read": {"path": "${cwd}/a", "line": 2, "as": "a"}},
		{"write": {"path": "${cwd}/a", "replace": {"in": "a", "old": "x", "new": "y"}, "as": "w"}},
		{"expect": {"that": "${w.error} ${w.code}", "is": "no -32001"}},
		{"say": "${a}"}]}]}`)
	c.open("/p")
	c.send(prompt(2, "go"))
	c.want(`{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"fake-1","path":"/p/a","line":2}}`)
	c.send(`{"jsonrpc":"2.0","id":0,"result":{"content":"x\t\"x\"\n"}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"fake-1","path":"/p/a","content":"y\t\"x\"\n"}}`)
	c.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`)
	c.want(said("x\t\"x\"\n"))
	c.want(result(2, `{"stopReason":"end_turn"}`))
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// ask is the script for the outcomes of a permission request.
const ask = `{"prompts": [{"steps": [{"ask": {"toolCall": {"title": "T"},
	"then": {"allow": [{"say": "yes"}], "reject": [{"say": "no"}], "cancelled": [{"say": "away"}], "error": [{"say": "broken"}]}}}]}]}`

func TestAsk(t *testing.T) {
	for _, test := range []struct{ name, reply, said, stop string }{
		{"allow", `"result":{"outcome":{"outcome":"selected","optionId":"allow"}}`, "yes", "end_turn"},
		{"reject", `"result":{"outcome":{"outcome":"selected","optionId":"reject"}}`, "no", "end_turn"},
		{"cancelled", `"result":{"outcome":{"outcome":"cancelled"}}`, "away", "end_turn"},
		{"error", `"error":{"code":1,"message":"m"}`, "broken", "end_turn"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, ask)
			c.open("/p")
			c.send(prompt(2, "go"))
			c.want(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"fake-1","toolCall":{"toolCallId":"call-1","title":"T"},
				"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]}}`)
			c.send(`{"jsonrpc":"2.0","id":0,` + test.reply + `}`)
			c.want(said(test.said))
			c.want(result(2, `{"stopReason":"`+test.stop+`"}`))
		})
	}
	t.Run("not offered", func(t *testing.T) {
		c := start(t, ask)
		c.open("/p")
		c.send(prompt(2, "go"))
		c.out.ReadString('\n')
		c.send(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"zzz"}}}`)
		if got := exitCode(<-c.done); got != 3 || !strings.Contains(c.stderr.String(), "zzz") {
			t.Errorf("got status %d and %q, want 3 and the option named", got, c.stderr)
		}
	})
}

func TestCancel(t *testing.T) {
	for _, test := range []struct {
		name, steps string
		want        []string
	}{
		{"heeded", `[{"say": "a"}, {"sleep": 100000}, {"say": "never"}]`,
			[]string{said("a"), result(2, `{"stopReason":"cancelled"}`)}},
		{"waited for", `[{"say": "a"}, {"waitCancel": true}, {"say": "late"}, {"answer": "end_turn"}, {"say": "later"}]`,
			[]string{said("a"), said("late"), result(2, `{"stopReason":"end_turn"}`), said("later")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, `{"prompts": [{"steps": `+test.steps+`}]}`)
			c.open("/p")
			c.send(prompt(2, "go"))
			for i, want := range test.want {
				if i == 1 {
					c.send(cancel)
				}
				c.want(want)
			}
		})
	}
	t.Run("in a command with a child", func(t *testing.T) {
		c := start(t, `{"prompts": [{"steps": [{"say": "a"}, {"shell": "sleep 30 & wait"}]}]}`)
		c.open(t.TempDir())
		c.send(prompt(2, "go"))
		c.want(said("a"))
		c.send(cancel)
		c.want(result(2, `{"stopReason":"cancelled"}`))
	})
	t.Run("before the prompt is handled", func(t *testing.T) {
		c := start(t, `{"prompts": [{"steps": [{"sleep": 100000}]}]}`)
		c.open("/p")
		c.send(prompt(2, "go") + "\n" + cancel)
		c.want(result(2, `{"stopReason":"cancelled"}`))
	})
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		want         []string
	}{
		{"stop reason", `"x_new"`, []string{result(2, `{"stopReason":"x_new"}`)}},
		{"result", `{"result": {}}`, []string{result(2, `{}`)}},
		{"error", `{"error": {"code": -32000, "message": "m", "data": {"reason": "usage limit"}}}`,
			[]string{`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m","data":{"reason":"usage limit"}}}`}},
		{"twice", `{"twice": true}`, []string{result(2, `{"stopReason":"end_turn"}`), result(2, `{"stopReason":"end_turn"}`)}},
		{"never", `"never"`, nil},
		{"raw", `{"raw": "{\"id\":${id}"}`, []string{`{"id":2`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, `{"prompts": [{"steps": [{"answer": `+test.answer+`}, {"say": "after"}]}]}`)
			c.open("/p")
			c.send(prompt(2, "go"))
			for _, want := range test.want {
				c.want(want)
			}
			c.want(said("after"))
			if err := c.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Requests that are equal but for their ids get each its own answer, or none.
func TestAnswers_OfEqualRequests(t *testing.T) {
	const n = 500
	var answers []string
	for i := range n {
		answers = append(answers, fmt.Sprintf(`{"answer":{"result":%d}},{"answer":"never"}`, 2*i))
	}
	c := start(t, `{"on":{"_x":[`+strings.Join(answers, ",")+`]}}`)
	go func() {
		for i := range 2 * n {
			io.WriteString(c.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"_x","params":{"a":[1]}}`+"\n", i))
		}
	}()
	for range n {
		line, err := c.out.ReadBytes('\n')
		var m struct{ ID, Result int }
		if err != nil || json.Unmarshal(line, &m, json.MatchCaseInsensitiveNames(true)) != nil || m.ID%2 == 1 || m.Result != m.ID {
			t.Fatalf("got %s, %v; want the answer to an even id, which is that id", line, err)
		}
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestBehaviors(t *testing.T) {
	c := start(t, `{
		"capabilities": {"loadSession": true},
		"authMethods": [{"id": "m", "name": "M"}], "authRequired": true,
		"on": {
			"session/new": {"before": [{"say": "early"}], "after": [{"say": "late"}]},
			"session/load": [{"answer": {"error": {"code": 7, "message": "first"}}}, {"answer": {"result": {"second": true}}}],
		},
	}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"first"}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s","cwd":"/p","mcpServers":[]}}`)
	c.want(result(2, `{"second":true}`))
	c.send(`{"jsonrpc":"2.0","id":3,"method":"authenticate","params":{"methodId":"m"}}`)
	c.want(result(3, `{}`))
	c.send(`{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":"/p","mcpServers":[]}}`)
	c.want(said("early"))
	c.want(result(4, `{"sessionId":"fake-1"}`))
	c.want(said("late"))
}

func TestPromptsAreChosen(t *testing.T) {
	c := start(t, `{"prompts": [{"steps": [{"say": "first"}]}, {"match": "word", "steps": [{"say": "matched"}]}, {"steps": [{"say": "second"}]}]}`)
	c.open("/p")
	for i, test := range []struct{ prompt, said string }{{"a word", "matched"}, {"x", "first"}, {"word", "matched"}, {"x", "second"}, {"x", ""}} {
		c.send(prompt(10+i, test.prompt))
		if test.said != "" {
			c.want(said(test.said))
		}
		c.want(result(10+i, `{"stopReason":"end_turn"}`))
	}
}

func TestParallelKeepsOrderOfStarting(t *testing.T) {
	c := start(t, `{"prompts": [{"steps": [{"parallel": [
		[{"request": {"method": "x/a", "id": "1", "as": "a"}}], [{"request": {"method": "x/b", "id": 1, "as": "b"}}],
		[{"request": {"method": "x/c", "id": 9007199254740993, "as": "c"}}]]},
		{"say": "${a} ${b} ${c}"}]}]}`)
	c.open("/p")
	c.send(prompt(2, "go"))
	c.want(`{"jsonrpc":"2.0","id":"1","method":"x/a"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"x/b"}`)
	if got, _ := c.out.ReadString('\n'); !strings.Contains(got, `"id":9007199254740993,`) {
		t.Errorf("got %s, want the id as it is", got)
	}
	c.send(`{"jsonrpc":"2.0","id":9007199254740993,"result":3}`, `{"jsonrpc":"2.0","id":1,"result":2}`, `{"jsonrpc":"2.0","id":"1","result":1}`)
	c.want(said("1 2 3"))
}

func TestRudeness(t *testing.T) {
	for _, test := range []struct {
		name, step string
		want       []string
	}{
		{"noise", `{"noise": {"text": "Ready", "times": 2}}`, []string{"Ready", "Ready"}},
		{"raw by byte", `{"raw": {"text": "世🎉\n", "chunk": 1}}`, []string{"世🎉"}},
		{"flood", `{"flood": {"n": 2, "size": 10}}`, []string{said("00000000 "), said("00000001 ")}},
		{"flood in bursts", `{"flood": {"n": 2, "size": 10, "burst": true}}`, []string{said("00000000 "), said("00000001 ")}},
		{"repeat", `{"repeat": {"times": 2, "steps": [{"say": "${i}"}]}}`, []string{said("0"), said("1")}},
		{"shell", `{"shell": {"command": "echo hi", "as": "x"}}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, `{"prompts": [{"steps": [`+test.step+`]}]}`)
			c.open(t.TempDir())
			c.send(prompt(2, "go"))
			for _, want := range test.want {
				c.want(want)
			}
			c.want(result(2, `{"stopReason":"end_turn"}`))
		})
	}
	t.Run("huge line", func(t *testing.T) {
		const size = 11 << 20 // over what the SDK would take
		c := start(t, fmt.Sprintf(`{"prompts": [{"steps": [{"hugeLine": {"bytes": %d, "chunk": 4096}}]}]}`, size))
		c.open("/p")
		c.send(prompt(2, "go"))
		line, err := c.out.ReadString('\n')
		if err != nil || len(line) != size {
			t.Fatalf("got %d bytes, %v, want %d", len(line), err, size)
		}
		c.want(result(2, `{"stopReason":"end_turn"}`))
	})
}

func TestLongPromptAndReply(t *testing.T) {
	long := strings.Repeat("x", 11<<20)
	c := start(t, `{"prompts": [{"steps": [{"read": {"path": "/a", "as": "a"}}, {"expect": {"that": "${a}", "contains": "xxx"}}]}]}`)
	c.open("/p")
	c.send(prompt(2, long))
	c.want(`{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"fake-1","path":"/a"}}`)
	c.send(`{"jsonrpc":"2.0","id":0,"result":{"content":"` + long + `"}}`)
	c.want(result(2, `{"stopReason":"end_turn"}`))
}

func TestStrict(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"unknown member", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"surprise":1}}`, "surprise"},
		{"null", `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/p","mcpServers":[],"_meta":null}}`, "null at /params/_meta"},
		{"cancel with id", `{"jsonrpc":"2.0","id":0,"method":"session/cancel","params":{"sessionId":"s"}}`, "without an id"},
		{"stray response", `{"jsonrpc":"2.0","id":5,"result":{}}`, "nothing asked"},
		{"no version", `{"id":0,"method":"initialize","params":{"protocolVersion":1}}`, "jsonrpc"},
		{"garbage", `{`, "no message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, `{"strict": true}`)
			go func() { // the answer may come before the end
				for {
					if _, err := c.out.ReadByte(); err != nil {
						return
					}
				}
			}()
			c.send(test.line)
			if got := exitCode(<-c.done); got != 3 || !strings.Contains(c.stderr.String(), test.want) {
				t.Errorf("got status %d and %q, want 3 and %q in it", got, c.stderr, test.want)
			}
		})
	}
}

func TestScriptErrorsNameTheLine(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"syntax", "{\n  \"start\": [,]\n}", "line 2"},
		{"unknown step", "{\n  \"prompts\": [\n    {\"steps\": [\n      {\"sy\": \"x\"}\n]}]}", "s.jsonc:4: /prompts/0/steps/0/sy: "},
		{"wrong type", "{\n// comment\n\"start\": [{\"sleep\": \"x\"}]}", "s.jsonc:3: /start/0/sleep: "},
		{"two steps in one", `{"start": [{"say": "x", "sleep": 1}]}`, "s.jsonc:1: /start/0: "},
		{"duplicate member", `{"start": [], "start": []}`, "duplicate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := fakeagent.Parse("s.jsonc", []byte(test.script))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestScriptFailures(t *testing.T) {
	for _, test := range []struct{ name, steps, want string }{
		{"expectation", `[{"let": {"x": "a"}}, {"expect": {"that": "${x}", "is": "b"}}]`, `expect: got "a", want "b"`},
		{"unknown variable", `[{"let": {"y": "${x}"}}]`, "unknown variable ${x}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, `{"start": `+test.steps+`}`)
			if got := exitCode(<-c.done); got != 3 || !strings.Contains(c.stderr.String(), test.want) {
				t.Errorf("got status %d and %q, want 3 and %q in it", got, c.stderr, test.want)
			}
		})
	}
}

func TestDirectAccess(t *testing.T) {
	dir := t.TempDir()
	c := start(t, `{"prompts": [{"steps": [
		{"directRead": {"path": "${cwd}/d/a", "as": "a"}}, {"expect": {"that": "${a.error}", "is": "missing"}},
		{"directWrite": {"path": "${cwd}/d/a", "text": "1\n"}}, {"directRead": {"path": "${cwd}/d/a", "as": "a"}}, {"say": "${a}"}]}]}`)
	c.open(dir)
	c.send(prompt(2, "go"))
	c.want(said("1\n"))
	if got, err := os.ReadFile(filepath.Join(dir, "d", "a")); err != nil || string(got) != "1\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestEverySchemaStepIsKnown finds steps that the schema has and the code lacks.
func TestEverySchemaStepIsKnown(t *testing.T) {
	for _, step := range []string{
		`{"say": ""}`, `{"think": ""}`, `{"update": {}}`, `{"toolCall": {}}`, `{"toolUpdate": {}}`, `{"notify": {"method": "x"}}`,
		`{"noise": ""}`, `{"raw": ""}`, `{"sleep": 0}`, `{"flood": {"n": 0}}`, `{"hugeLine": {"bytes": 10, "garbage": true}}`,
		`{"directRead": {"path": "/nope", "as": "x"}}`, `{"let": {}}`, `{"repeat": {"times": 0, "steps": []}}`, `{"parallel": []}`,
		`{"shell": {"argv": ["` + filepath.ToSlash(os.Args[0]) + `", "-test.run=^$"]}}`, `{"let": {"x": "ab"}}, {"replace": {"in": "x", "old": "a", "new": "", "as": "x"}}, {"expect": {"that": "${x}", "is": "b"}}`,
	} {
		c := start(t, `{"start": [`+step+`, {"exit": 9}]}`)
		go func() {
			for {
				if _, err := c.out.ReadByte(); err != nil {
					return
				}
			}
		}()
		if got := exitCode(<-c.done); got != 9 {
			t.Errorf("%s: got status %d, want 9: %s", step, got, c.stderr)
		}
	}
}

func TestDemo(t *testing.T) {
	script, err := fakeagent.Demo()
	if err != nil {
		t.Fatal(err)
	}
	if len(script.Prompts) != 1 {
		t.Errorf("got %d prompts, want 1", len(script.Prompts))
	}
}
