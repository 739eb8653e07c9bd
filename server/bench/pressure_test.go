package bench_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "run the whole of the back-pressure test: 200,000 updates, one a millisecond")

// What may be on its way between the agent's write and the editor's read: the
// queue of serve (rpc.DefaultHighWater, 1 MiB), its read buffer and both pipes
// (256 KiB each), and the editor's own buffer: 1.9 MB. Half as much more is let
// pass, for the agent's own buffers.
const (
	maxOnItsWay = 3 << 20
	maxGrowth   = 16 << 20 // of the memory of serve
)

// scripted is the command of the scripted agent.
func scripted(tb testing.TB, prompts string) []string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "script.jsonc")
	if err := os.WriteFile(file, []byte(`{"prompts": [`+prompts+`]}`), 0o600); err != nil {
		tb.Fatal(err)
	}
	return []string{binary(tb), "fake-agent", file}
}

// An agent that sends as fast as it can to an editor that reads slowly: nothing
// is lost or comes in another order, the agent is slowed, and serve stays small.
func TestBackPressure(t *testing.T) {
	count, pause := 20_000, 100*time.Microsecond
	if *long {
		count, pause = 200_000, time.Millisecond
	}
	pressure(t, count, pause)
}

func pressure(tb testing.TB, count int, pause time.Duration) (onItsWay, growth int64) {
	tb.Helper()
	if !measurable {
		tb.Skip("only Linux shows what another process has written")
	}
	agent := scripted(tb, fmt.Sprintf(`{"steps": [{"flood": {"n": %d, "size": %d}}]}`, count, chunkBytes))
	l := attach(tb, agent...)
	l.must(l.open(l.folder))
	l.must(forgetPeak(l.pid()))
	idle, _ := l.memory()
	flooder := agentOf(l.serve)
	before := written(tb, flooder)
	start := time.Now()
	l.pause, l.numbered = pause, true
	l.look = func(c counts) error {
		if c.updates%500 == 0 && c.updates < count {
			read := int64(c.updates * chunkBytes)
			onItsWay = max(onItsWay, written(tb, flooder)-before-read)
		}
		return nil
	}
	l.must(l.prompt("flood"))
	if l.updates != count {
		tb.Errorf("%d updates came of %d", l.updates, count)
	}
	_, peak := l.memory()
	growth = int64(peak - idle)
	all := int64(count * chunkBytes)
	tb.Logf("%d updates, %d KB, in %v: at most %d KB were on their way, serve grew by %d KB from %d KB",
		count, all>>10, time.Since(start).Round(time.Millisecond), onItsWay>>10, growth>>10, int64(idle)>>10)
	if onItsWay > maxOnItsWay || onItsWay <= 0 {
		tb.Errorf("the agent was ahead by %d bytes of %d; it should be slowed at %d", onItsWay, all, maxOnItsWay)
	}
	if growth > maxGrowth {
		tb.Errorf("serve grew by %d bytes; want at most %d", growth, maxGrowth)
	}
	return onItsWay, growth
}

// agentOf is the agent's process: the child of the guard, which is the child of serve.
func agentOf(s *serve) int {
	s.tb.Helper()
	for _, guard := range childrenOf(s.pid()) {
		for _, agent := range childrenOf(guard) {
			return agent
		}
	}
	s.tb.Fatal("there is no agent")
	return 0
}

func written(tb testing.TB, pid int) int64 {
	tb.Helper()
	n, err := writtenBy(pid)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// A message of 64 MiB passes, and what follows it too.
func TestHugeMessage(t *testing.T) {
	const size = 64 << 20
	l := attach(t, scripted(t, fmt.Sprintf(`{"steps": [{"say": "before"}, {"hugeLine": {"bytes": %d}}, {"say": "after"}]}`, size))...)
	l.must(l.open(l.folder))
	l.must(l.prompt("huge"))
	if l.updates != 3 || l.bytes < size {
		t.Errorf("%d updates with %d bytes came; want 3 with %d at least", l.updates, l.bytes, size)
	}
	_, peak := l.memory()
	t.Logf("serve had %d MB at the most", int64(peak)>>20)
	if most := float64(5 * size); peak > most {
		t.Errorf("serve had %.0f bytes; want at most %.0f", peak, most)
	}
}

// BenchmarkPressure tells the figures of the back-pressure test: how far the
// agent was ahead of an editor that reads an update each 0.1 ms, and by how much
// serve grew.
func BenchmarkPressure(b *testing.B) {
	var ahead, growth []int64
	for b.Loop() {
		a, g := pressure(b, 20_000, 100*time.Microsecond)
		ahead, growth = append(ahead, a), append(growth, g)
	}
	atMost(b, median(ahead)/megabyte, "MB-ahead", maxOnItsWay/megabyte)
	atMost(b, median(growth)/megabyte, "MB-grown", maxGrowth/megabyte)
	b.ReportMetric(0, "ns/op")
}
