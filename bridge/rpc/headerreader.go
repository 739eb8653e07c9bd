package rpc

import (
	"bytes"
	"io"
	"strconv"
)

// headerReader reads what Headers frames.
type headerReader struct {
	in   *input
	max  int64
	used int   // of the waiting bytes, those of the message returned last
	skip int64 // bytes of a long message still to be dropped
	bad  bool  // within a run of garbage, of which the caller knows
	last bool  // the message returned last has not been rejected
}

// reject looks for a header within the message: if it was cut short, the next
// one begins there, or its beginning is at the end.
func (h *headerReader) reject() (first bool) {
	first = !h.bad
	h.bad, h.last = true, false
	if i := findHeader(h.in.bytes()[:h.used], 0); i >= 0 {
		h.used = i
	} else {
		h.used = max(0, h.used-tail)
	}
	return first
}

func (h *headerReader) logs() bool { return false }

func (h *headerReader) next() (frame, error) {
	h.in.drop(h.used)
	h.used = 0
	if h.last {
		h.bad, h.last = false, false
	}
	if err := h.skipLong(); err != nil {
		return frame{}, err
	}
	for {
		length, size, state := parseHeader(h.in.bytes())
		switch state {
		case complete:
			h.in.drop(size)
			return h.body(length)
		case incomplete:
			if err := h.fill(); err != nil {
				return frame{}, err
			}
		case broken:
			if !h.bad {
				return h.garbage(h.in.bytes()), nil
			}
			if err := h.resync(); err != nil {
				return frame{}, err
			}
		}
	}
}

// garbage begins a run of garbage.
func (h *headerReader) garbage(b []byte) frame {
	h.bad = true
	return frame{kind: garbage, body: b[:min(len(b), headSize)]}
}

// fill reads more; the end of the stream within a message is an error.
func (h *headerReader) fill() error {
	err := h.in.fill()
	if err == io.EOF && len(bytes.TrimSpace(h.in.bytes())) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// body returns the message of so many bytes after a header.
func (h *headerReader) body(length int64) (frame, error) {
	if length > h.max {
		if len(h.in.bytes()) == 0 { // wait for its head
			if err := h.in.fill(); err != nil {
				return frame{}, err
			}
		}
		b := h.in.bytes()
		h.skip = length
		h.bad = false
		return frame{kind: long, body: b[:min(int64(len(b)), length, headSize)]}, nil
	}
	h.in.coming = int(length)
	defer func() { h.in.coming = 0 }()
	for seen := 0; ; {
		b := h.in.bytes()
		if int64(len(b)) >= length {
			h.used = int(length)
			h.last = true
			return frame{body: b[:length]}, nil
		}
		if i := findHeader(b, seen); i >= 0 {
			h.in.drop(i)
			return h.garbage(b[:i]), nil
		}
		seen = len(b)
		if err := h.in.fill(); err == io.EOF {
			return frame{}, io.ErrUnexpectedEOF
		} else if err != nil {
			return frame{}, err
		}
	}
}

// tail is so many bytes as a header line that is not yet whole may have.
const tail = len(lengthName) + maxDigits + 16

// skipLong drops what is left of a long message, and ends early where a header
// shows that it was shorter than it said.
func (h *headerReader) skipLong() error {
	for h.skip > 0 {
		b := h.in.bytes()
		b = b[:min(int64(len(b)), h.skip)]
		n := len(b)
		if i := findHeader(b, 0); i >= 0 {
			h.in.drop(i)
			h.skip = 0
			return nil
		}
		if int64(n) < h.skip { // a header may be in the making
			n = max(0, n-tail)
		}
		h.in.drop(n)
		h.skip -= int64(n)
		if h.skip == 0 {
			return nil
		}
		if err := h.in.fill(); err != nil {
			return err
		}
	}
	return nil
}

// resync drops what waits up to the next header, but one byte at least.
func (h *headerReader) resync() error {
	for first := 1; ; first = 0 {
		b := h.in.bytes()
		if i := findHeader(b[min(first, len(b)):], 0); i >= 0 {
			h.in.drop(first + i)
			return nil
		}
		h.in.drop(max(min(first, len(b)), len(b)-tail))
		if err := h.in.fill(); err != nil {
			return err
		}
	}
}

type headerState uint8

const (
	incomplete headerState = iota
	complete
	broken
)

// parseHeader reads the header lines that b begins with: the length of the
// message and their own size, with the empty line. Names are compared without
// case, and \n alone ends a line, too.
func parseHeader(b []byte) (length int64, size int, state headerState) {
	length = -1
	for size <= maxHeader {
		n := bytes.IndexByte(b[size:], '\n')
		if n < 0 {
			if hopeless(b[size:]) {
				return 0, 0, broken
			}
			return 0, 0, incomplete
		}
		line := bytes.TrimRight(b[size:size+n], "\r \t")
		blankSoFar := len(bytes.TrimSpace(b[:size])) == 0
		size += n + 1
		if len(line) == 0 {
			if length >= 0 {
				return length, size, complete
			}
			if blankSoFar {
				continue
			}
			return 0, 0, broken
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isName(name) {
			return 0, 0, broken
		}
		if !bytes.EqualFold(name, []byte(lengthName)) {
			continue
		}
		v, ok := parseLength(value)
		if !ok || length >= 0 && v != length {
			return 0, 0, broken
		}
		length = v
	}
	return 0, 0, broken
}

// hopeless reports whether the beginning of a line cannot become a header.
func hopeless(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return len(line) > maxHeader || !ok && len(name) > 64 || len(bytes.TrimSpace(line)) > 0 && !isName(name)
}

// isName reports whether name can be the name of a header.
func isName(name []byte) bool {
	for _, c := range name {
		if c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}

func parseLength(value []byte) (int64, bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || len(value) > maxDigits || digits(value, 0) != len(value) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil
}

// findHeader returns where the first whole Content-Length line begins that ends
// at or after from, -1 if there is none. What stands before it in its line does
// not matter: garbage need not end with a line.
func findHeader(b []byte, from int) int {
	for at := from; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return -1
		}
		at += n + 1
		line := bytes.TrimRight(b[max(0, at-tail):at-1], "\r \t")
		colon := bytes.LastIndexByte(line, ':')
		if colon < len(lengthName) {
			continue
		}
		name := line[colon-len(lengthName) : colon]
		if _, ok := parseLength(line[colon+1:]); ok && bytes.EqualFold(name, []byte(lengthName)) {
			return max(0, at-tail) + colon - len(lengthName)
		}
	}
}
