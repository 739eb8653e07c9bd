//go:build unix

package server

import (
	"errors"
	"syscall"
)

// alive reports whether a process exists: signal 0 is refused with ESRCH only
// when it does not.
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
