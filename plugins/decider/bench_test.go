package decider

import (
	"context"
	"slices"
	"testing"
	"time"

	"sallyport/plugins/decider/decidertest"
)

// BenchmarkThree asks three deciders that answer at once, in this process. What
// real programs add is measured where they are started.
func BenchmarkThree(b *testing.B) {
	var set Set
	for range 3 {
		started := make(chan struct{}, 1)
		d := Open(Program{ID: "dev.test.fast", Start: starts(decidertest.Answers(0, "allow")), Note: func(Entry) {
			select {
			case started <- struct{}{}:
			default:
			}
		}})
		defer d.Close()
		<-started
		set = append(set, d)
	}
	var delays []time.Duration
	for b.Loop() {
		began := time.Now()
		got, err := set.Decide(context.Background(), rm)
		if err != nil || got.Say != Allow {
			b.Fatal(got, err)
		}
		delays = append(delays, time.Since(began))
	}
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds()), "median-µs")
}
