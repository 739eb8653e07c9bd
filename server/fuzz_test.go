package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/server"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// FuzzServer sends messages of any kind to a running server: it neither
// panics nor hangs, and answers the request that comes after them.
func FuzzServer(f *testing.F) {
	for _, m := range wire.Messages() {
		name := strings.ReplaceAll(strings.TrimPrefix(m.Method, "sallyport/"), "/", ".") + ".json"
		b, err := os.ReadFile(filepath.Join("..", "testdata", "wire", name))
		if err != nil {
			f.Fatal(err)
		}
		var e struct {
			Params jsontext.Value `json:"params"`
		}
		if err := json.Unmarshal(b, &e); err != nil {
			f.Fatal(err)
		}
		_ = e.Params.Compact()
		f.Add([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, m.Method, e.Params)))
	}
	for _, s := range []string{
		`{`, `[]`, `null`, `{"jsonrpc":"2.0","id":3}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`, `{"jsonrpc":"2.0","id":null,"method":"sallyport/agents"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":""}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"final"}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a%","text":"x"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:1","version":-1,"text":"x🎉\r\n"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:1","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":2},"end":{"line":9,"character":9}},"text":"\ud800"}]}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"untitled:1"},"range":{"start":{"line":-1,"character":2},"end":{"line":9,"character":9}},"context":{"diagnostics":[7,{}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand","params":{"command":"sallyport.ask","arguments":["x"]}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"sallyport.ask","arguments":[{"prompt":"x","uri":"untitled:1","range":{"start":{"line":5,"character":0},"end":{"line":1,"character":0}}}]}}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"workspace/executeCommand","params":{"command":"sallyport.cancel"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"shutdown"}` + "\n" + `{"jsonrpc":"2.0","method":"exit"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"C:"}],"removed":[{}]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		ss := &servertest.Sessions{}
		srv := &server.Server{Sessions: ss.Attach, Settle: time.Millisecond}
		toServer, fromEditor := io.Pipe()
		answers, fromServer := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = srv.Run(ctx, toServer, fromServer)
		}()
		final := make(chan bool, 1)
		go func() {
			var seen bytes.Buffer
			buf := make([]byte, 64<<10)
			told := false
			for {
				n, err := answers.Read(buf)
				seen.Write(buf[:n])
				if !told && bytes.Contains(seen.Bytes(), []byte(`"id":"the final one"`)) {
					told = true
					final <- true
				}
				if err != nil {
					if !told {
						final <- false
					}
					return
				}
			}
		}()
		send := func(s string) {
			_, _ = fmt.Fprintf(fromEditor, "Content-Length: %d\r\n\r\n%s", len(s), s) // fails once the server has ended
		}
		send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"capabilities":{"workspace":{"applyEdit":true},"window":{"workDoneProgress":true}}}}`)
		for line := range strings.SplitSeq(string(data), "\n") {
			send(line)
		}
		send(`{"jsonrpc":"2.0","id":"the final one","method":"sallyport/agents"}`)
		ok := <-final
		_ = fromEditor.Close()
		<-done
		if ctx.Err() != nil {
			t.Fatal("the server hangs")
		}
		if !ok && !bytes.Contains(data, []byte("exit")) && !bytes.Contains(data, []byte(`\u`)) {
			t.Fatalf("the request after %q was not answered", data)
		}
	})
}
