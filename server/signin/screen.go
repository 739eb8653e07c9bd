package signin

import (
	"bytes"
	"os"

	"golang.org/x/term"
)

// screen passes a program's output on, and knows in which state that leaves the
// terminal.
type screen struct {
	to     *os.File
	tail   []byte // of what was written, shorter than a switch
	other  bool   // the alternate screen is shown
	broken bool   // the last line has no end
	failed bool   // the terminal takes nothing any more
}

// The switches to the alternate screen and back, as terminfo has them for all
// terminals of today.
const (
	alternate = "\x1b[?1049h"
	primary   = "\x1b[?1049l"
)

func (s *screen) Write(b []byte) (int, error) {
	seen := append(s.tail, b...)
	if on, off := bytes.LastIndex(seen, []byte(alternate)), bytes.LastIndex(seen, []byte(primary)); on != off {
		s.other = on > off
	}
	s.tail = append([]byte(nil), seen[max(0, len(seen)-len(primary)+1):]...)
	if len(b) > 0 {
		s.broken = b[len(b)-1] != '\n'
	}
	n, err := s.to.Write(b)
	s.failed = err != nil
	return n, err
}

// calm takes back what a program that was killed leaves behind: colours, a hidden
// cursor, the keypad's keys, reports of the mouse and of what is pasted.
const calm = "\x1b[0m\x1b[?25h\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l"

// leave makes the terminal one for lines again.
func (s *screen) leave() {
	if len(s.tail) == 0 || !term.IsTerminal(int(s.to.Fd())) {
		return
	}
	out := calm
	switch {
	case s.other:
		out += primary
	case s.broken:
		out += "\r\n"
	}
	_, _ = s.to.WriteString(out) // a terminal that is gone needs nothing
}
