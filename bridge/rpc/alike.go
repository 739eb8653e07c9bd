package rpc

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// maxAlike is how long a message is, in bytes, that others are held against. Of a
// longer one most is text, which is scanned in any case.
const maxAlike = 4 << 10

// alike is what is known of the last notification that was scanned whole, so that
// the next ones need not be: of the chunks in which an agent streams its words, only
// one string differs.
//
// A frame that has the same bytes up to that string's opening quote, then a valid
// string, and the same bytes behind it, is valid too, with the same members but for
// that string: JSON's grammar knows nothing else of what stood before.
type alike struct {
	last       []byte // a copy
	head, tail []byte // of last, each with a quote of the string; nil: none is known
	shape             // of the frame that was read last
}

// shape is where the parts of a frame are that has such a string.
type shape struct {
	end            int // of the string
	method, params span
}

// span is a stretch of a frame.
type span struct{ from, to int }

// spanOf is where in a frame a part of it is.
func spanOf(frame, part []byte) span {
	from := OffsetIn(frame, part)
	return span{from, from + len(part)}
}

func (s span) of(frame []byte) []byte { return frame[s.from:s.to] }

// isLike reports whether a frame differs from the last one in that string only, and
// where the string ends in it.
func (a *alike) isLike(frame []byte) (end int, ok bool) {
	if a.head == nil || !bytes.HasPrefix(frame, a.head) || !bytes.HasSuffix(frame, a.tail) || len(frame) > math.MaxInt32 {
		return 0, false
	}
	end = scanString(frame, len(a.head)-1)
	return end, end == len(frame)-len(a.tail)+1
}

// again reads into m a frame that is like the last one; false: it is not.
func (s *scanner) again(frame []byte, m *Message) bool {
	a := &s.alike
	end, ok := a.isLike(frame)
	if !ok {
		return false
	}
	s.index.data = frame
	if by := end - a.end; by != 0 {
		s.index.shift(a.end, by)
		a.shape.shift(by)
	}
	*m = Message{Kind: Notification, Method: a.method.of(frame), Params: a.params.of(frame), Frame: frame, index: &s.index}
	return true
}

// maxAlikeLines is how many bytes Alike takes off the input at the most.
const maxAlikeLines = 64 << 10

// Alike takes off the input the notifications that follow the one being handled, m,
// were read with it, and differ from it in one string only, which must be in within,
// a part of m. They are whole lines with their ends, at most 64 KiB, borrowed as m
// is, and nil where there are none. Handle is not called for them.
//
// It is for a Handle that passes on what it need not look at, on a Conn framed by
// Lines: see GatherLines.
func (c *Conn) Alike(m *Message, within []byte) (lines []byte) {
	l, ok := c.in.frames.(*lineReader)
	a := &c.in.scanner.alike
	if !ok || m != &c.in.message || a.head == nil {
		return nil
	}
	if part := spanOf(m.Frame, within); part.from >= len(a.head) || a.end > part.to {
		return nil
	}
	return l.more(maxAlikeLines, func(line []byte) bool {
		_, ok := a.isLike(line)
		return ok
	})
}

// shift moves what stands behind the string.
func (s *shape) shift(by int) {
	for _, at := range []*int{&s.method.from, &s.method.to, &s.params.from, &s.params.to} {
		if *at >= s.end {
			*at += by
		}
	}
	s.end += by
}

// learn takes in a frame that was scanned whole and is m.
func (s *scanner) learn(frame []byte, m *Message) {
	a := &s.alike
	a.last, a.head, a.tail = a.last[:0], nil, nil
	if m.Kind != Notification || len(frame) > maxAlike {
		return
	}
	a.last = append(a.last, frame...)
	method, params := s.envelope.method, m.Params
	if params == nil || len(method) != len(m.Method)+2 { // the name has escapes
		return
	}
	a.shape = shape{s.varies.to, spanOf(frame, method[1:len(method)-1]), spanOf(frame, params)}
	if a.params.from < s.varies.from && s.varies.to < a.params.to {
		a.head, a.tail = a.last[:s.varies.from+1], a.last[s.varies.to-1:]
	}
}

// common is how many bytes a and b have in common at their beginning.
func common(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)>>3
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
