package decider

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

// shortLine is the longest line here, so that fuzzing reaches it; bufio takes no
// less than 16.
const shortLine = 20

// slowLines is what the reader is to give: whole lines up to the first that is
// too long, in memory that is not bounded. What does not end and is just as long
// as the buffer may be either.
func slowLines(data []byte) (all []string, long bool) {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return all, len(data) > shortLine+2
		}
		line := bytes.TrimSuffix(data[:i], []byte("\r"))
		if len(line) > shortLine {
			return all, true
		}
		all = append(all, string(line))
		data = data[i+1:]
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"))
	f.Add([]byte(strings.Repeat("x", shortLine) + "\n"))
	f.Add([]byte(strings.Repeat("x", shortLine) + "\r\ny\n"))
	f.Add([]byte("y\n" + strings.Repeat("x", shortLine+1) + "\n"))
	f.Add([]byte(strings.Repeat("x", shortLine+3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data)-1-bytes.LastIndexByte(data, '\n') == shortLine+2 {
			return
		}
		want, long := slowLines(data)
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(data), "in halves": iotest.HalfReader(bytes.NewReader(data)), "with the end": iotest.DataErrReader(bytes.NewReader(data))} {
			var got []string
			in := newLines(r, shortLine)
			var err error
			for err == nil {
				err = in.next(func(line []byte) { got = append(got, string(line)) })
			}
			if errors.Is(err, errLong) != long || strings.Join(got, "\x00\n") != strings.Join(want, "\x00\n") {
				t.Errorf("%s: got %d lines and %v, want %d lines, too long %v", name, len(got), err, len(want), long)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"decision":"deny","message":"no"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		`[{"jsonrpc":"2.0","id":"x","method":"secrets/get"},{"jsonrpc":"2.0","id":2,"result":{"decision":"allow"}}]`,
		`{"jsonrpc":"2.0","id":1.0,"result":null}`, `{"jsonrpc":"2.0","id":1e400,"result":{"decision":"ask"}}`, `[]`, `{}`, `null`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		all, _, err := messages(line)
		if err != nil {
			return
		}
		for _, m := range all {
			a := m.answer()
			if a.Say != Ask && (a.Why != "" || !bytes.Contains(bytes.ToLower(line), []byte("decision")) && !bytes.Contains(line, []byte(`\u`))) {
				t.Errorf("got %v of %s", a, line)
			}
			if len(a.Message) > MaxMessage+len("…") || strings.ContainsFunc(a.Message+a.Why, unicode.IsControl) || !utf8.ValidString(a.Message+a.Why) {
				t.Errorf("got %q", a)
			}
			_ = m.welcome()
			_ = m.number()
			e := Entry{What: Decided, Tool: string(line), Target: string(line), Answer: a.Say.String(), Message: a.Message, Why: a.Why}
			if s := e.String(); strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("the journal's line has breaks: %q", s)
			}
		}
	})
}
