package server

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		counts bool
		sent   []int32
		want   string // at once; a minus for a document that was lost
		late   string // in the end
	}{
		{"in order", true, []int32{1, 2, 3}, "[1 2 3]", "[1 2 3]"},
		{"swapped", true, []int32{2, 1, 3}, "[1 2 3]", "[1 2 3]"},
		{"backwards", true, []int32{4, 3, 2, 1}, "[1 2 3 4]", "[1 2 3 4]"},
		{"one that does not come", true, []int32{1, 4, 3}, "[1]", "[1 3 4]"},
		{"two gaps", true, []int32{6, 2, 4, 1}, "[1 2]", "[1 2 4 6]"},
		{"twice", true, []int32{1, 1}, "[1 -1]", "[1 -1]"},
		{"early and twice", true, []int32{3, 3}, "[-3]", "[-3 3]"},
		{"an editor that does not count", false, []int32{5, 9, 9, 20}, "[5 9 9 20]", "[5 9 9 20]"},
		{"backwards there", false, []int32{5, 4}, "[5 -4]", "[5 -4]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, applied, wait := testOrder(t)
				o.opened("file:///a", 0)
				for _, v := range test.sent {
					o.add(change{uri: "file:///a", version: v}, test.counts)
				}
				if got := applied(); got != test.want {
					t.Errorf("%v: got %s at once, want %s", test.sent, got, test.want)
				}
				wait()
				if got := applied(); got != test.late {
					t.Errorf("%v: got %s in the end, want %s", test.sent, got, test.late)
				}
			})
		})
	}
}

// What waits for a document that was closed does not reach the next one.
func TestOrderOfAClosedDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, applied, wait := testOrder(t)
		o.opened("file:///a", 0)
		o.add(change{uri: "file:///a", version: 7}, true)
		o.closed("file:///a")
		o.opened("file:///a", 0)
		o.add(change{uri: "file:///a", version: 1}, true)
		wait()
		if got := applied(); got != "[1]" {
			t.Errorf("got %s, want [1]", got)
		}
	})
}

// testOrder is an order that notes what it applies, and waits for its
// goroutines.
func testOrder(t *testing.T) (o *order, applied func() string, wait func()) {
	var mu sync.Mutex
	list := []int32{}
	note := func(v int32) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, v)
	}
	var wg sync.WaitGroup
	o = &order{
		apply: func(c change) { note(c.version) },
		lost:  func(_ string, v int32, _ error) { note(-v) },
		later: func(f func(context.Context)) bool { wg.Go(func() { f(t.Context()) }); return true },
	}
	applied = func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(list)
	}
	return o, applied, func() { time.Sleep(2 * gap); wg.Wait() }
}
