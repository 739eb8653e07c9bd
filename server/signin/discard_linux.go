package signin

import "golang.org/x/sys/unix"

// discard forgets what was typed and not read: the terminal's answers to what a
// program asked it are no input for the next one.
func discard(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
