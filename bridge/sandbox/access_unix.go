//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayRead and mayWrite ask the system about this process, outside any fence.
func mayRead(path string) bool  { return unix.Access(path, unix.R_OK) == nil }
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// mayEnter reports a folder that can be entered, or a file that can be written.
func mayEnter(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() && unix.Access(path, unix.X_OK) == nil || !info.IsDir() && mayWrite(path))
}
