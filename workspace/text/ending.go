package text

import "strings"

// Ending is the way in which the lines of a text end.
type Ending uint8

const (
	None  Ending = iota // no line ending at all
	LF                  // all "\n"
	CRLF                // all "\r\n"
	Mixed               // both
)

// String returns a word for people and logs.
func (e Ending) String() string {
	switch e {
	case None:
		return "none"
	case LF:
		return "lf"
	case CRLF:
		return "crlf"
	default:
		return "mixed"
	}
}

// EndingOf returns the ending of s. A lone "\r" is content, not an ending.
func EndingOf(s string) Ending {
	found := None
	for {
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			return found
		}
		this := LF
		if n > 0 && s[n-1] == '\r' {
			this = CRLF
		}
		if found == None {
			found = this
		} else if found != this {
			return Mixed
		}
		s = s[n+1:]
	}
}

// ToCRLF returns s with each "\n" that has no "\r" before it made "\r\n".
func ToCRLF(s string) string {
	bare := strings.Count(s, "\n") - strings.Count(s, "\r\n")
	if bare == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + bare)
	for {
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:n])
		if n == 0 || s[n-1] != '\r' {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		s = s[n+1:]
	}
}
