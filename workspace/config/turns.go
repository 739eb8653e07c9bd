package config

import (
	"path"
	"strconv"
	"time"
)

// Turns says what is kept of a turn, and what is done around it.
type Turns struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Retention  Retention  `json:"retention"`
	// Verify are the user's checks, run after a turn in this order; default none.
	Verify []Check `json:"verify"`
	// Untrusted content, as globs of paths or addresses: a session that takes it in is
	// tainted; default none, besides fetched pages, MCP results and files from outside.
	Untrusted []string `json:"untrusted"`
}

// Checkpoint is what is held of a project before a turn.
type Checkpoint struct {
	// Seconds that a checkpoint may take; default 10. What is not in by then is left out.
	Seconds int `json:"seconds"`
	// MaxFileMiB of a file; larger ones are left out; default 32.
	MaxFileMiB int `json:"maxFileMiB"`
	// Ignored: whether files that a .gitignore of the project names are held; default "small".
	Ignored Ignored `json:"ignored"`
	// LeaveOut are globs of names, at any depth, that are left out with all that is beneath
	// them; default none.
	LeaveOut []string `json:"leaveOut"`
	// Wide: whether the home folder or a whole file system may be a project; default false.
	Wide bool `json:"wide"`
}

// Limit is the time that a checkpoint may take.
func (c Checkpoint) Limit() time.Duration { return time.Duration(c.Seconds) * time.Second }

// MaxFile is the most bytes of a file that is held.
func (c Checkpoint) MaxFile() int64 { return int64(c.MaxFileMiB) << 20 }

// Ignored is which of the files that a .gitignore names a checkpoint holds.
type Ignored string

// The choices for ignored files.
const (
	IgnoredAll   Ignored = "all"
	IgnoredSmall Ignored = "small" // single files up to 1 MiB; ignored folders are left out
	IgnoredNone  Ignored = "none"
)

// Retention is how long turns can be taken back.
type Retention struct {
	// Days after which a turn's checkpoints may go; default 30, at least 1.
	Days int `json:"days"`
	// MiB that all checkpoints may take; default 2048, at least 16. The oldest go first.
	MiB int `json:"MiB"`
}

// Age after which a turn's checkpoints may go.
func (r Retention) Age() time.Duration { return time.Duration(r.Days) * 24 * time.Hour }

// Bytes that all checkpoints may take.
func (r Retention) Bytes() int64 { return int64(r.MiB) << 20 }

// Check is a command of the user's that says whether the project is well.
type Check struct {
	// Name for people and the receipt; no two have the same.
	Name string `json:"name"`
	// Command line, split as a shell splits it and run without a shell in the session's folder.
	Command string `json:"command"`
	// Seconds that it may take; default 300.
	Seconds int `json:"seconds"`
	// PassEnv names variables of ours that it receives, besides those that every program
	// needs; default none.
	PassEnv []string `json:"passEnv"`
	// Kernel: the fence around the check, which runs what the agent wrote; default that of the
	// session's agent.
	Kernel
	// State are folders and files that it may write besides the region, such as the cache of a
	// build; default none.
	State []string `json:"state"`
}

// Limit is the time that the check may take.
func (c Check) Limit() time.Duration { return time.Duration(c.Seconds) * time.Second }

const checkSeconds = 300

// settle fills in what a default of the whole cannot, and gives what the schema cannot find.
func (t *Turns) settle(src *source) []Problem {
	var problems []Problem
	for i, glob := range t.Checkpoint.LeaveOut {
		if _, err := path.Match(glob, ""); err != nil {
			problems = append(problems, src.at([]string{"checkpoint", "leaveOut", strconv.Itoa(i)}, false,
				"is no glob", "close its brackets"))
		}
	}
	names := map[string]bool{}
	for i := range t.Verify {
		c := &t.Verify[i]
		if c.Seconds == 0 {
			c.Seconds = checkSeconds
		}
		if names[c.Name] {
			problems = append(problems, src.at([]string{"verify", strconv.Itoa(i), "name"}, false,
				"is the name of an earlier check", "give it another"))
		}
		names[c.Name] = true
	}
	return problems
}
