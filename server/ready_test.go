package server_test

import (
	"context"
	"testing"

	"sallyport/bridge"
	"sallyport/server/servertest"
)

// A plugin knows a session's id before anything of the session is shown.
func TestNewIsAnsweredBeforeTheFirstUpdate(t *testing.T) {
	r := plugin(t)
	r.ss.Begin = func(ctx context.Context, n bridge.NewSession) error {
		n.Ready(bridge.Info{ID: "s1", Agent: "fake"})
		r.ss.Display.Update(ctx, bridge.Update{Session: "s1", Kind: "x", Raw: []byte(`{"sessionUpdate":"x"}`)})
		return nil
	}
	r.start()
	before := make(chan int, 1)
	r.ed.Go("sallyport/session/new", map[string]any{}, func([]byte, error) {
		r.ed.Look(func(s *servertest.Seen) { before <- len(s.Updates) })
	})
	if n := <-before; n != 0 {
		t.Errorf("%d updates came before the answer that names the session", n)
	}
	r.until("the update came", func(s *servertest.Seen) bool { return len(s.Updates) == 1 })
}

// Initialized has the folder to start agents ahead in.
func TestInitialized(t *testing.T) {
	r := plugin(t)
	folders := make(chan string, 2)
	r.srv.Initialized = func(folder string) { folders <- folder }
	r.start()
	if got := <-folders; got != r.ed.Folder {
		t.Errorf("initialized in %q, want %q", got, r.ed.Folder)
	}
}
