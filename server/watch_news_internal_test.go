package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/workspace"
)

// An editor refused an edit for its version: the newer text is waited for.
func TestNews(t *testing.T) {
	for _, test := range []struct {
		name    string
		version int32 // of the state that comes
		after   time.Duration
		want    time.Duration
	}{
		{"on its way", 8, 120 * time.Millisecond, 120 * time.Millisecond},
		{"the same one", 7, 0, newsWait},
		{"too late", 8, time.Minute, newsWait},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watch{base: workspace.Document{Version: 7}, seen: &seen{wake: make(chan struct{}, 1)}}
				go func() {
					time.Sleep(test.after)
					w.note(workspace.Document{Version: test.version})
				}()
				begun := time.Now()
				if w.news(t.Context()); time.Since(begun) != test.want {
					t.Errorf("waited %v, want %v", time.Since(begun), test.want)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A card that cannot be shown is said again until it is answered.
func TestCardsRemind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cards
		own := c.add(question{id: "p1", answers: []string{"Allow", "Reject"}})
		said := 0
		go func() {
			time.Sleep(2*remindEvery + time.Second)
			c.settle("p1", 1)
		}()
		if i, err := c.wait(t.Context(), own, func() { said++ }); i != 1 || err != nil || said != 3 {
			t.Errorf("got %d, %v and said %d times, want 1 and 3 times", i, err, said)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.wait(ctx, c.add(question{id: "p2"}), func() {}); err == nil || len(c.list()) > 0 {
			t.Errorf("got %v and %d cards after a cancel", err, len(c.list()))
		}
	})
}
