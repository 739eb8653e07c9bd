package rpc

import (
	"io"
	"os"
)

// newLinger returns nil: a write cannot be told to wait for a short time here.
func newLinger(io.Writer) lingerer { return nil }

// Stdio returns this process's stdin and stdout for New.
func Stdio() (in, out *os.File) { return os.Stdin, os.Stdout }
