//go:build unix

package watch

import (
	"errors"
	"syscall"
)

// isFull reports whether the system has no place for another watch: ENOSPC is inotify's
// max_user_watches, EMFILE its max_user_instances and kqueue's open files.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
