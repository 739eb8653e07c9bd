package rpc_test

import (
	"bytes"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"sallyport/bridge/rpc"
)

// BenchmarkScan compares one full check of a message with the scanner of
// jsonrpc2, which checks less, and with looking for one member.
func BenchmarkScan(b *testing.B) {
	for _, name := range []string{"chunk", "diff"} {
		message := bytes.TrimSpace(payload(name))
		m, err := rpc.Scan(message)
		if err != nil {
			b.Fatal(err)
		}
		params := bytes.Clone(m.Params)
		for what, run := range map[string]func(){
			"ours":     func() { _, _ = rpc.Scan(message) }, // with an index to clear, that a Conn keeps
			"jsonrpc2": func() { _, _ = jsonrpc2.ScanMessageView(message) },
			"member":   func() { rpc.Member(params, "sessionId") },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				b.SetBytes(int64(len(message)))
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}
