package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// outputBytes is how much the pipe on an agent's stdout holds, where the system
// lets it: with the usual 64 KiB a burst goes to and fro in small pieces.
const outputBytes = 256 << 10

// widen makes a pipe hold more. It is of no consequence where it cannot.
func widen(f *os.File) { _, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, outputBytes) }
