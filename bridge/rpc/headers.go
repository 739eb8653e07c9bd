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
	lengthName  = "Content-Length"
	lengthGuess = 3       // digits that most messages need
	maxHeader   = 4 << 10 // of all headers of one message
	maxDigits   = 12      // a longer Content-Length is garbage
)

func (h Headers) reader(in *input) frameReader {
	if h.Max <= 0 {
		h.Max = DefaultMax
	}
	in.limit = h.Max + minBuffer
	return &headerReader{in: in, max: int64(h.Max)}
}

func (Headers) begin(dst []byte) []byte {
	return append(dst, lengthName+": 000\r\n\r\n"...)
}

// end writes the length, and moves the message where the guess was wrong.
func (Headers) end(dst []byte, at int) []byte {
	const room = len(lengthName) + 2 + lengthGuess + 4
	length := len(dst) - at - room
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], int64(length), 10)
	if by := len(d) - lengthGuess; by > 0 {
		dst = append(dst, digits[:by]...) // any bytes: only the room matters
		copy(dst[at+room+by:], dst[at+room:at+room+length])
	} else if by < 0 {
		copy(dst[at+room+by:], dst[at+room:])
		dst = dst[:len(dst)+by]
	}
	head := dst[at+len(lengthName)+2:]
	copy(head, d)
	copy(head[len(d):], "\r\n\r\n")
	return dst
}
