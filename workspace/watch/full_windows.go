package watch

import (
	"errors"
	"syscall"
)

// errorTooManyOpenFiles and errorNotEnoughMemory are ERROR_TOO_MANY_OPEN_FILES and
// ERROR_NOT_ENOUGH_MEMORY.
const (
	errorTooManyOpenFiles = syscall.Errno(4)
	errorNotEnoughMemory  = syscall.Errno(8)
)

// isFull reports whether the system has no place for another watch.
func isFull(err error) bool {
	return errors.Is(err, errorTooManyOpenFiles) || errors.Is(err, errorNotEnoughMemory)
}
