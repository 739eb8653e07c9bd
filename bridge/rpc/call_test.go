package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"sallyport/bridge/rpc"
)

// pair is two connected ends that run until the test is over.
type pair struct{ a, b *rpc.Conn }

// connect connects two ends over pipes of the system, or over ones in memory
// where the test runs in a bubble of synctest. setup may be nil.
func connect(t *testing.T, inMemory bool, f rpc.Framing, setup func(p pair)) pair {
	t.Helper()
	pipe := func() (io.ReadCloser, io.WriteCloser) {
		if inMemory {
			return io.Pipe()
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	ar, bw := pipe()
	br, aw := pipe()
	p := pair{rpc.New(ar, aw, f), rpc.New(br, bw, f)}
	if setup != nil {
		setup(p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.a.Run(ctx) })
	wg.Go(func() { _ = p.b.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return p
}

func echo(c *rpc.Conn) func(m *rpc.Message) {
	return func(m *rpc.Message) { _ = c.ReplyRaw(m.ID, m.Params) }
}

func TestCall(t *testing.T) {
	for name, f := range map[string]rpc.Framing{"lines": rpc.Lines{}, "headers": rpc.Headers{}} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, false, f, func(p pair) {
				p.b.Handle = func(m *rpc.Message) {
					switch string(m.Method) {
					case "echo":
						_ = p.b.ReplyRaw(m.ID, m.Params)
					case "void":
						_ = p.b.Reply(m.ID, nil)
					case "fail":
						_ = p.b.ReplyError(m.ID, &rpc.Error{Code: -32000, Message: `a "b"`, Data: rpc.RawJSON(`{"c":1}`)})
					case "wrapped":
						_ = p.b.ReplyError(m.ID, fmt.Errorf("more: %w", rpc.Errorf(rpc.InvalidParams, "bad")))
					case "plain":
						_ = p.b.ReplyError(m.ID, errors.New("broken"))
					case "unencodable":
						_ = p.b.Reply(m.ID, func() {})
					}
				}
			})
			type point struct{ X, Y int }
			var got point
			if err := p.a.Call(t.Context(), "echo", point{1, 2}, &got); err != nil || got != (point{1, 2}) {
				t.Errorf("echo: got %v, %v", got, err)
			}
			if raw, err := p.a.CallRaw(t.Context(), "void", nil); err != nil || string(raw) != "null" {
				t.Errorf("void: got %s, %v", raw, err)
			}
			for method, want := range map[string]rpc.Error{
				"fail":        {Code: -32000, Message: `a "b"`, Data: rpc.RawJSON(`{"c":1}`)},
				"wrapped":     {Code: rpc.InvalidParams, Message: "bad"},
				"plain":       {Code: rpc.InternalError, Message: "broken"},
				"unencodable": {Code: rpc.InternalError, Message: "the answer could not be encoded"},
			} {
				err := p.a.Call(t.Context(), method, nil, nil)
				var e *rpc.Error
				if !errors.As(err, &e) || e.Code != want.Code || e.Message != want.Message || string(e.Data) != string(want.Data) {
					t.Errorf("%s: got %#v, want %#v", method, err, want)
				}
			}
			if err := p.a.Call(t.Context(), "x", func() {}, nil); err == nil {
				t.Error("params that cannot be encoded: no error")
			}
		})
	}
}

func TestCall_LoneSurrogateInResult(t *testing.T) {
	p := connect(t, false, rpc.Lines{}, func(p pair) { p.b.Handle = echo(p.b) })
	var got []string
	if err := p.a.Call(t.Context(), "echo", rpc.RawJSON(`["\ud83d"]`), &got); err != nil || got[0] != "\ufffd" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestGo_InWireOrder(t *testing.T) {
	updates, after := 0, 0
	done := make(chan string, 1)
	handled := make(chan struct{}, 1)
	q := connect(t, false, rpc.Lines{}, func(q pair) {
		q.b.Handle = func(m *rpc.Message) {
			for range 1000 {
				_ = q.b.Notify("update", nil)
			}
			_ = q.b.Reply(m.ID, nil)
			_ = q.b.Notify("after", nil)
		}
		q.a.Handle = func(m *rpc.Message) {
			switch string(m.Method) {
			case "update":
				updates++
			case "after":
				after++
				handled <- struct{}{}
			}
		}
	})
	q.a.Go("prompt", nil, func([]byte, error) { done <- fmt.Sprint(updates, " updates, ", after, " after") })
	if got, want := <-done, "1000 updates, 0 after"; got != want {
		t.Errorf("at the answer: got %s, want %s", got, want)
	}
	<-handled
}

// I3: an answer to a call that was given up does not end the next one.
func TestI3_LateAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids []rpc.RawID
		p := connect(t, true, rpc.Lines{}, func(p pair) {
			p.b.Handle = func(m *rpc.Message) { ids = append(ids, m.ID) }
		})
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- p.a.Call(ctx, "prompt", nil, nil) }()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("first: got %v", err)
		}
		second := make(chan string, 1)
		go func() {
			raw, err := p.a.CallRaw(t.Context(), "prompt", nil)
			second <- fmt.Sprintf("%s %v", raw, err)
		}()
		synctest.Wait()
		_ = p.b.Reply(ids[0], "late")
		_ = p.b.Reply(ids[0], "later still")
		_ = p.b.Reply(rpc.RawID(`"`+string(ids[1])+`"`), "a string is no number")
		_ = p.b.Reply(ids[1]+".0", "nor is this")
		_ = p.b.Reply("77", "never asked")
		_ = p.b.Reply(ids[1], "right")
		_ = p.b.Reply(ids[1], "twice")
		if got, want := <-second, `"right" <nil>`; got != want {
			t.Errorf("second: got %s, want %s", got, want)
		}
		synctest.Wait()
		if got := p.a.Stats().Late; got != 6 {
			t.Errorf("late: got %d, want 6", got)
		}
	})
}

