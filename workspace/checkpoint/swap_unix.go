//go:build unix

package checkpoint

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isSwap says whether an error is of a folder or file that is now a link, or something else.
func isSwap(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO)
}

// isNotEmpty says whether a folder was not removed because something is in it.
func isNotEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}
