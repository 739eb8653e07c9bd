package rpc

import (
	"bytes"
	"io"
)

// Lines is the framing of ACP over stdio: one message a line, ended by \n or
// \r\n. Blank lines are skipped, and a last line needs no end.
type Lines struct {
	Max int // the longest line taken, without its end, in bytes; default DefaultMax
}

func (l Lines) reader(in *input) frameReader {
	if l.Max <= 0 {
		l.Max = DefaultMax
	}
	in.limit = l.Max + minBuffer
	return &lineReader{in: in, max: l.Max}
}

func (Lines) begin(dst []byte, _ int) []byte { return dst }

// end makes one line of the message. A line break in valid JSON is white space
// between tokens, as in a message that came from a peer with the other framing.
func (Lines) end(dst []byte, at, _ int) []byte {
	for body := dst[at:]; ; {
		i := bytes.IndexByte(body, '\n')
		if i < 0 {
			return append(dst, '\n')
		}
		body[i] = ' '
		body = body[i+1:]
	}
}

// framed writes what is lines already.
type framed struct{ Lines }

func (framed) end(dst []byte, _, _ int) []byte { return dst }

type lineReader struct {
	in      *input
	max     int
	scanned int // so many of the waiting bytes hold no line end
}

// reject has nothing to do: the next line is the next message.
func (l *lineReader) reject() bool { return true }

func (l *lineReader) logs() bool { return true }

func (l *lineReader) next() (frame, error) {
	for {
		line, err := l.line()
		switch {
		case err == errLong:
			return l.skip()
		case len(line) == 0 && err != nil:
			return frame{}, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return frame{body: line}, nil
		}
	}
}

// line returns the next line without its end, the last one with io.EOF if it
// has none, or errLong with the line still waiting.
func (l *lineReader) line() ([]byte, error) {
	for {
		b := l.in.bytes()
		n := bytes.IndexByte(b[l.scanned:], '\n')
		if n >= 0 {
			n += l.scanned
			if n > l.max {
				return nil, errLong
			}
			l.scanned = 0
			l.in.drop(n + 1)
			return b[:n], nil
		}
		l.scanned = len(b)
		if len(b) > l.max {
			return nil, errLong
		}
		if err := l.in.fill(); err != nil {
			b = l.in.bytes()
			l.scanned = 0
			l.in.drop(len(b))
			if err != io.EOF {
				return nil, err
			}
			return b, err
		}
	}
}

// more returns the whole lines that wait, of so many bytes at the most, up to the
// first that is not taken.
func (l *lineReader) more(most int, taken func(line []byte) bool) []byte {
	b := l.in.bytes()
	b = b[:min(len(b), most)]
	n := 0
	for {
		i := bytes.IndexByte(b[n:], '\n')
		if i < 0 || i > l.max || !taken(b[n:n+i]) {
			break
		}
		n += i + 1
	}
	l.in.drop(n)
	return b[:n]
}

// skip drops the waiting line, of which it keeps the head.
func (l *lineReader) skip() (frame, error) {
	b := l.in.bytes()
	f := frame{kind: long, body: bytes.Clone(b[:min(len(b), headSize, l.max)])}
	for {
		if n := bytes.IndexByte(l.in.bytes(), '\n'); n >= 0 {
			l.in.drop(n + 1)
			break
		}
		l.in.drop(len(l.in.bytes()))
		if err := l.in.fill(); err == io.EOF {
			break
		} else if err != nil {
			return frame{}, err
		}
	}
	l.scanned = 0
	return f, nil
}