// K9: what tells the peer of a cancel has no id of its own.
func TestK9_CancelIsANotification(t *testing.T) {
	for method, want := range map[string]string{
		"":                 "",
		"$/cancelRequest":  `notification  $/cancelRequest {"id":1}` + "\n",
		"$/cancel_request": `notification  $/cancel_request {"requestId":1}` + "\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var got seen
			p := connect(t, true, rpc.Lines{}, func(p pair) {
				p.a.CancelMethod = method
				p.b.Handle = got.handle
			})
			errs := make(chan error, 2)
			cancel := p.a.Go("m", nil, func(_ []byte, err error) { errs <- err })
			synctest.Wait()
			got.Reset()
			cancel()
			cancel()
			synctest.Wait()
			if err := <-errs; !errors.Is(err, context.Canceled) || len(errs) != 0 {
				t.Errorf("got %v and %d more", err, len(errs))
			}
			if got.String() != want {
				t.Errorf("got %q, want %q", got.String(), want)
			}
		})
	}
}

// J5: the ids of the two directions are the same numbers and never meet.
func TestJ5_IDsOfTwoDirections(t *testing.T) {
	p := connect(t, false, rpc.Lines{}, func(p pair) {
		p.a.Handle = func(m *rpc.Message) { _ = p.a.Reply(m.ID, "from a") }
		p.b.Handle = func(m *rpc.Message) { _ = p.b.Reply(m.ID, "from b") }
	})
	var wg sync.WaitGroup
	for range 50 {
		for from, c := range map[string]*rpc.Conn{"from b": p.a, "from a": p.b} {
			wg.Go(func() {
				var got string
				if err := c.Call(t.Context(), "m", nil, &got); err != nil || got != from {
					t.Errorf("got %q, %v; want %q", got, err, from)
				}
			})
		}
	}
	wg.Wait()
}

// J7: updates, a request that the agent needs answered before it goes on, and a
// call from our side, all in the same moment.
func TestJ7_AllAtOnce(t *testing.T) {
	var updates atomic.Int64
	var work sync.WaitGroup
	p := connect(t, false, rpc.Lines{}, func(p pair) {
		p.a.Handle = func(m *rpc.Message) { // ours
			if m.Kind == rpc.Request {
				id := m.ID
				work.Go(func() { _ = p.a.Reply(id, map[string]string{"content": strings.Repeat("x", 100_000)}) })
				return
			}
			updates.Add(1)
		}
		p.b.Handle = func(m *rpc.Message) { // the agent
			id := m.ID
			if string(m.Method) != "session/prompt" {
				_ = p.b.Reply(id, nil)
				return
			}
			work.Go(func() {
				for i := range 10_000 {
					_ = p.b.Notify("session/update", nil)
					if i == 5000 {
						if err := p.b.Call(t.Context(), "fs/read_text_file", nil, nil); err != nil {
							t.Error(err)
						}
					}
				}
				_ = p.b.Reply(id, nil)
			})
		}
	})
	ended := make(chan int64, 1)
	p.a.Go("session/prompt", nil, func([]byte, error) { ended <- updates.Load() })
	for range 100 {
		work.Go(func() {
			if err := p.a.Call(t.Context(), "session/set_mode", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	if got := <-ended; got != 10_000 {
		t.Errorf("updates before the end of the turn: got %d, want 10000", got)
	}
	work.Wait()
}

// TestAskFor: what a request is called by who asks is known before the peer can have
// it, and until it has answered.
func TestAskFor(t *testing.T) {
	const n = 300
	found := make(chan rpc.RawID, n)
	p := connect(t, false, rpc.Lines{}, func(p pair) {
		p.b.Handle = func(m *rpc.Message) { // the peer speaks of the request, and answers
			_ = p.b.Notify("about", rpc.RawJSON(`{"id":`+string(m.ID)+`}`))
			_ = p.b.ReplyRaw(m.ID, []byte("1"))
		}
		p.a.Handle = func(m *rpc.Message) {
			id, _ := rpc.Member(m.Params, "id")
			own, _ := p.a.AskedFor(rpc.RawID(id))
			found <- own
		}
	})
	for i := range n {
		own := rpc.RawID(fmt.Sprintf(`"own-%d"`, i))
		answered := make(chan struct{})
		asked, err := p.a.AskFor(t.Context(), own, "m", rpc.RawJSON("{}"), func([]byte, error) { close(answered) })
		if err != nil {
			t.Fatal(err)
		}
		if got := <-found; got != own {
			t.Fatalf("request %d is called %q, want %q", i, got, own)
		}
		<-answered
		for _, id := range []rpc.RawID{asked.ID(), `"1"`, "99999", ""} {
			if got, ok := p.a.AskedFor(id); ok {
				t.Errorf("%s is called %q after the answer", id, got)
			}
		}
	}
}
