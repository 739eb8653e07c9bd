//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// mayRead and mayWrite ask the system about this process, outside any fence.
func mayRead(path string) bool  { return unix.Access(path, unix.R_OK) == nil }
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }
