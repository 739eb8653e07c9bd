package bench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// throughHop runs flooder, hop and editor, and returns what the hop took.
func throughHop(tb testing.TB, hop string, f flow) spent {
	tb.Helper()
	if !measurable {
		tb.Skip("only Linux shows what another process takes")
	}
	f, err := f.ackPipe(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	toHop, fromAgent := mustPipe(tb)
	toEditor, fromHop := mustPipe(tb)
	begin, beginW := mustPipe(tb)
	ed := startRemote(tb, toEditor, nil, "lines", f.count, f.window/2, f.acks)
	middle, agent := role(hop), role("flooder", f.words()...)
	if hop == "cat" {
		middle = exec.Command("cat")
	}
	middle.Stdin, middle.Stdout = toHop, fromHop
	agent.Stdin, agent.Stdout = begin, fromAgent
	for _, cmd := range []*exec.Cmd{middle, agent} {
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
	}
	closeAll(toHop, fromAgent, toEditor, fromHop, begin)
	pid := middle.Process.Pid
	settle(tb, pid)
	cpu, start := mustCPU(tb, pid), time.Now()
	if _, err := beginW.Write([]byte{1}); err != nil {
		tb.Fatal(err)
	}
	_ = beginW.Close()
	ed.event()
	wall := time.Since(start)
	if err := agent.Wait(); err != nil {
		tb.Fatal(err)
	}
	if err := middle.Wait(); err != nil {
		tb.Fatal(err)
	}
	total := middle.ProcessState.UserTime() + middle.ProcessState.SystemTime()
	ed.stop()
	return spent{cpu: total - cpu, wall: wall}
}

// settle waits until a process has started: its processor time stands still.
func settle(tb testing.TB, pid int) {
	tb.Helper()
	for last := time.Duration(-1); ; {
		now := mustCPU(tb, pid)
		if now == last {
			return
		}
		last = now
		time.Sleep(20 * time.Millisecond)
	}
}

// BenchmarkStream: the processor time of serve for one update, against a bare
// copy of the same bytes and against acp-go-sdk. Wanted: cpu/copy at most 2.5,
// sdk/cpu at least 10. There are three ways in which an agent may send:
//
//   - window: at most so many updates are on their way (256 chunks, 64 diffs);
//     the limits are meant for this one
//   - full: as fast as the pipes take them
//   - paced: with pauses, so that each update travels alone
func BenchmarkStream(b *testing.B) {
	for _, bench := range []struct {
		name string
		flow
		sdk int // how many updates; 0: not measured
	}{
		{"chunk/window", flow{payload: chunk, count: 128_000, window: 256}, 12_800},
		{"chunk/full", flow{payload: chunk, count: 200_000}, 0},
		{"chunk/paced", flow{payload: chunk, count: 4_000, pause: 100 * time.Microsecond}, 0},
		{"diff/window", flow{payload: diff, count: 3_200, window: 64}, 160},
		{"diff/full", flow{payload: diff, count: 3_200}, 0},
		{"diff/paced", flow{payload: diff, count: 1_000, pause: 300 * time.Microsecond}, 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := drive(b)
			warm, few := bench.flow, bench.flow
			warm.count, few.count = warm.count/10, bench.sdk
			d.flood(warm)
			var bare, ours, guard, sdk []time.Duration
			each := func(t time.Duration) time.Duration { return t / time.Duration(bench.count) }
			for b.Loop() {
				for range 9 {
					bare = append(bare, each(throughHop(b, "copy", bench.flow).cpu))
					took := d.flood(bench.flow)
					ours, guard = append(ours, each(took.cpu)), append(guard, took.guard)
				}
				if bench.sdk > 0 {
					sdk = append(sdk, throughHop(b, "sdk", few).cpu/time.Duration(bench.sdk))
				}
			}
			b.ReportMetric(median(bare)/1e3, "µs-copy")
			b.ReportMetric(median(ours)/1e3, "µs-serve")
			b.ReportMetric(median(guard)/1e3, "µs-guard-in-all")
			if bench.sdk > 0 {
				atMost(b, ratio(ours, bare), "cpu/copy", 2.5)
				atLeast(b, median(sdk)/median(ours), "sdk/cpu", 10)
			} else {
				noted(b, ratio(ours, bare), "cpu/copy")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkStream100MB: the wall time of 100 MB of updates, from the prompt to
// the editor's last, against the same bytes through cat, with the same writer and
// the same reader on both sides. Wanted: wall/cat at most 3. The processor time of
// serve, and `cat FILE | cat >/dev/null`, which has a pipe less and no reader, are
// told besides.
func BenchmarkStream100MB(b *testing.B) {
	f := flow{payload: chunk, count: 100 << 20 / chunkBytes, burst: 64 << 10}
	file := filepath.Join(b.TempDir(), "updates")
	if err := os.WriteFile(file, bytes.Repeat(chunk.line(), f.count), 0o600); err != nil {
		b.Fatal(err)
	}
	d := drive(b)
	d.flood(f)
	var bare, null, ours, cpu []time.Duration
	for b.Loop() {
		for range 9 {
			bare = append(bare, throughHop(b, "cat", f).wall)
			null = append(null, catNull(b, file))
			took := d.flood(f)
			ours, cpu = append(ours, took.wall), append(cpu, took.cpu)
		}
	}
	b.ReportMetric(median(bare)/1e6, "ms-cat")
	b.ReportMetric(median(null)/1e6, "ms-cat-null")
	b.ReportMetric(median(ours)/1e6, "ms-serve")
	b.ReportMetric(median(cpu)/1e6, "ms-serve-cpu")
	atMost(b, ratio(ours, bare), "wall/cat", 3)
	b.ReportMetric(0, "ns/op")
}

func catNull(b *testing.B, file string) time.Duration {
	start := time.Now()
	if err := exec.Command("sh", "-c", `cat "$1" | cat >/dev/null`, "sh", file).Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
