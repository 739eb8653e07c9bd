package escape

import (
	"fmt"
	"time"
)

// drills is how many times a drill starts its command.
const drills = 20

// drill starts a job's command over and over: "starts" sees whether every one
// works, "cost" takes the time.
func drill(j *job) (result, error) {
	if j.Drill == "cost" {
		return cost(j)
	}
	var r result
	for range drills {
		one, _, err := timed(j, j.Backend)
		if err != nil {
			return r, err
		}
		if one.Exit != "exit status 0" {
			r.Drill += one.String()
		}
	}
	return r, nil
}

// rounds of a cost, at most.
const rounds = 3

// cost is what the quickest start in the fence takes more than the quickest one
// without: other work on the machine makes both slower, and seldom all of them.
// The median on a quiet machine is for a benchmark to tell.
func cost(j *job) (result, error) {
	var r result
	quickest := map[string]time.Duration{j.Backend: time.Hour, none: time.Hour}
	for range rounds {
		for range drills {
			for b := range quickest {
				one, took, err := timed(j, b)
				if err != nil {
					return r, err
				}
				if one.Exit != "exit status 0" {
					r.Drill = fmt.Sprintf("with %s: %s", b, one)
					return r, nil
				}
				quickest[b] = min(quickest[b], took)
			}
		}
		if r.Cost = int((quickest[j.Backend] - quickest[none]).Milliseconds()); r.Cost <= mostCost {
			break
		}
	}
	return r, nil
}

// timed is one start, from nothing to its end.
func timed(j *job, backend string) (result, time.Duration, error) {
	one := *j
	one.Backend, one.Env = backend, map[string]string{}
	begun := time.Now()
	r, err := work(&one)
	return r, time.Since(begun), err
}
