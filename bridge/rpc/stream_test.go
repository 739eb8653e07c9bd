package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/bridge/rpc"
)

// stuck is a peer that takes each write only when told.
type stuck struct {
	take   chan struct{}
	mu     sync.Mutex
	writes []string
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.take
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, string(b))
	return len(b), nil
}

// run starts a connection that writes to w and is never sent anything.
func run(t *testing.T, w io.Writer) *rpc.Conn {
	in, feed := io.Pipe()
	c := rpc.New(in, w, rpc.Lines{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Run(context.Background())
	}()
	t.Cleanup(func() {
		_ = feed.Close()
		<-ended
	})
	return c
}

func TestWriter_GathersWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{take: make(chan struct{})}
		c := run(t, w)
		_ = c.Notify("first", nil)
		synctest.Wait() // it is being written
		for i := range 100 {
			_ = c.Notify("n"+strconv.Itoa(i), nil)
		}
		close(w.take)
		synctest.Wait()
		if len(w.writes) != 2 || strings.Count(w.writes[1], "\n") != 100 {
			t.Errorf("got %d writes, want 2; the second of %d lines", len(w.writes), strings.Count(w.writes[len(w.writes)-1], "\n"))
		}
		_ = c.Notify("idle", nil)
		synctest.Wait()
		if len(w.writes) != 3 {
			t.Errorf("an idle stream: got %d writes, want 3", len(w.writes))
		}
	})
}

func TestStream_BackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{take: make(chan struct{})}
		c := run(t, w)
		c.HighWater = 1000
		message := func(dst []byte) []byte { return append(dst, bytes.Repeat([]byte("x"), 99)...) } // 100 with its end
		sent := 0
		blocked := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for {
				if err := c.Stream(ctx, message); err != nil {
					blocked <- err
					return
				}
				sent++
			}
		}()
		synctest.Wait()
		if want := 11; sent != want { // the last one passes the mark
			t.Errorf("sent %d before blocking, want %d", sent, want)
		}
		// Others are not held up, and keep their place.
		_ = c.Notify("control", nil)
		w.take <- struct{}{}
		synctest.Wait()
		w.take <- struct{}{}
		synctest.Wait()
		if sent <= 11 {
			t.Errorf("sent %d after the peer read on", sent)
		}
		if got := strings.Join(w.writes, ""); !strings.Contains(got, "control") {
			t.Errorf("control is missing")
		}
		cancel()
		if err := <-blocked; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(w.take)
	})
}

func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{take: make(chan struct{})}
		close(w.take)
		c := run(t, w)
		gather := func(n int) {
			for range n {
				if err := c.Gather(t.Context(), func(dst []byte) []byte { return append(dst, pad200...) }); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		writes := func(want int, why string) {
			t.Helper()
			synctest.Wait()
			if len(w.writes) != want {
				t.Fatalf("%s: got %d writes, want %d", why, len(w.writes), want)
			}
		}
		gather(10)
		writes(0, "gathered")
		c.Flush()
		writes(1, "flushed")
		c.Flush()
		writes(1, "flushed with nothing to write")
		gather(10)
		time.Sleep(time.Millisecond)
		writes(2, "a millisecond later")
		time.Sleep(time.Second)
		writes(2, "much later")
		gather(10)
		_ = c.Notify("n", nil)
		writes(3, "with something else")
		gather(1200) // 240,000 bytes
		if len(w.writes) < 4 || len(w.writes[3]) < 128<<10 {
			t.Errorf("240,000 bytes: got %d writes", len(w.writes))
		}
	})
}

// Gather on a pipe writes on the caller's goroutine while the peer keeps up, and
// hands over when it does not: nothing is lost or reordered in between.
func TestGather_OnAPipe(t *testing.T) {
	const messages = 20_000
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.New(eternal(t), w, rpc.Lines{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.Run(ctx) })
	wg.Go(func() {
		for i := range messages {
			build := func(dst []byte) []byte {
				dst = append(dst, `{"jsonrpc":"2.0","method":"n","params":[`...)
				return append(strconv.AppendInt(dst, int64(i), 10), "]}"...)
			}
			send := c.Gather
			if i%7 == 0 {
				send = c.Stream
			}
			if err := send(ctx, build); err != nil {
				t.Error(err)
			}
			if i%100 == 0 {
				c.Flush()
			}
		}
	})
	next := 0
	reader := rpc.New(r, io.Discard, rpc.Lines{})
	reader.Handle = func(m *rpc.Message) {
		if got, want := string(m.Params), fmt.Sprintf("[%d]", next); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if next++; next == messages {
			cancel()
		}
		if next%2000 == 0 { // long enough for the other side to stop lingering
			<-time.After(5 * time.Millisecond)
		}
	}
	_ = reader.Run(ctx)
	wg.Wait()
	if next != messages {
		t.Errorf("got %d messages", next)
	}
}

// A peer that writes garbage and reads nothing must not fill our memory with
// our complaints.
func TestComplaintsAreBounded(t *testing.T) {
	in := strings.NewReader(strings.Repeat("{\n", 1_000_000) + `{"jsonrpc":"2.0","method":"after"}`)
	w := &stuck{take: make(chan struct{})}
	c := rpc.New(in, w, rpc.Lines{})
	c.HighWater = 10_000
	c.Handle = func(*rpc.Message) { close(w.take) }
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(strings.Join(w.writes, "")); got > 20_000 {
		t.Errorf("answered with %d bytes", got)
	}
}

// A bridge in one process: an agent that sends 200,000 updates to an editor that
// reads slowly. Nothing is lost or reordered. What waits in memory is at most
// HighWater and one message in each of the two directions' writers, and what one
// read of the input brought (64 KiB).
func TestBackPressure_SlowEditor(t *testing.T) {
	const updates = 200_000
	agentOut, agentIn := io.Pipe() // takes only what is read
	editorOut, editorIn := io.Pipe()
	hop := rpc.New(agentOut, io.Discard, rpc.Lines{})
	towards := rpc.New(eternal(t), editorIn, rpc.Headers{})
	hop.Handle = func(m *rpc.Message) {
		_ = towards.Stream(t.Context(), func(dst []byte) []byte { return append(dst, m.Frame...) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = hop.Run(ctx) })
	wg.Go(func() { _ = towards.Run(ctx) })

	sent := make(chan int, updates)
	wg.Go(func() {
		for i := range updates {
			if _, err := fmt.Fprintf(agentIn, `{"jsonrpc":"2.0","method":"u","params":{"n":%d,"pad":"%s"}}`+"\n", i, pad200); err != nil {
				t.Error(err)
				return
			}
			sent <- i
		}
	})
	const bound = rpc.DefaultHighWater + 2*(64<<10) + 4096
	next := 0
	editor := rpc.New(editorOut, io.Discard, rpc.Headers{})
	editor.Handle = func(m *rpc.Message) {
		n, _ := rpc.Member(m.Params, "n")
		if string(n) != strconv.Itoa(next) {
			t.Fatalf("got update %s, want %d", n, next)
		}
		if waiting := (len(sent) - next) * len(m.Frame); waiting > 2*bound {
			t.Fatalf("%d bytes are on their way", waiting)
		}
		if next++; next == updates {
			cancel()
		}
	}
	if err := editor.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("editor: %v", err)
	}
	wg.Wait()
	if next != updates {
		t.Errorf("got %d updates, want %d", next, updates)
	}
}

var pad200 = strings.Repeat("x", 200)

// eternal is an input on which nothing comes, until the test is over.
func eternal(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	return r
}
