package facade_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A client such as Zed has only LF in its buffers, and no byte order mark, and saves
// what the file had: that is no unsaved text, and what the agent wrote is its own.
func TestClientOfPlainLines(t *testing.T) {
	const mark = "\uFEFF"
	for name, file := range map[string]string{"CRLF": "one\r\ntwo\r\n", "BOM": mark + "one\ntwo\n", "both": mark + "one\r\ntwo", "neither": "one\ntwo"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, writes)
			spelt := func(s string) string {
				if strings.Contains(file, "\r") {
					s = strings.ReplaceAll(s, "\n", "\r\n")
				}
				return file[:len(file)-len(strings.TrimPrefix(file, mark))] + s
			}
			plain := func(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, mark), "\r\n", "\n") }
			r.answers("fs/read_text_file", func(p jsontext.Value) string {
				raw, err := os.ReadFile(memberOf(p, "path"))
				if err != nil {
					return `"error":{"code":-32002,"message":"Resource not found"}`
				}
				return `"result":{"content":` + quote(plain(string(raw))) + `}`
			})
			r.answers("fs/write_text_file", func(p jsontext.Value) string {
				r.disk("a.txt", spelt(plain(memberOf(p, "content"))))
				return `"result":{}`
			})
			r.decides("take_back")
			r.disk("a.txt", file)
			session := r.open()
			r.turn(session, "write")
			if got, want := r.onDisk("a.txt"), strings.Replace(file, "one", "ONE", 1); got != want {
				t.Fatalf("the file is %q, want %q", got, want)
			}
			r.turn(session, "/undo")
			said := strings.Join(r.updates(), "\n")
			if got := r.onDisk("a.txt"); got != file {
				t.Errorf("after /undo the file is %q, want %q; said %s", got, file, said)
			}
			if strings.Contains(said, "a.txt, new.txt changed during the turn without a word") {
				t.Errorf("a write through us counts as the agent's own: %s", said)
			}
		})
	}
}
