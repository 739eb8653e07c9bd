package decider

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errLong says that a line is longer than MaxLine.
var errLong = fmt.Errorf("it wrote a line of more than %d KiB", MaxLine>>10)

// lines reads a program's lines, in memory that is bounded.
type lines struct {
	r    *bufio.Reader
	most int // bytes of a line
}

func newLines(r io.Reader, most int) *lines {
	return &lines{bufio.NewReaderSize(r, most+2), most} // "\r\n"
}

// next waits for a line and calls fn with it and with all others that came whole
// along with it: what is written at once is looked at together. The lines are
// only good until fn returns.
func (l *lines) next(fn func(line []byte)) error {
	for {
		line, err := l.r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return errLong
		case err != nil && len(line) == 0:
			return err
		case err != nil: // a last line that does not end is not believed
			return fmt.Errorf("its last line does not end: %w", err)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > l.most {
			return errLong
		}
		fn(line)
		if rest, _ := l.r.Peek(l.r.Buffered()); bytes.IndexByte(rest, '\n') < 0 {
			return nil
		}
	}
}
