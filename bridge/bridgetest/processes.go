package bridgetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Process is a process that belongs to a place.
type Process struct {
	PID, Parent int
	Command     string // its arguments, cut after 160 bytes

	start string // tells a process from a later one with its number
}

// Family finds the processes of a place: those whose environment has the
// place's folder in it, those that descend from them, and those that once did.
// It works on Linux; elsewhere NewFamily skips the test.
type Family struct {
	marker string
	known  map[int]string // number to start
}

// NewFamily watches over a place.
func NewFamily(t testing.TB, p Place) *Family {
	t.Helper()
	if reason := familiesUnknown; reason != "" {
		t.Skip(reason)
	}
	return &Family{marker: p.Dir + "/", known: map[int]string{}}
}

// Now are the processes that live now. Call it while a tree is whole, so that
// those that leave it later are known.
func (f *Family) Now() []Process {
	all := everyProcess(f.marker)
	mine := map[int]bool{}
	for _, p := range all {
		if p.marked || f.known[p.PID] == p.start {
			mine[p.PID] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !mine[p.PID] && mine[p.Parent] {
				mine[p.PID], grew = true, true
			}
		}
	}
	var out []Process
	for _, p := range all {
		if mine[p.PID] {
			f.known[p.PID] = p.start
			out = append(out, p.Process)
		}
	}
	return out
}

// Find waits for a process whose command begins with some text, for at most
// within.
func (f *Family) Find(t testing.TB, begins string, within time.Duration) Process {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		now := f.Now()
		for _, p := range now {
			if strings.HasPrefix(p.Command, begins) {
				return p
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no process begins with %q; there are\n%s", begins, list(now))
		}
	}
}

// Lost waits for the end of the processes with word in their command, for at most
// within, and reports whether it came.
func (f *Family) Lost(word string, within time.Duration) bool {
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := slices.ContainsFunc(f.Now(), func(p Process) bool { return strings.Contains(p.Command, word) })
		if !left || time.Now().After(end) {
			return !left
		}
	}
}

// Gone fails the test unless all processes are gone within a time.
func (f *Family) Gone(t testing.TB, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		left := f.Now()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left after %v:\n%s", within, list(left))
			return
		}
	}
}

// list shows processes, one a line.
func list(all []Process) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "  %d (child of %d): %s\n", p.PID, p.Parent, p.Command)
	}
	return b.String()
}

// seen is a process of anybody.
type seen struct {
	Process
	marked bool // its environment holds the marker
}
