package disk

import (
	"errors"
	"fmt"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// SpecialError is the error of reading or writing what is not a regular file: a folder, fifo, socket, device.
type SpecialError = fence.SpecialError

// NotTextError is the error of reading, or overwriting, a file that is not UTF-8 text.
type NotTextError struct {
	Path     string
	Size     int64  // bytes on disk
	Binary   bool   // holds NUL bytes
	Encoding string // another Unicode encoding that its first bytes name, such as "UTF-16LE"; else empty
}

// Error says what the file is instead.
func (e *NotTextError) Error() string {
	switch {
	case e.Encoding != "":
		return fmt.Sprintf("%s is %s text, not UTF-8 (%d bytes): it is neither read nor overwritten", text.Visible(e.Path), e.Encoding, e.Size)
	case e.Binary:
		return fmt.Sprintf("%s is a binary file (%d bytes): it is neither read nor overwritten as text", text.Visible(e.Path), e.Size)
	default:
		return fmt.Sprintf("%s is not UTF-8 text (%d bytes): it is neither read nor overwritten", text.Visible(e.Path), e.Size)
	}
}

// TooLargeError is the error of reading more at once than is allowed.
type TooLargeError struct {
	Path   string
	Size   int64 // bytes on disk
	Limit  int64 // bytes that one read may return
	Window bool  // line or limit were given
}

// Error names the limit and the remedy.
func (e *TooLargeError) Error() string {
	if e.Window {
		return fmt.Sprintf("the lines asked for of %s hold more than the %d bytes that are read at once: ask for fewer with line and limit", text.Visible(e.Path), e.Limit)
	}
	return fmt.Sprintf("%s holds %d bytes, more than the %d that are read at once: read part of it with line and limit", text.Visible(e.Path), e.Size, e.Limit)
}

// ReadOnlyError is the error of writing a file that is marked read-only, or not ours to write.
type ReadOnlyError struct {
	Path string
	Err  error // the system's answer; nil when the file has no write permission for anybody
}

// Error names the remedy.
func (e *ReadOnlyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s may not be written by this user: %v", text.Visible(e.Path), e.Err)
	}
	return fmt.Sprintf("%s is marked read-only: make it writable first", text.Visible(e.Path))
}

// Unwrap is the system's answer.
func (e *ReadOnlyError) Unwrap() error { return e.Err }

// errMoved means that the file changed between two looks at it; the write starts anew.
var errMoved = errors.New("the file keeps changing while it is written")
