package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"sallyport/bridge/rpc"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,-2.5e3,true,null,"x\n\u00e9\ud83d\ude00"]}}`,
	`{"jsonrpc":"2.0","method":"m"}`,
	`{"jsonrpc":"2.0","id":"a","result":{}}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"世"}}`,
	`{"id":3}`, `[]`, `{`, `}`, `"`, `{"a":"\"}`, "\xff", `[[[[`, `{"a":{"b":{"c":{}}}}`, `{"\u0069d":1,"id":2}`,
	"Content-Length: 2\r\n\r\n{}", "Content-Length: 9\r\n\r\n{}", "content-length:1\n\n", "noise\n", "\r\n\r\n",
}

func seed(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte("xx" + s + "\n" + s))
	}
}

// What Scan takes is valid JSON, as jsontext sees it (but for two things that it
// is asked to let pass), and a message, as jsonrpc2 sees it.
func FuzzScan(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := rpc.Scan(data)
		valid := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true))
		if err == nil && !valid && !loneSurrogate(data) {
			t.Fatalf("took invalid JSON: %q", data)
		}
		view, viewErr := jsonrpc2.ScanMessageView(data)
		if err != nil {
			if valid && viewErr == nil && !refusedRightly(data, view) {
				t.Fatalf("%q: refused (%v) what jsonrpc2 takes", data, err)
			}
			return
		}
		if viewErr != nil {
			if !strings.ContainsAny(string(m.ID), ".eE") && len(m.ID) < 18 && m.Kind != rpc.Response && !bytes.Contains(data, []byte(`\u`)) {
				t.Fatalf("%q: took what jsonrpc2 refuses (%v)", data, viewErr)
			}
			return
		}
		kinds := map[jsonrpc2.MessageViewKind]rpc.Kind{
			jsonrpc2.MessageViewCall: rpc.Request, jsonrpc2.MessageViewNotification: rpc.Notification,
			jsonrpc2.MessageViewResponseResult: rpc.Response, jsonrpc2.MessageViewResponseError: rpc.Response,
		}
		if bytes.Contains(data, []byte(`\u`)) { // names in disguise are seen by us alone
			return
		}
		method, _ := view.MethodString()
		if m.Kind != kinds[view.Kind] || string(m.Method) != method || !bytes.Equal(m.Params, view.Params) ||
			m.Kind == rpc.Response && view.Kind == jsonrpc2.MessageViewResponseResult && !bytes.Equal(m.Result, view.Result) {
			t.Fatalf("%q: got %+v, jsonrpc2 %+v", data, m, view)
		}
	})
}

// loneSurrogate reports whether data may hold an escape that jsontext refuses.
func loneSurrogate(data []byte) bool {
	return bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) && utf8.Valid(data)
}

// refusedRightly reports whether data is what we refuse and jsonrpc2 takes: params
// that are no structure, members that occur twice, deep nesting, disguised names.
func refusedRightly(data []byte, v jsonrpc2.MessageView) bool {
	if len(v.Params) > 0 && v.Params[0] != '{' && v.Params[0] != '[' {
		return true
	}
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > rpc.MaxDepth || bytes.Contains(data, []byte(`\`)) {
		return true
	}
	count := map[string]int{}
	_ = rpc.Members(data, func(key, _ []byte) bool {
		count[string(key)]++
		return true
	})
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if count[name] > 1 {
			return true
		}
	}
	return false
}

// Members agrees with jsontext on every valid object, and never panics.
func FuzzMembers(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want []string
		err := rpc.Members(data, func(key, value []byte) bool {
			got = append(got, fmt.Sprintf("%s=%s", key, value))
			return true
		})
		_, _ = rpc.Member(data, "a")
		d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
		if d.PeekKind() != '{' || !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				t.Fatal(err)
			}
			key := name.String()
			value, err := d.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s=%s", key, value))
		}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("%q: got %q, want %q", data, got, want)
		}
	})
}

// Unquote and AppendQuote agree with jsontext, and undo each other.
func FuzzQuote(f *testing.F) {
	for _, s := range append(seeds, `"a\u0000\/"`, `"\ud83d"`, `"\ud83d\ud83d"`, `"\ude00\ud83d"`, "\"\x1f\"", `"\x"`, `""`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := rpc.Unquote([]byte(s))
		want, wantErr := jsontext.AppendUnquote(nil, s)
		if (err == nil) != (wantErr == nil) || err == nil && got != string(want) {
			t.Fatalf("Unquote %q: got %q, %v; want %q, %v", s, got, err, want, wantErr)
		}
		quoted := rpc.AppendQuote(nil, s)
		back, err := rpc.Unquote(quoted)
		if err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Fatalf("AppendQuote %q: got %q, which means %q, %v", s, quoted, back, err)
		}
		if want, _ := jsontext.AppendQuote(nil, s); utf8.ValidString(s) && string(want) != string(quoted) {
			t.Fatalf("AppendQuote %q: got %s, want %s", s, quoted, want)
		}
	})
}

// receive runs a connection on input and returns the methods handled.
func receive(t *testing.T, framing rpc.Framing, in io.Reader) []string {
	var methods []string
	c := rpc.New(in, io.Discard, framing)
	c.Handle = func(m *rpc.Message) {
		methods = append(methods, string(m.Method))
		_, _ = m.Param("a", "b")
		_ = c.ReplyError(m.ID, rpc.Errorf(rpc.MethodNotFound, "no"))
	}
	if err := c.Run(context.Background()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("Run: %v", err)
	}
	return methods
}

// FuzzLines: whatever comes before, what follows a line's end gets through, and
// it does not matter how the bytes are cut up.
func FuzzLines(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		in := slicesConcat(data, "\n"+note("after")+"\n")
		at := receive(t, rpc.Lines{Max: 1000}, bytes.NewReader(in))
		if len(at) == 0 || at[len(at)-1] != "after" {
			t.Fatalf("%q: got %q", data, at)
		}
		if cut := receive(t, rpc.Lines{Max: 1000}, iotest.OneByteReader(bytes.NewReader(in))); strings.Join(cut, "\x00") != strings.Join(at, "\x00") {
			t.Fatalf("%q: got %q, byte by byte %q", data, at, cut)
		}
	})
}

// FuzzHeaders: garbage never panics or blocks, and messages after it get through.
// One may be lost, the one that garbage with a header of its own has swallowed.
func FuzzHeaders(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		in := slicesConcat(data, headers(note("one"), note("two"), note("three")))
		at := receive(t, rpc.Headers{Max: 1000}, bytes.NewReader(in))
		cut := receive(t, rpc.Headers{Max: 1000}, iotest.OneByteReader(bytes.NewReader(in)))
		for _, got := range [][]string{at, cut} {
			if len(got) < 2 || got[len(got)-2] != "two" || got[len(got)-1] != "three" {
				t.Fatalf("%q: got %q", data, got)
			}
		}
	})
}

func slicesConcat(data []byte, more string) []byte { return append(bytes.Clone(data), more...) }
