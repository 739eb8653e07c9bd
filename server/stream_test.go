package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server"
	"sallyport/server/servertest"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// gate is a writer that takes nothing until it is open.
type gate struct {
	io.WriteCloser
	open chan struct{}
}

func (g gate) Write(b []byte) (int, error) {
	<-g.open
	return g.WriteCloser.Write(b)
}

// A slow editor slows the agent: what waits for it is bounded, and nothing is
// lost or out of order.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const updates = 20000
		text := strings.Repeat("x", 1000)
		ss := &servertest.Sessions{}
		srv := &server.Server{Sessions: ss.Attach}
		var shown atomic.Int64
		ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
			for i := range updates {
				turn.Say(ctx, fmt.Sprint(i, text))
				shown.Add(1)
			}
			return bridge.TurnResult{StopReason: "end_turn"}, nil
		}
		toServer, fromEditor := io.Pipe()
		toEditor, fromServer := io.Pipe()
		g := gate{fromServer, make(chan struct{})}
		ed := &servertest.Editor{}
		ed.Plugin, ed.Folder = servertest.Everything(), "/p"
		ed.Start(toEditor, fromEditor)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := srv.Run(t.Context(), toServer, g); err != nil {
				t.Errorf("Run: %v", err)
			}
		}()
		ended := make(chan error, 1)
		ed.Go("initialize", rpc.RawJSON(`{"capabilities":{},"initializationOptions":{"sallyport":{"features":["update"]}}}`), func([]byte, error) {})
		ed.Go(wire.MethodNew, rpc.RawJSON(`{"cwd":"/p"}`), func([]byte, error) {})
		synctest.Wait()
		ed.Go(wire.MethodPrompt, promptParams("s1", "x"), func(_ []byte, err error) { ended <- err })
		synctest.Wait() // everything waits for the editor now
		if n := shown.Load() * 1000; n < rpc.DefaultHighWater/2 || n > rpc.DefaultHighWater {
			t.Errorf("%d bytes wait for an editor that does not read, want some, and at most %d", n, rpc.DefaultHighWater)
		}
		close(g.open)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ed.Look(func(s *servertest.Seen) {
			if len(s.Updates) != updates {
				t.Fatalf("%d updates came, want %d", len(s.Updates), updates)
			}
			for i, u := range s.Updates {
				if !strings.Contains(string(u.Update), fmt.Sprintf(`"text":"%d%s"`, i, text)) {
					t.Fatalf("update %d is %.120s", i, u.Update)
				}
			}
		})
		_ = fromEditor.Close()
		<-done
		ed.Wait()
	})
}

// forwarder is a server's display whose editor reads and forgets.
func forwarder(tb testing.TB) bridge.Display {
	var d bridge.Display
	made := make(chan struct{})
	ss := &servertest.Sessions{}
	srv := &server.Server{Sessions: func(x bridge.Display, e workspace.Editor, docs *workspace.Documents) bridge.Sessions {
		d = x
		defer close(made)
		return ss.Attach(x, e, docs)
	}}
	toServer, fromEditor := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := srv.Run(context.Background(), toServer, io.Discard); err != nil {
			tb.Errorf("Run: %v", err)
		}
	}()
	tb.Cleanup(func() {
		_ = fromEditor.Close()
		<-done
	})
	const init = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"sallyport":{"features":["update"]}}}}`
	if _, err := fmt.Fprintf(fromEditor, "Content-Length: %d\r\n\r\n%s", len(init), init); err != nil {
		tb.Fatal(err)
	}
	<-made
	return d
}

func update(size int) bridge.Update {
	raw := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("x", size) + `"}}`
	return bridge.Update{Session: "s1", Turn: "t1", Kind: "agent_message_chunk", Raw: jsontext.Value(raw)}
}

// Forwarding allocates a small constant, whatever the size.
func TestUpdateAllocations(t *testing.T) {
	d := forwarder(t)
	for _, size := range []int{200, 50 << 10} {
		u := update(size)
		got := testing.AllocsPerRun(2000, func() { d.Update(t.Context(), u) })
		if got > 3 {
			t.Errorf("%v allocations for an update of %d bytes, want at most 3", got, size)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, size := range []int{200, 51 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			d, u := forwarder(b), update(size)
			b.ReportAllocs()
			b.SetBytes(int64(len(u.Raw)))
			for b.Loop() {
				d.Update(b.Context(), u)
			}
		})
	}
}

// BenchmarkInitialize is a whole connection: start, initialize, shutdown, end.
func BenchmarkInitialize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ss := &servertest.Sessions{}
		srv := &server.Server{Sessions: ss.Attach}
		toServer, fromEditor := io.Pipe()
		toEditor, fromServer := io.Pipe()
		ed := &servertest.Editor{}
		ed.Folder = "/p"
		ed.Start(toEditor, fromEditor)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = srv.Run(b.Context(), toServer, fromServer)
		}()
		if _, err := ed.Initialize(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := ed.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
		<-done
		ed.Wait()
	}
}
