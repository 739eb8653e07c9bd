package permit

import "strings"

// The option kinds of ACP v1 (PermissionOptionKind).
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// fit says what a search for an option to choose came to.
type fit int

const (
	none fit = iota // the agent offers nothing that may be chosen
	one
	several // only a person can tell them apart
)

// allowing finds the option that allows once. Two of them are several: what
// sets them apart only a person can read (G5).
func allowing(options []Option) (Option, fit) {
	var found Option
	how := none
	for _, o := range options {
		if o.Kind != allowOnce || !choosable(options, o) {
			continue
		}
		if how == one {
			return Option{}, several
		}
		found, how = o, one
	}
	return found, how
}

// refusing finds the option that refuses: the first reject_once, or where none
// is offered the first reject_always, which refuses more and allows nothing.
func refusing(options []Option) (Option, bool) {
	for _, kind := range []string{rejectOnce, rejectAlways} {
		for _, o := range options {
			if o.Kind == kind && choosable(options, o) {
				return o, true
			}
		}
	}
	return Option{}, false
}

// choosable reports whether we may choose o without a person: it has an id, no
// other option has the same, and it does not switch a mode.
func choosable(options []Option, o Option) bool {
	n := 0
	for _, other := range options {
		if other.ID == o.ID {
			n++
		}
	}
	return o.ID != "" && n == 1 && !switches(o.ID)
}

// switches reports whether an option's id is that of a mode or of a lasting
// grant, whatever kind the agent gives it.
func switches(id string) bool {
	return switchesMode(id) || strings.Contains(id, "always") || strings.Contains(id, "session")
}

// switchesMode reports whether an option's id is that of a mode: claude's plan
// approval offers the mode `default` as allow_once, qwen's `restore_previous`.
func switchesMode(id string) bool {
	switch id {
	case "default", "plan", "acceptEdits", "bypassPermissions", "dontAsk", "auto",
		"autoEdit", "auto-edit", "auto_edit", "yolo", "restore_previous",
		"agent", "read-only", "workspace-write", "full-access", "agent-full-access":
		return true
	}
	return false
}

// picked finds the option that a person named. A kind that allows must allow
// in every option of that id.
func picked(options []Option, id string) (o Option, allows, ok bool) {
	if id == "" {
		return Option{}, false, false
	}
	allows = true
	for _, other := range options {
		if other.ID == id {
			if !ok {
				o, ok = other, true
			}
			allows = allows && strings.HasPrefix(other.Kind, "allow")
		}
	}
	return o, ok && allows, ok
}
