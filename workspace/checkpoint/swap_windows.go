package checkpoint

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isSwap knows nothing more here.
func isSwap(error) bool { return false }

// isNotEmpty says whether a folder was not removed because something is in it.
func isNotEmpty(err error) bool { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }
