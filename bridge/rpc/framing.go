package rpc

// DefaultMax is the longest message taken, in bytes, where Max is 0.
const DefaultMax = 64 << 20

// Framing is how messages follow each other on a stream: Lines or Headers.
type Framing interface {
	// reader takes messages off in.
	reader(in *input) frameReader
	// begin appends what stands before a message that is then appended in
	// place; end is given the index of the beginning and completes it. last is
	// the size of the message before: they come in kinds.
	begin(dst []byte, last int) []byte
	end(dst []byte, at, last int) []byte
}

// frameReader takes messages off a stream.
type frameReader interface {
	// next returns the next message, or what is in its place. The bytes are
	// valid until the next call. An error ends the stream.
	next() (frame, error)
	// reject says that the message returned last was no valid JSON: the stream
	// may be out of step. It returns false where that is known already.
	reject() (first bool)
	// logs reports whether something else than messages may be expected.
	logs() bool
}

// frame is one message, or a stretch of input in the place of one.
type frame struct {
	kind frameKind
	body []byte // of a long one, only the beginning
}

type frameKind uint8

const (
	whole   frameKind = iota // a message
	long                     // a message longer than Max, skipped
	garbage                  // bytes outside of any message, skipped
)
