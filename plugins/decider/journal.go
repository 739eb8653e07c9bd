package decider

import (
	"fmt"
	"strings"
	"time"
)

// What an entry is about.
const (
	Decided = "decision"
	Life    = "life"  // starts and ends of the program
	Stray   = "stray" // a line of the program that answers nothing
)

// Entry is one line of a journal. It holds what a request aimed at, never its
// contents.
type Entry struct {
	Time    time.Time `json:"time"`
	Decider string    `json:"decider"` // its id
	What    string    `json:"what"`
	Tool    string    `json:"tool,omitzero"`
	Target  string    `json:"target,omitzero"`
	Answer  string    `json:"answer,omitzero"` // allow, deny, ask
	Message string    `json:"message,omitzero"`
	Why     string    `json:"why,omitzero"`     // why it did not decide, or what happened
	DelayMS float64   `json:"delayMs,omitzero"` // milliseconds
	Late    bool      `json:"late,omitzero"`    // it came too late to count: its time was over, or somebody else had settled it
}

// String is the entry as a line for people, in local time:
//
//	14:03:12  Decision  refused Bash rm -rf build (2 ms): no rm -rf here
//	14:03:12  Decision  allowed Bash npm test (1 ms)
//	14:03:12  Decision  did not decide Bash cargo build: no answer in time; the user is asked
func (e Entry) String() string {
	when := e.Time.Local().Format(time.TimeOnly)
	about := strings.TrimSpace(oneLine(e.Tool, 128) + " " + oneLine(e.Target, MaxTarget))
	why, message := oneLine(e.Why, MaxMessage), oneLine(e.Message, MaxMessage)
	word := map[string]string{"allow": "allowed", "deny": "refused"}[e.Answer]
	switch {
	case e.What == Life:
		return when + "  Program   " + why
	case e.What == Stray && about != "":
		return when + "  Stray     " + why + ": " + about
	case e.What == Stray:
		return when + "  Stray     " + why
	case e.Late && why != "":
		return fmt.Sprintf("%s  Decision  did not decide %s: %s", when, about, why)
	case e.Late && word != "":
		return fmt.Sprintf("%s  Decision  did not decide %s: it %s it after %s, too late", when, about, word, milli(e.DelayMS))
	case e.Late:
		return fmt.Sprintf("%s  Decision  did not decide %s: it left it after %s, too late", when, about, milli(e.DelayMS))
	case word == "" && why != "":
		return fmt.Sprintf("%s  Decision  did not decide %s: %s; the user is asked", when, about, why)
	case word == "":
		return fmt.Sprintf("%s  Decision  did not decide %s (%s): it left it; the user is asked", when, about, milli(e.DelayMS))
	case message != "":
		return fmt.Sprintf("%s  Decision  %s %s (%s): %s", when, word, about, milli(e.DelayMS), message)
	default:
		return fmt.Sprintf("%s  Decision  %s %s (%s)", when, word, about, milli(e.DelayMS))
	}
}

// milli is a duration in whole milliseconds, at least one where there was any.
func milli(ms float64) string {
	if 0 < ms && ms < 1 {
		ms = 1
	}
	return fmt.Sprintf("%.0f ms", ms)
}
