package fence

import (
	"fmt"

	"sallyport/workspace/text"
)

// Kind names a fence.
type Kind string

// The fences. Special is what is no plain path: relative, a URI, a device, a short name.
const (
	Region     Kind = "region"
	Reserved   Kind = "reserved"
	Unreadable Kind = "unreadable"
	Private    Kind = "private"
	Special    Kind = "path"
)

// Access is what was asked for.
type Access string

// The two accesses.
const (
	Read  Access = "read"
	Write Access = "write"
)

// Rules are what the configuration says about one session. Every field may be empty. Paths are absolute or relative to the
// session's folder and use the platform's own form; slashes are accepted everywhere.
type Rules struct {
	// Region lists folders, files or doublestar globs in which agents may write. A glob that matches a folder opens all
	// that is beneath it. Empty: the session's folder and Roots.
	Region []string
	// Roots are additional folders of the session.
	Roots []string
	// Reserved adds to the built-in reserved names: a name or glob without a slash counts at every depth, "a/b" as
	// consecutive components at every depth, an absolute path as itself. "!x" takes an exact name off again, but never a
	// built-in one.
	Reserved []string
	// CI also reserves what continuous integration and commit hooks run: .github/workflows, .gitlab-ci.yml and such.
	CI bool
	// Unreadable lists files that are not read, in the form of Reserved, where "!x" takes off what an earlier entry put on. Nil: DefaultUnreadable. Private keys in
	// .ssh and .gnupg are closed whatever it says.
	Unreadable []string
	// Private lists the folders of private projects. See Policy.SetPrivate.
	Private []string
	// Own are Sallyport's own folders.
	Own Own
	// AgentConfig lists files and folders that configure agents outside the project; closed to writes.
	AgentConfig []string
}

// Own are the folders (or files) of Sallyport itself.
type Own struct {
	State  []string // receipts, checkpoints, logs: closed to reads and writes
	Config []string // configuration and packages: closed to writes
}

// Refusal is the error of an access that a fence refuses. Its text is one sentence for the agent and the user; it tells
// nothing about the disk that the path asked for did not say.
type Refusal struct {
	Fence    Kind
	Access   Access
	Path     string // as asked for
	Resolved string // where it leads; empty when that is the same, or unknown
	Why      string // what in the path is refused
	Allowed  string // what would have been allowed
}

// Error names the fence, the path and what would be allowed.
func (r *Refusal) Error() string {
	verb := "write to"
	if r.Access == Read {
		verb = "read of"
	}
	return fmt.Sprintf("%s %s refused by the %s fence: %s; %s", verb, text.Visible(r.Path), r.Fence, r.Why, r.Allowed)
}

// SpecialError is the error of opening what is not a regular file.
type SpecialError struct {
	Path string
	Type string // "folder", "fifo", "socket", "device", "special file"
}

// Error says what the path is.
func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file", text.Visible(e.Path), e.Type)
}

// Line is one entry of the effective fences, for printing.
type Line struct {
	Fence  Kind
	Access string // what is refused: "read", "write" or "read and write"; for the region: "write elsewhere"
	What   string // a name, pattern or path
	Why    string // where it comes from
}
