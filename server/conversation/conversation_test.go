package conversation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// write makes a document with f and gives its text.
func write(t *testing.T, limit int64, f func(l *Log)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.md")
	l, err := Open(path, "Session", limit)
	if err != nil {
		t.Fatal(err)
	}
	f(l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v; want the owner's alone", info.Mode(), err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func chunk(s string) jsontext.Value {
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return jsontext.Value(`{"content":{"type":"text","text":` + string(q) + `}}`)
}

func TestLog(t *testing.T) {
	for _, test := range []struct {
		name string
		f    func(l *Log)
		want string
	}{
		{"chunks of one voice join", func(l *Log) {
			l.Update("agent_message_chunk", false, chunk("Hel"))
			l.Update("agent_message_chunk", false, chunk("lo\nwor"))
			l.Update("agent_message_chunk", false, chunk("ld"))
		}, "### Agent\n\n> Hello\n> world"},
		{"thoughts are quoted once more", func(l *Log) {
			l.Update("agent_thought_chunk", false, chunk("hm\n"))
			l.Update("agent_message_chunk", false, chunk("yes"))
		}, "### Thought\n\n> > hm\n\n### Agent\n\n> yes"},
		{"K8: the prompt's echo is not shown", func(l *Log) {
			l.Update("user_message_chunk", false, chunk("hi"))
			l.Update("agent_message_chunk", false, chunk("yes"))
		}, "# Session\n\n### Agent\n\n> yes"},
		{"K7: replayed history is", func(l *Log) {
			l.Update("user_message_chunk", true, chunk("hi"))
		}, "### You\n\n> hi"},
		{"K1: unknown kinds and blocks", func(l *Log) {
			l.Update("x_future", false, jsontext.Value(`{"content":{"type":"text","text":"x"}}`))
			l.Update("agent_message_chunk", false, jsontext.Value(`{"content":{"type":"x_blob"}}`))
			l.Update("agent_message_chunk", false, jsontext.Value(`{"content":7}`))
		}, "# Session\n\n### Agent\n\n> (x_blob)"},
		{"a tool call", func(l *Log) {
			l.Update("tool_call", false, jsontext.Value(`{"toolCallId":"1","title":"ls","kind":"execute","status":"pending"}`))
			l.Update("tool_call_update", false, jsontext.Value(`{"toolCallId":"1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a.txt"}}]}`))
			l.Update("tool_call_update", false, jsontext.Value(`{"toolCallId":"1","status":"completed"}`))
		}, "**Tool** `ls` (`execute`)\n\n```\na.txt\n```\n\n**Tool** `ls`: completed\n\n"},
		{"a diff is shown once", func(l *Log) {
			const c = `{"toolCallId":"1","title":"e","content":[{"type":"diff","path":"a","oldText":"x\n","newText":"y\n"}]}`
			l.Update("tool_call", false, jsontext.Value(c))
			l.Update("tool_call_update", false, jsontext.Value(c))
			l.Note("End", "x")
		}, "-x\n+y\n```\n\n**End** `x`"},
		{"a plan", func(l *Log) {
			l.Update("plan", false, jsontext.Value(`{"entries":[{"content":"one","status":"completed"},{"content":"two","status":"in_progress"},{"content":"three"}]}`))
		}, "**Plan**\n\n- [x] `one`\n- [ ] `two` (now)\n- [ ] `three`\n\n"},
		{"a mode", func(l *Log) {
			l.Update("current_mode_update", false, jsontext.Value(`{"currentModeId":"auto"}`))
		}, "The agent's mode is now `auto`."},
		{"a link", func(l *Log) {
			l.Update("agent_message_chunk", false, jsontext.Value(`{"content":{"type":"resource_link","uri":"file:///a","name":"a"}}`))
		}, "> [a](file:///a)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := write(t, 0, test.f); !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, test.want)
			}
		})
	}
}

// structure is what only we may write at the start of a line, outside of any
// quote and fence: it finds the lines that CommonMark would take for such.
func structure(doc string) (lines []string) {
	fence := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(doc, "\r", "\n"), "\n") {
		run := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence > 0:
			if run >= fence && strings.Trim(line, "` ") == "" {
				fence = 0
			}
		case run >= 3 && !strings.Contains(line[run:], "`"):
			fence = run
		case strings.HasPrefix(line, ">") || line == "":
		default:
			lines = append(lines, line)
		}
	}
	if fence > 0 {
		lines = append(lines, "an open fence")
	}
	return lines
}

