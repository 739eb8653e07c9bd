package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/bridge/rpc"
)

func TestClose_FailsPendingCalls(t *testing.T) {
	in, feed := io.Pipe()
	c := rpc.New(in, io.Discard, rpc.Lines{})
	var order []string
	for i := range 12 {
		c.Go("m", nil, func(_ []byte, err error) {
			if !errors.Is(err, rpc.ErrClosed) || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("got %v", err)
			}
			order = append(order, fmt.Sprint(i))
		})
	}
	feed.CloseWithError(io.ErrClosedPipe)
	if err := c.Run(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run: got %v", err)
	}
	if got, want := strings.Join(order, " "), "0 1 2 3 4 5 6 7 8 9 10 11"; got != want {
		t.Errorf("order: got %s, want %s", got, want)
	}
	called := false
	c.Go("m", nil, func(_ []byte, err error) { called = errors.Is(err, rpc.ErrClosed) })
	if !called {
		t.Error("Go after the end: done was not called with ErrClosed")
	}
	for name, err := range map[string]error{
		"Call":   c.Call(t.Context(), "m", nil, nil),
		"Notify": c.Notify("m", nil),
		"Reply":  c.Reply("1", nil),
		"Stream": c.Stream(t.Context(), func(dst []byte) []byte { return append(dst, "{}"...) }),
	} {
		if !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("%s after the end: got %v", name, err)
		}
	}
}

// brokenPipe is a peer that reads nothing any more.
type brokenPipe struct{ after int }

func (w *brokenPipe) Write(b []byte) (int, error) {
	n := min(len(b), w.after)
	w.after -= n
	if n < len(b) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// J9: what was asked before the peer stopped reading can still be answered; what
// it cannot have got fails at once.
func TestJ9_PeerThatReadsNoMore(t *testing.T) {
	in, feed := io.Pipe()
	c := rpc.New(in, &brokenPipe{after: 100}, rpc.Lines{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Run(context.Background()); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	answered := make(chan string, 1)
	c.Go("session/prompt", nil, func(result []byte, err error) { answered <- fmt.Sprintf("%s %v", result, err) })
	for range 3 { // with the write failing, and after
		if err := c.Call(t.Context(), "other", strings.Repeat("x", 100), nil); !errors.Is(err, rpc.ErrClosed) {
			t.Fatalf("a call that was not sent: got %v", err)
		}
	}
	_, _ = io.WriteString(feed, `{"jsonrpc":"2.0","id":1,"result":"end_turn"}`)
	_ = feed.Close()
	if got, want := <-answered, `"end_turn" <nil>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	<-ended
}

func TestRun_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // also: no goroutine is left, or this panics
		in, _ := io.Pipe()
		_, out := io.Pipe() // nobody reads
		c := rpc.New(in, out, rpc.Lines{})
		why := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		pending := make(chan error, 1)
		go func() { pending <- c.Call(context.Background(), "m", nil, nil) }()
		blocked := make(chan error, 1)
		go func() {
			big := func(dst []byte) []byte { return append(dst, make([]byte, 2<<20)...) }
			blocked <- errors.Join(c.Stream(context.Background(), big), c.Stream(context.Background(), big))
		}()
		synctest.Wait()
		start := time.Now()
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("Run: got %v", err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		for name, errs := range map[string]chan error{"Call": pending, "Stream": blocked} {
			if err := <-errs; !errors.Is(err, rpc.ErrClosed) || !errors.Is(err, why) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestRun_WritesWhatIsQueued(t *testing.T) {
	var out bytes.Buffer
	c := rpc.New(strings.NewReader(""), &out, rpc.Lines{})
	want := ""
	for i := range 1000 {
		_ = c.Notify("n", []int{i})
		want += fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":[%d]}`+"\n", i)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
