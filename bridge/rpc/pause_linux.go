package rpc

import (
	"time"

	"golang.org/x/sys/unix"
)

// pauseTime is how long pauseShortly takes at the least; with the kernel's slack
// some 0.15 ms. That is 60 KB of an agent that does nothing but send chunks, much
// less than a pipe holds, and nothing to who reads its words.
const pauseTime = 100 * time.Microsecond

// pauseShortly waits in the kernel: Go's own timers take a millisecond where
// nothing else is to be done.
func pauseShortly() {
	t := unix.NsecToTimespec(pauseTime.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // a signal makes it shorter
}
