package server_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

func TestTurn(t *testing.T) {
	r := plugin(t)
	var blocks []jsontext.Value
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		blocks = turn.Blocks
		for i := range 100 {
			turn.Say(ctx, fmt.Sprint(i))
		}
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	r.start()
	s := r.session()
	got, err := r.prompt(s, "hello")
	if err != nil || got.Reason != "end_turn" || got.Turn == "" {
		t.Fatalf("prompt gave %+v, %v", got, err)
	}
	if len(blocks) != 1 || string(blocks[0]) != `{"type":"text","text":"hello"}` {
		t.Errorf("the agent got %s", blocks)
	}
	// The answer came after every update.
	r.ed.Look(func(seen *servertest.Seen) {
		if len(seen.Updates) != 100 {
			t.Fatalf("%d updates before the answer, want 100", len(seen.Updates))
		}
		for i, u := range seen.Updates {
			want := fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}`, i)
			if string(u.Update) != want || u.Session != s || u.Turn != got.Turn || u.Replay {
				t.Fatalf("update %d is %+v %s, want %s", i, u, u.Update, want)
			}
		}
	})
}

// Updates pass byte for byte, whatever is in them.
func TestUpdateIsForwardedAsItIs(t *testing.T) {
	const odd = `{"z":1e2, "big":12345678901234567890,"sessionUpdate":"x_future" ,"t":null,"s":"\u0041<>&"}`
	r := plugin(t)
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		turn.Update(ctx, "x_future", odd)
		return bridge.TurnResult{}, nil
	}
	r.start()
	if _, err := r.prompt(r.session(), "x"); err != nil {
		t.Fatal(err)
	}
	r.ed.Look(func(s *servertest.Seen) {
		if got := string(s.Updates[0].Update); got != odd {
			t.Errorf("got  %s\nwant %s", got, odd)
		}
	})
}

// waiting makes turns that wait for their cancel.
func waiting(r *rig) (begun chan struct{}) {
	begun = make(chan struct{}, 10)
	r.ss.Turn = func(ctx context.Context, _ servertest.Turn) (bridge.TurnResult, error) {
		select {
		case begun <- struct{}{}:
		default: // nobody counts them
		}
		<-ctx.Done()
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	return begun
}

// K9: cancel as a notification and as a request; both cancel, the request is
// answered.
func TestK9_CancelInBothForms(t *testing.T) {
	for _, form := range []string{"notification", "request", "$/cancelRequest"} {
		t.Run(form, func(t *testing.T) {
			r := plugin(t)
			begun := waiting(r)
			r.start()
			s := r.session()
			var got turnResult
			done := make(chan error, 1)
			cancel := r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func(raw []byte, err error) {
				if err == nil {
					err = rpc.Unmarshal(raw, &got)
				}
				done <- err
			})
			<-begun
			switch form {
			case "notification":
				if err := r.ed.Notify("sallyport/session/cancel", wire.SessionParams{Session: s}); err != nil {
					t.Fatal(err)
				}
			case "request":
				var answer jsontext.Value
				if err := r.ed.Call(r.ctx, "sallyport/session/cancel", wire.SessionParams{Session: s}, &answer); err != nil || string(answer) != "{}" {
					t.Errorf("the cancel was answered %s, %v; want {}", answer, err)
				}
			default:
				cancel() // the fake gives the call up; the turn must end all the same
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if _, err := r.promptWhenFree(s, begun); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err := <-done; err != nil || got.Reason != "cancelled" {
				t.Errorf("the prompt was answered %+v, %v; want cancelled", got, err)
			}
		})
	}
}

// promptWhenFree prompts until the session is no longer busy, and cancels that
// turn.
func (r *rig) promptWhenFree(s string, begun chan struct{}) (turnResult, error) {
	for {
		done := make(chan error, 1)
		r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func(_ []byte, err error) { done <- err })
		select {
		case err := <-done: // still busy
			if codeOf(err) != wire.CodeFailed {
				return turnResult{}, err
			}
		case <-begun:
			err := r.ed.Notify("sallyport/session/cancel", wire.SessionParams{Session: s})
			return turnResult{}, errors.Join(err, <-done)
		}
	}
}

// A cancel that follows its prompt at once is not lost.
func TestCancelRightAfterPrompt(t *testing.T) {
	r := plugin(t)
	waiting(r)
	r.start()
	s := r.session()
	for i := range 50 {
		var got turnResult
		done := make(chan error, 1)
		r.ed.Go("sallyport/session/prompt", promptParams(s, "x"), func(raw []byte, err error) {
			if err == nil {
				err = rpc.Unmarshal(raw, &got)
			}
			done <- err
		})
		if err := r.ed.Notify("sallyport/session/cancel", wire.SessionParams{Session: s}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || got.Reason != "cancelled" {
			t.Fatalf("round %d: %+v, %v; want cancelled", i, got, err)
		}
	}
}
