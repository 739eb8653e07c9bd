package facade

import (
	"testing"
	"testing/synctest"
	"time"
)

// A lane that does not move holds its client up for a while, then refuses, and
// goes on when it moves again.
func TestLane_Stalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(time.Minute)
		defer l.close()
		release, did := make(chan struct{}), 0
		l.put(0, func() { <-release })
		synctest.Wait()
		for range maxLane {
			if !l.put(1, func() { did++ }) {
				t.Fatal("a lane with room refused")
			}
		}
		if l.put(1, func() {}) {
			t.Error("a full lane that does not move took more")
		}
		if l.put(1, func() {}) {
			t.Error("a stuck lane took more")
		}
		close(release)
		synctest.Wait()
		if did != maxLane {
			t.Errorf("%d of %d were done", did, maxLane)
		}
		if !l.put(maxLaneBytes+1, func() { did++ }) {
			t.Error("one large message was refused")
		}
		synctest.Wait()
		if did != maxLane+1 {
			t.Error("the large message was not done")
		}
		l.shut()
		if l.put(1, func() {}) {
			t.Error("a closed lane took more")
		}
	})
}
