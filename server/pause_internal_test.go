package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPauses(t *testing.T) {
	for _, test := range []struct {
		name string
		keys int           // typed after the first, 150 ms apart
		want time.Duration // until the edit goes
	}{
		{"one key", 0, quiet},
		{"some keys", 3, 3*150*time.Millisecond + quiet},
		{"no end", 100, patience},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p pauses
				p.note("file:///b") // of no interest
				p.note("file:///a")
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					defer cancel()
					for range test.keys {
						time.Sleep(150 * time.Millisecond)
						p.note("file:///a")
					}
				}()
				begun := time.Now()
				if err := p.wait(t.Context(), "file:///a"); err != nil || time.Since(begun) != test.want {
					t.Errorf("waited %v, %v; want %v", time.Since(begun), err, test.want)
				}
				<-ctx.Done()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var p pauses
		begun := time.Now()
		p.note("file:///a")
		p.forget("file:///a")
		if err := p.wait(t.Context(), "file:///a"); err != nil || time.Since(begun) != 0 {
			t.Errorf("waited %v, %v for a change of ours", time.Since(begun), err)
		}
		p.note("file:///a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.wait(ctx, "file:///a"); err == nil || time.Since(begun) != 0 {
			t.Errorf("waited %v, %v after a cancel", time.Since(begun), err)
		}
	})
}
