package bench_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/process"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
	"sallyport/server"
	"sallyport/workspace"
	"sallyport/workspace/config"
)

// inside is a server with a real bridge in this process, between an editor in
// this process and an agent in its own.
type inside struct {
	*editor
	folder string
}

// openInside starts one, with an open session.
func openInside(tb testing.TB) *inside {
	tb.Helper()
	toServer, fromEditor := mustPipe(tb)
	toEditor, fromServer := mustPipe(tb)
	in := &inside{editor: newEditor(toEditor, fromEditor), folder: tb.TempDir()}
	h, err := harness.FromCommand(harness.Command{ID: "bench", Args: []string{os.Args[0], roleWord, "agent"}, FS: true})
	if err != nil {
		tb.Fatal(err)
	}
	c := config.Default()
	c.Unsaved = config.UnsavedLeave
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := &server.Server{Log: log, Sessions: func(d bridge.Display, e workspace.Editor, _ *workspace.Documents) bridge.Sessions {
		return &bridge.Bridge{Display: d, Editor: e, Log: log, Home: bridge.Home{
			Harness: func(string) (*harness.Harness, error) { return h, nil },
			Config:  func(string) (*config.Config, error) { return c, nil },
			Finder:  &process.Finder{Host: os.Environ()}, Environ: os.Environ(), Version: "bench",
		}}
	}}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(context.Background(), toServer, fromServer)
		ended <- err
	}()
	tb.Cleanup(func() {
		_ = fromEditor.Close()
		_, _ = io.Copy(io.Discard, toEditor)
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	if err := in.open(in.folder); err != nil {
		tb.Fatal(err)
	}
	return in
}

// document is the text of an open document, 2 KB, as JSON.
var document = sync.OnceValue(func() string { return `"` + manyLines(2<<10) + `"` })

// makeFiles makes the files of n documents, an hour ago.
func makeFiles(tb testing.TB, folder string, n int) {
	tb.Helper()
	content, err := rpc.Unquote([]byte(document()))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		path, old := filepath.Join(folder, documentName(i)), time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chtimes(path, old, old)); err != nil {
			tb.Fatal(err)
		}
	}
}

func documentName(i int) string { return fmt.Sprintf("f%d.go", i) }

// openDocuments opens n files that makeFiles made, and waits until they are known.
func (e *editor) openDocuments(folder string, n int) error {
	for i := range n {
		p := fmt.Sprintf(`{"textDocument":{"uri":"%s/%s","languageId":"go","version":1,"text":%s}}`, workspace.URIOf(folder), documentName(i), document())
		if err := e.send("", "textDocument/didOpen", p); err != nil {
			return err
		}
	}
	return e.sync()
}

// sync waits until all that was sent has been handled: what is unknown is
// refused in order.
func (e *editor) sync() error {
	if _, err := e.request("bench/none", "{}"); err == nil {
		return fmt.Errorf("an unknown request was answered")
	}
	return nil
}

// BenchmarkAllocations: the allocations of server and bridge for one update,
// with so many open documents: what a turn with twice as many updates allocates
// more. Wanted: a constant, the same for all. What a turn allocates besides is told
// apart: all documents are looked at when it begins, when its folders are watched
// and when it ends. (A turn without updates is over before the second of these, so
// it is not what to take off.)
func BenchmarkAllocations(b *testing.B) {
	for _, p := range []payload{chunk, diff} {
		for _, documents := range []int{0, 10, 1000} {
			b.Run(fmt.Sprintf("%s/%d", p, documents), func(b *testing.B) {
				in := openInside(b)
				makeFiles(b, in.folder, documents)
				if err := in.openDocuments(in.folder, documents); err != nil {
					b.Fatal(err)
				}
				count := 50_000
				if p == diff {
					count = 2_000
				}
				in.allocated(b, p, count) // pools and buffers grow
				var objects, bytes, turns, rounds float64
				for b.Loop() {
					o, n := in.allocated(b, p, count)
					o2, n2 := in.allocated(b, p, 2*count)
					objects, bytes, turns, rounds = objects+o2-o, bytes+n2-n, turns+2*o-o2, rounds+1
				}
				updates := rounds * float64(count)
				atMost(b, max(0, objects/updates), "allocs/update", p.allocations())
				noted(b, max(0, turns/rounds), "allocs/turn")
				b.ReportMetric(max(0, bytes/updates), "B/update")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// allocations is the constant: a tool call has its id, status and paths read.
func (p payload) allocations() float64 {
	if p == diff {
		return 8
	}
	return 0.1
}

// allocated is what one turn with so many updates allocates.
func (in *inside) allocated(b *testing.B, p payload, count int) (objects, bytes float64) {
	var before, after runtime.MemStats
	in.updates = 0
	runtime.ReadMemStats(&before)
	if err := in.prompt("flood " + flow{payload: p, count: count}.String()); err != nil {
		b.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if in.updates < count {
		b.Fatalf("%d updates came of %d", in.updates, count)
	}
	return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
}

// BenchmarkInside forwards updates within this process, for a profile.
func BenchmarkInside(b *testing.B) {
	for _, bench := range []struct {
		name string
		flow
	}{
		{"chunk/burst", flow{payload: chunk, count: 400_000, burst: 64 << 10}},
		{"chunk/full", flow{payload: chunk, count: 200_000}},
		{"diff/full", flow{payload: diff, count: 4_000}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			in := openInside(b)
			for b.Loop() {
				if err := in.prompt("flood " + bench.flow.String()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bench.count), "ns/update")
		})
	}
}
