package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/rpc"
)

// role is a command that runs this binary in a role.
func role(name string, args ...any) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+strings.TrimSpace(name+" "+fmt.Sprintln(args...)))
	return cmd
}

// hop runs agent, hop and editor, and returns the hop's CPU time a message.
func hop(b *testing.B, name, kind string, count int, pause time.Duration) time.Duration {
	b.Helper()
	breaks := 1
	if kind == "hop-ours" {
		breaks = 2 // those of the headers
	}
	agent, middle, editor := role("agent", name, count, pause), role(kind), role("editor", window(name)/2, breaks)
	toHop, fromAgent := mustPipe(b)
	toEditor, fromHop := mustPipe(b)
	acks, ackTo := mustPipe(b)
	agent.Stdout, middle.Stdin = fromAgent, toHop
	middle.Stdout, editor.Stdin = fromHop, toEditor
	agent.ExtraFiles, editor.ExtraFiles = []*os.File{acks}, []*os.File{ackTo}
	var said bytes.Buffer
	middle.Stderr = &said
	agent.Stderr, editor.Stderr = os.Stderr, os.Stderr
	for _, cmd := range []*exec.Cmd{editor, middle, agent} {
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range []*os.File{toHop, fromAgent, toEditor, fromHop, acks, ackTo} {
		_ = f.Close()
	}
	for _, cmd := range []*exec.Cmd{agent, middle, editor} {
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%s: %v: %s", cmd.Env[len(cmd.Env)-1], err, said.String())
		}
	}
	var ns, sys int64
	if _, err := fmt.Sscan(said.String(), &ns, &sys); err != nil {
		b.Fatalf("%s said %q", kind, said.String())
	}
	return time.Duration(ns / int64(count))
}

func mustPipe(b *testing.B) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2])
}

// BenchmarkHop measures the CPU time of a hop between three processes, side by
// side: a bare copy, ours, and the typed path of acp-go-sdk. Wanted: cpu/copy at
// most 2.5, sdk/cpu at least 10.
func BenchmarkHop(b *testing.B) {
	for _, bench := range []struct {
		name, payload string
		count         int
		pause         time.Duration
		sdk           bool
	}{
		{"chunk", "chunk", 100_000, 0, true},
		{"diff", "diff", 3_000, 0, true},
		{"chunk paced", "chunk", 5_000, 100 * time.Microsecond, false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			cpu := map[string][]time.Duration{}
			for b.Loop() {
				for range 3 {
					for _, kind := range []string{"hop-copy", "hop-ours"} {
						cpu[kind] = append(cpu[kind], hop(b, bench.payload, kind, bench.count, bench.pause))
					}
				}
				if bench.sdk {
					cpu["hop-sdk"] = append(cpu["hop-sdk"], hop(b, bench.payload, "hop-sdk", bench.count/20, 0))
				}
			}
			bare, ours := median(cpu["hop-copy"]), median(cpu["hop-ours"])
			b.ReportMetric(bare/1000, "µs-copy")
			b.ReportMetric(ours/1000, "µs-ours")
			b.ReportMetric(ours/bare, "cpu/copy")
			if bench.sdk {
				b.ReportMetric(median(cpu["hop-sdk"])/ours, "sdk/cpu")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkStream measures the wall time of 100 MB of updates against cat | cat.
// Wanted: wall/cat at most 3.
func BenchmarkStream(b *testing.B) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		b.Skip("there is no cat on this system")
	}
	file := filepath.Join(b.TempDir(), "updates")
	if err := os.WriteFile(file, bytes.Repeat(chunkUpdate(), 100<<20/len(chunkUpdate())), 0o600); err != nil {
		b.Fatal(err)
	}
	wall := func(second *exec.Cmd) time.Duration {
		first := exec.Command(cat, file)
		r, w := mustPipe(b)
		first.Stdout, second.Stdin = w, r
		start := time.Now()
		if err := second.Start(); err != nil {
			b.Fatal(err)
		}
		if err := first.Run(); err != nil {
			b.Fatal(err)
		}
		_, _ = r.Close(), w.Close()
		if err := second.Wait(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var bare, ours []time.Duration
	for b.Loop() {
		for range 5 {
			bare = append(bare, wall(exec.Command(cat)))
			ours = append(ours, wall(role("hop-ours")))
		}
	}
	b.ReportMetric(median(bare)/1e6, "ms-cat")
	b.ReportMetric(median(ours)/1e6, "ms-ours")
	b.ReportMetric(median(ours)/median(bare), "wall/cat")
	b.ReportMetric(0, "ns/op")
}

// chunks are n text chunks.
func chunks(n int) []byte {
	var all []byte
	for i := range n {
		all = append(all, bytes.Replace(chunkUpdate(), []byte("and 7"), fmt.Appendf(nil, "%.*s", i, "and then some more"), 1)...)
	}
	return all
}

// repeat gives messages n times, as much at once as fits.
type repeat struct {
	message []byte
	left, n int
}

func (r *repeat) Read(b []byte) (int, error) {
	filled := 0
	for filled < len(b) && r.n > 0 {
		n := copy(b[filled:], r.message[len(r.message)-r.left:])
		filled += n
		if r.left -= n; r.left == 0 {
			r.left = len(r.message)
			r.n--
		}
	}
	if filled == 0 {
		return 0, io.EOF
	}
	return filled, nil
}

// BenchmarkForward is the hop within this process, without pipes. Wanted:
// no allocation a message.
func BenchmarkForward(b *testing.B) {
	for _, name := range []string{"chunk", "diff"} {
		b.Run(name, func(b *testing.B) {
			messages, each := payload(name), 1
			if name == "chunk" { // as agents send them: no two are the same
				messages, each = chunks(16), 16
			}
			in := rpc.New(&repeat{messages, len(messages), (b.N + each - 1) / each}, io.Discard, rpc.Lines{})
			silent, hold := io.Pipe()
			out := rpc.New(silent, struct{ io.Writer }{io.Discard}, rpc.Headers{})
			in.Handle = forwardTo(b.Context(), out)
			in.Idle = out.Flush
			ended := make(chan error, 1)
			go func() { ended <- out.Run(context.Background()) }()
			b.SetBytes(int64(len(messages) / each))
			b.ReportAllocs()
			b.ResetTimer()
			if err := in.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			_ = hold.Close()
			<-ended
		})
	}
}
