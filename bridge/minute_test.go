package bridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
)

// A conversation that a load in this minute would lose is not loaded in it, and
// whoever waits for it can give up.
func TestAConversationIsNotLostByItsLoad(t *testing.T) {
	const id = "9aaeff99-da10-4ab3-b79f-ad87094920dd"
	home := ""
	r := newRig(t, `{"agent": {"name": "gemini-cli", "version": "0.61.0"}, "capabilities": {"loadSession": true}}`, func(r *rig) {
		home = r.path("home")
		environ := r.Home.Environ[:0:0]
		for _, v := range r.Home.Environ {
			if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "USERPROFILE=") {
				environ = append(environ, v)
			}
		}
		r.Home.Environ = append(environ, "HOME="+home, "USERPROFILE="+home)
	})
	for _, minute := range []time.Duration{0, time.Minute} { // it may end while the agent starts
		name := time.Now().Add(minute).UTC().Format("2006-01-02T15-04")
		r.write("home/.gemini/tmp/p/chats/session-"+name+"-9aaeff99.jsonl", "")
	}
	ctx, cancel := context.WithCancel(r.ctx())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := r.Load(ctx, bridge.LoadSession{ID: id, Folder: r.folder, Replays: true})
		done <- err
	}()
	waiting := func() bool {
		for _, n := range r.display.noticed(bridge.NoticeStarting) {
			if strings.Contains(n.Text, "loses a conversation") {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(patience); !waiting(); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-done:
			t.Fatalf("loaded at once: %v", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("nobody waits")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancel", err)
	}
	if wire := strings.Join(r.wire(), "\n"); strings.Contains(wire, "session/load") {
		t.Error("it was loaded all the same")
	}
}