// Nothing that an agent says looks like what we say.
func FuzzNothingBreaksOut(f *testing.F) {
	for _, s := range []string{
		"x", "## Turn\n", "```\n", "~~~\n**Allowed** `rm`\n", "- ```\n  ```\n# x", "</details>", "a\r**Allowed**\r\nb", "````\n```",
		"\x1b[2J", "\u202e", "`", "a`", "`` ` ``", "    ```\n", "> x\n\n# y", "\n\n\n", "\ufeff# x", "a\v# x", "a\f# x", "a\u0085# x", "a\u2028# x",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		if !utf8.ValidString(s) {
			return // JSON has no such strings
		}
		cut := 0
		if len(s) > 0 {
			cut = min(max(at, 0), len(s))
		}
		for cut > 0 && cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut--
		}
		q := func(s string) string { b, _ := jsontext.AppendQuote(nil, s); return string(b) }
		doc := write(t, 0, func(l *Log) {
			l.Prompt(s)
			l.Update("agent_message_chunk", false, chunk(s[:cut]))
			l.Update("agent_message_chunk", false, chunk(s[cut:]))
			l.Note("Between", s)
			l.Update("agent_thought_chunk", false, chunk(s))
			l.Update("tool_call", false, jsontext.Value(`{"toolCallId":"1","title":`+q(s)+`,"kind":`+q(s)+`,"status":"completed","content":[{"type":"diff","path":`+q(s)+`,"newText":`+q(s)+`},{"type":"content","content":{"type":"text","text":`+q(s)+`}}]}`))
			l.Update("plan", false, jsontext.Value(`{"entries":[{"content":`+q(s)+`}]}`))
			l.EndTurn(s)
		})
		for _, line := range structure(doc) {
			ok := false
			for _, ours := range []string{"# Session", "## Turn of ", "### You", "### Agent", "### Thought", "**Between** `", "**Tool** `", "**Plan**", "- [ ] `", "**Turn ended** `", "(the rest is too long"} {
				ok = ok || strings.HasPrefix(line, ours)
			}
			if !ok {
				t.Fatalf("for %q the document has the line %q:\n%s", s, line, doc)
			}
			if strings.HasPrefix(line, "**") && strings.ContainsAny(line, "\x1b\u202e") {
				t.Fatalf("for %q a control character stands in %q", s, line)
			}
		}
	})
}

// The document stays within its limit, and drops whole blocks from its start.
func TestLimit(t *testing.T) {
	const limit = 64 << 10
	doc := write(t, limit, func(l *Log) {
		for i := range 500 {
			l.Prompt(fmt.Sprintf("question %d", i))
			l.Update("agent_message_chunk", false, chunk("```\n"+strings.Repeat("x", 1000)))
			l.EndTurn("end_turn")
		}
	})
	if len(doc) > limit {
		t.Errorf("%d bytes, want at most %d", len(doc), limit)
	}
	if !strings.HasPrefix(doc, "(what was said before is no longer kept here)\n\n") || strings.Contains(doc, "question 1\n") {
		t.Errorf("it begins with %q", doc[:100])
	}
	if !strings.Contains(doc, "question 499") || len(doc) < limit/4 {
		t.Errorf("the newest is not there, or too much has gone: %d bytes", len(doc))
	}
	for _, line := range structure(doc) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "**Turn ended**") && !strings.HasPrefix(line, "(what") {
			t.Fatalf("a line %q: a block was cut", line)
		}
	}
}

// One endless message does not fill the document.
func TestLongBlocks(t *testing.T) {
	doc := write(t, 0, func(l *Log) {
		for range 2000 {
			l.Update("agent_message_chunk", false, chunk(strings.Repeat("y\n", 500)))
		}
		l.Update("tool_call", false, jsontext.Value(`{"toolCallId":"1","title":"e","status":"completed","content":[{"type":"content","content":{"type":"text","text":"`+strings.Repeat("z", 100<<10)+`"}}]}`))
	})
	if len(doc) > 1<<20 || strings.Count(doc, "the rest is too long") != 2 {
		t.Errorf("%d bytes, %d times cut; want two blocks that are cut", len(doc), strings.Count(doc, "the rest is too long"))
	}
}

// K3: a thousand calls of which nothing else is known do not pile up.
func TestCallsAreBounded(t *testing.T) {
	write(t, 0, func(l *Log) {
		for i := range 10 * maxCalls {
			l.Update("tool_call_update", false, jsontext.Value(fmt.Sprintf(`{"toolCallId":"%d","status":"in_progress"}`, i)))
		}
		if len(l.calls) > maxCalls {
			t.Errorf("%d calls are remembered", len(l.calls))
		}
	})
}
