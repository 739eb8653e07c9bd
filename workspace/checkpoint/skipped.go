package checkpoint

import "fmt"

// Reason says why something is left out of a checkpoint.
type Reason byte

const (
	TooLarge   Reason = 1 + iota // above Options.MaxFile
	Special                      // a FIFO, socket or device
	Denied                       // the system does not let us read it
	Changing                     // it changed while it was read, each time
	Ignored                      // its name is one of Options.LeaveOut
	OverBudget                   // Options.MaxBytes were stored before it was its turn
	TimeLimit                    // Options.Limit was over before it was its turn
	Own                          // our own state
	Unreadable                   // another error of the system
)

var reasons = [...]string{"", "too large", "special file", "permission denied", "changed while being read", "ignored", "over budget", "time limit", "own state", "unreadable"}

// String is the reason for people and receipts.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("reason %d", byte(r))
}

// final says whether the same file is left out for this reason as long as it does not change.
func (r Reason) final() bool { return r == TooLarge || r == Special || r == Ignored || r == Own }

// Skipped is something that a checkpoint does not hold: a file, or a folder with all that is in it.
type Skipped struct {
	Root   string // the project's folder
	Path   string // slashed, relative to Root; its bytes as the system has them
	Reason Reason
}
