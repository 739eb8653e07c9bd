package bench_test

import (
	"bytes"
	"fmt"
	"strings"

	"sallyport/bridge/rpc"
)

const (
	agentSession = "sess_0123456789abcdef"
	chunkBytes   = 265 // with the newline
)

// payload is one update of an agent, as its line.
type payload string

// The payloads. The large one is an answer of 1 MB rather than an update.
const (
	chunk payload = "chunk"
	diff  payload = "diff"
	large payload = "large"
)

// lines are n messages of one size, of which each chunk has a text of its own, as
// those of agents have.
func (p payload) lines(n int) (all []byte) {
	for i := range n {
		line := p.line()
		if p == chunk {
			copy(line[bytes.Index(line, []byte("words")):], fmt.Sprintf("%05d", i))
		}
		all = append(all, line...)
	}
	return all
}

// line is the message, its newline included.
func (p payload) line() []byte {
	if p == large {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":%s}}`+"\n", rpc.AppendQuote(nil, escaping))
	}
	if p == diff {
		text := strings.Repeat(`\tif err := run(ctx, \"name\"); err != nil { return err } // line\n`, 380)
		return updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"in_progress","content":[{"type":"diff","path":"/project/a.go","oldText":"` +
			text + `","newText":"` + text + `"}]}`)
	}
	const head, tail = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`, `"}}`
	empty := len(updateLine(head + tail))
	return updateLine(head + strings.Repeat("a few words ", 30)[:chunkBytes-empty] + tail)
}

// announce is what an agent says before updates of this kind.
func (p payload) announce() []byte {
	if p == diff {
		return updateLine(`{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Edit a.go","kind":"edit","status":"pending"}`)
	}
	return nil
}

// extra is how many updates an editor sees besides: the announcement, and the
// end of a call that the agent left open.
func (p payload) extra() int {
	if p == diff {
		return 2
	}
	return 0
}

func updateLine(update string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":%s}}`+"\n", agentSession, update)
}
