package rpc

import "strconv"

// Headers is the framing of LSP (3.17, base protocol): a Content-Length header
// before each message.
//
// When the stream is out of step, bytes are skipped up to the next
// Content-Length header. A raw line break cannot stand within a JSON string, so
// that such a header inside of a message means that the message was cut short.
type Headers struct {
	Max int // the longest message taken, in bytes; default DefaultMax
}

const (
	lengthName = "Content-Length"
	maxHeader  = 4 << 10 // of all headers of one message
	maxDigits  = 12      // a longer Content-Length is garbage
)

func (h Headers) reader(in *input) frameReader {
	if h.Max <= 0 {
		h.Max = DefaultMax
	}
	in.limit = h.Max + minBuffer
	return &headerReader{in: in, max: int64(h.Max)}
}

// begin leaves room for the length of a message as large as the last.
func (Headers) begin(dst []byte, last int) []byte {
	dst = append(dst, lengthName+": "...)
	dst = strconv.AppendInt(dst, int64(last), 10)
	return append(dst, "\r\n\r\n"...)
}

// end writes the length, and moves the message where it has more or fewer digits.
func (Headers) end(dst []byte, at, last int) []byte {
	guessed := 1
	for n := last; n >= 10; n /= 10 {
		guessed++
	}
	start := at + len(lengthName) + 2
	body := start + guessed + 4
	length := len(dst) - body
	if length == last {
		return dst
	}
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], int64(length), 10)
	if by := len(d) - guessed; by > 0 {
		dst = append(dst, digits[:by]...) // any bytes: only the room matters
		copy(dst[body+by:], dst[body:body+length])
	} else if by < 0 {
		copy(dst[body+by:], dst[body:])
		dst = dst[:len(dst)+by]
	}
	n := copy(dst[start:], d)
	copy(dst[start+n:], "\r\n\r\n")
	return dst
}
