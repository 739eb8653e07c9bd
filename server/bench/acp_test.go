package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
	"sallyport/bridge/rpc"
)

// acpClient is the least that an ACP client must do. It allocates nothing for an
// update of the agent's, and leaves what others say out of the count.
type acpClient struct {
	in   *bufio.Reader
	out  io.Writer
	ids  int
	file []byte // the rest of its answer to fs/read_text_file

	counts
	acker
}

// acpRole is an ACP client that takes orders as editorRole does.
func acpRole(folder string, orders, events *os.File) error {
	c := &acpClient{in: bufio.NewReaderSize(os.Stdin, 256<<10), out: os.Stdout}
	text, err := os.ReadFile(filepath.Join(folder, "read.txt"))
	if err == nil {
		c.file = append(rpc.AppendQuote([]byte(`,"result":{"content":`), string(text)), "}}\n"...)
	}
	if _, err := c.request("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`); err != nil {
		return err
	}
	if _, err := c.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, folder)); err != nil {
		return err
	}
	fmt.Fprintln(events, "open")
	for in := bufio.NewScanner(orders); in.Scan(); {
		words := strings.SplitN(in.Text(), " ", 3)
		if c.acker, err = newAcker(words[0], words[1]); err != nil {
			return err
		}
		c.counts = counts{}
		prompt := append(rpc.AppendQuote([]byte(`{"sessionId":"`+agentSession+`","prompt":[{"type":"text","text":`), words[2]), "}]}"...)
		if _, err := c.request("session/prompt", string(prompt)); err != nil {
			return err
		}
		fmt.Fprintln(events, c.updates)
	}
	return nil
}

var (
	chunkHead = []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + agentSession + `","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a few`)
	callHead  = []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + agentSession + `","update":{"sessionUpdate":"tool_call`)
)

// request sends a request and reads until its answer.
func (c *acpClient) request(method, params string) ([]byte, error) {
	c.ids++
	id := strconv.Itoa(c.ids)
	if _, err := fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		return nil, err
	}
	for {
		line, err := readLine(c.in)
		switch {
		case err != nil:
			return nil, fmt.Errorf("waiting for the answer to %s: %w", method, err)
		case bytes.HasPrefix(line, chunkHead), bytes.HasPrefix(line, callHead):
			c.updates++
			c.came(1)
			continue
		}
		m, err := rpc.Scan(bytes.TrimSpace(line))
		switch {
		case err != nil:
			return nil, err
		case m.Kind == rpc.Response && string(m.ID) == id:
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, m.Error)
			}
			return m.Result, nil
		case m.Kind == rpc.Request && (string(m.Method) == "fs/read_text_file" || string(m.Method) == "_bench/read"):
			answer := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), c.file...)
			if _, err := c.out.Write(answer); err != nil {
				return nil, err
			}
		}
	}
}

// driveACP starts a hop that speaks ACP, between an agent and a client in a process
// of its own, with an open session: sallyport acp, or the command that is given.
func driveACP(tb testing.TB, hop ...string) *driven {
	tb.Helper()
	if !measurable {
		tb.Skip("only Linux shows what another process takes")
	}
	toHop, fromClient := mustPipe(tb)
	toClient, fromHop := mustPipe(tb)
	var s *serve
	if len(hop) == 0 {
		s = startAs(tb, "acp", toHop, fromHop)
	} else {
		s = &serve{tb: tb, folder: tb.TempDir(), cmd: exec.Command(hop[0], hop[1:]...)}
		s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr, s.cmd.Dir = toHop, fromHop, os.Stderr, s.folder
		if err := s.cmd.Start(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.folder, "read.txt"), []byte(readFile), 0o600); err != nil {
		tb.Fatal(err)
	}
	ed := startRemote(tb, toClient, fromClient, "acp", s.folder)
	closeAll(toHop, fromClient, toClient, fromHop)
	tb.Cleanup(func() { s.stop() })
	tb.Cleanup(ed.stop)
	ed.event()
	return &driven{serve: s, editor: ed}
}

