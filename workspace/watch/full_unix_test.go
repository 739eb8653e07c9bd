//go:build unix

package watch

import "syscall"

// full is what a source with no place left says.
const full = syscall.ENOSPC
