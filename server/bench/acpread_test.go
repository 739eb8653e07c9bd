package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readFile is what is read in round trips, 10 KB.
var readFile = strings.Repeat("a line of ten kilobytes in all, with \"quotes\"\n", 220)

// between starts an agent and an ACP client in processes of their own with nothing
// between them, or a bare copy in each direction, and an open session.
func between(tb testing.TB, copies bool) (ed *remote, folder string) {
	tb.Helper()
	if !measurable {
		tb.Skip("only Linux shows what another process takes")
	}
	folder = tb.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "read.txt"), []byte(readFile), 0o600); err != nil {
		tb.Fatal(err)
	}
	toAgent, fromClient := mustPipe(tb)
	toClient, fromAgent := mustPipe(tb)
	agentIn, agentOut := toAgent, fromAgent
	var cmds []*exec.Cmd
	start := func(cmd *exec.Cmd, in, out *os.File) {
		cmd.Stdin, cmd.Stdout = in, out
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		cmds = append(cmds, cmd)
		closeAll(in, out)
	}
	if copies {
		r1, w1 := mustPipe(tb)
		r2, w2 := mustPipe(tb)
		start(role("copy"), toAgent, w1)
		start(role("copy"), r2, fromAgent)
		agentIn, agentOut = r1, w2
	}
	start(role("agent"), agentIn, agentOut)
	ed = startRemote(tb, toClient, fromClient, "acp", folder)
	closeAll(toClient, fromClient)
	tb.Cleanup(func() {
		ed.stop()
		for _, cmd := range cmds {
			_ = cmd.Wait()
		}
	})
	ed.event()
	return ed, folder
}

// BenchmarkACPRead: the time of one request of the agent that brings 10 KB from the
// client. Wanted: what sallyport acp adds to one that passes is at most 2 times what
// a bare copy adds. What a fs/read_text_file takes, which is fenced, compared with the
// disk and recorded, is told besides.
func BenchmarkACPRead(b *testing.B) {
	b.Run("passed", func(b *testing.B) { roundTrips(b, "pass", true) })
	b.Run("file", func(b *testing.B) { roundTrips(b, "read", false) })
}

func roundTrips(b *testing.B, what string, limited bool) {
	const trips = 1000
	direct, place := between(b, false)
	copied, otherPlace := between(b, true)
	d := driveACP(b)
	read := func(ed *remote, folder string) time.Duration {
		time.Sleep(apart)
		start := time.Now()
		ed.order("0 - %s %s %d", what, filepath.Join(folder, "read.txt"), trips)
		ed.event()
		return time.Since(start) / trips
	}
	var bare, copies, ours, addedByCopy, addedByUs []time.Duration
	for b.Loop() {
		for range 21 {
			x, y, z := read(direct, place), read(copied, otherPlace), read(d.editor, d.folder)
			bare, copies, ours = append(bare, x), append(copies, y), append(ours, z)
			addedByCopy, addedByUs = append(addedByCopy, max(y-x, 1)), append(addedByUs, max(z-x, 1))
		}
	}
	b.ReportMetric(median(bare)/1e3, "µs-direct")
	b.ReportMetric(median(copies)/1e3, "µs-copy")
	b.ReportMetric(median(ours)/1e3, "µs-acp")
	// Of the medians: what a copy adds in one round is too little to divide by.
	added := median(addedByUs) / median(addedByCopy)
	if limited {
		atMost(b, added, "added/copy-added", 2)
	} else {
		noted(b, added, "added/copy-added")
	}
	b.ReportMetric(0, "ns/op")
}