// floodACP is flood where a client sees the announcement, and nothing else.
func (d *driven) floodACP(f flow) spent {
	d.tb.Helper()
	f, err := f.ackPipe(d.tb.TempDir())
	if err != nil {
		d.tb.Fatal(err)
	}
	time.Sleep(apart)
	cpu, guard, start := mustCPU(d.tb, d.pid()), d.guards(), time.Now()
	d.editor.order("%d %s flood %v", f.window/2, f.acks, f)
	updates, err := strconv.Atoi(d.editor.event())
	if err != nil {
		d.tb.Fatal(err)
	}
	took := spent{mustCPU(d.tb, d.pid()) - cpu, d.guards() - guard, time.Since(start)}
	if want := f.count + min(f.extra(), 1); updates != want {
		d.tb.Fatalf("%d updates came of %d", updates, want)
	}
	return took
}

// conductor is the command of npm's @thinkwell/conductor; nil when it is not here.
func conductor(b *testing.B) []string {
	folder := filepath.Join(bridgetest.Peers(b), "clients", "node_modules", "@thinkwell", "conductor")
	if _, err := os.Stat(folder); err != nil {
		b.Log("without @thinkwell/conductor: testdata/peers/clients.sh installs it")
		return nil
	}
	script, err := filepath.Abs(filepath.Join("testdata", "conductor.mjs"))
	if err != nil {
		b.Fatal(err)
	}
	return []string{"node", script, folder, os.Args[0], roleWord, "agent"}
}

// BenchmarkACP: the processor time of `sallyport acp` for one update, against a bare
// copy of the same bytes, against acp-go-sdk's typed way and @thinkwell/conductor.
// Wanted: cpu/copy at most 1.5 for chunks and 1.7 for diffs, conductor/cpu at least 5,
// sdk/cpu at least 15. A turn takes some 7 ms for itself, with its checkpoint and its
// receipt: there are so many updates that it is little of theirs.
func BenchmarkACP(b *testing.B) {
	for _, bench := range []struct {
		name string
		flow
		few   int // how many updates for the slow ones
		limit float64
	}{
		{"chunk", flow{payload: chunk, count: 512_000, window: 256}, 12_800, 1.5},
		{"diff", flow{payload: diff, count: 12_800, window: 64}, 160, 1.7},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := driveACP(b)
			warm, few := bench.flow, bench.flow
			warm.count, few.count = warm.count/10, bench.few
			d.floodACP(warm)
			var rival *driven
			if command := conductor(b); command != nil {
				rival = driveACP(b, command...)
				rival.floodACP(few)
			}
			var bare, ours, sdk, other []time.Duration
			each := func(t time.Duration) time.Duration { return t / time.Duration(bench.count) }
			for b.Loop() {
				for range 9 {
					bare = append(bare, each(throughHop(b, "copy", bench.flow).cpu))
					ours = append(ours, each(d.floodACP(bench.flow).cpu))
				}
				sdk = append(sdk, throughHop(b, "sdk", few).cpu/time.Duration(bench.few))
				if rival != nil {
					other = append(other, rival.floodACP(few).cpu/time.Duration(bench.few))
				}
			}
			b.ReportMetric(median(bare)/1e3, "µs-copy")
			b.ReportMetric(median(ours)/1e3, "µs-acp")
			atMost(b, ratio(ours, bare), "cpu/copy", bench.limit)
			atLeast(b, median(sdk)/median(ours), "sdk/cpu", 15)
			if len(other) > 0 {
				atLeast(b, median(other)/median(ours), "conductor/cpu", 5)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkACP100MB: the wall time of 100 MB of updates against the same bytes
// through cat. Wanted: wall/cat at most 2.
func BenchmarkACP100MB(b *testing.B) {
	f := flow{payload: chunk, count: 100 << 20 / chunkBytes, burst: 64 << 10}
	d := driveACP(b)
	d.floodACP(f)
	var bare, ours []time.Duration
	for b.Loop() {
		for range 9 {
			bare = append(bare, throughHop(b, "cat", f).wall)
			ours = append(ours, d.floodACP(f).wall)
		}
	}
	b.ReportMetric(median(bare)/1e6, "ms-cat")
	b.ReportMetric(median(ours)/1e6, "ms-acp")
	atMost(b, ratio(ours, bare), "wall/cat", 2)
	b.ReportMetric(0, "ns/op")
}
