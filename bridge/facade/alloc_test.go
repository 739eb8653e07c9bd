package facade_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"sallyport/bridge/rpc"
)

// An update that passes allocates nothing.
func TestUpdate_AllocatesNothing(t *testing.T) {
	const n = 200_000
	r := newRig(t, fmt.Sprintf(`{"prompts":[{"match":"warm","steps":[{"flood":{"n":2000,"size":265,"burst":true}}]},{"match":"go","steps":[{"flood":{"n":%d,"size":265,"burst":true}}]}]}`, n))
	in, out := r.hijack()
	lines := bufio.NewReaderSize(out, 1<<18)
	say := func(id int, method, params string) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	}
	until := func(id string) (seen int) {
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"session/update"`)) {
				seen++
				continue
			}
			if m, err := rpc.Scan(bytes.TrimSpace(line)); err != nil {
				t.Fatal(err)
			} else if m.Kind == rpc.Response && string(m.ID) == id {
				return seen
			}
		}
	}
	say(1, "initialize", hello)
	until("1")
	say(2, "session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`)
	until("2")
	say(3, "session/prompt", `{"sessionId":"fake-1","prompt":[{"type":"text","text":"warm"}]}`)
	until("3")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	say(4, "session/prompt", `{"sessionId":"fake-1","prompt":[{"type":"text","text":"go"}]}`)
	seen := until("4")
	runtime.ReadMemStats(&after)
	if seen < n {
		t.Errorf("%d updates came of %d", seen, n)
	}
	each := float64(after.Mallocs-before.Mallocs) / n
	t.Logf("%.4f allocations and %.1f bytes an update", each, float64(after.TotalAlloc-before.TotalAlloc)/n)
	if each > 0.05 { // what the turn itself takes
		t.Errorf("%.3f allocations an update", each)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}
