package rpc

import "errors"

// MaxDepth is how deeply arrays and objects may nest in a message. Deeper ones
// are refused: what we forward must be readable for peers whose parsers recurse.
const MaxDepth = 1000

var (
	errSyntax  = errors.New("not valid JSON")
	errUTF8    = errors.New("not valid UTF-8")
	errDepth   = errors.New("nested too deeply")
	errInvalid = errors.New("not a JSON-RPC 2.0 message")
	errLong    = errors.New("the message is too long")
	errBatch   = errors.New("batches are not supported")
	errForeign = errors.New("a JSON value that is no JSON-RPC message")
)

// The scanner's functions return the index after what they checked, or one of
// these. It is the only full pass over a message and half the cost of
// forwarding one, so they make do without error values.
const (
	badSyntax = -1 - iota
	badUTF8
	badDepth
)

// scanner checks one message after another.
type scanner struct {
	envelope envelope
	index    index
	indexing bool // within params, and no array
	elements bool // within an array of which the index has the objects' members
	differs  int  // the first byte that is not that of the frame before
	varies   span // the member's string that it is in; none: empty
	alike
}

// scan checks that data is one valid JSON object, whole: grammar, UTF-8 and
// depth, so that what is spliced on is known to be valid. It notes the members
// of the envelope, and the upper ones of params.
func (s *scanner) scan(data []byte) error {
	s.envelope = envelope{}
	s.index.reset(data)
	s.indexing, s.elements, s.varies = false, false, span{}
	i := skipSpace(data, 0)
	isObject := i < len(data) && data[i] == '{'
	end := badSyntax
	if isObject {
		end = s.object(data, i, 1)
	} else {
		end = s.value(data, i, 0)
	}
	switch {
	case end == badUTF8:
		return errUTF8
	case end == badDepth:
		return errDepth
	case end < 0 || skipSpace(data, end) != len(data):
		return errSyntax
	case isObject:
		return nil
	case data[i] == '[':
		return errBatch
	default:
		return errForeign
	}
}

// value checks the value at data[i].
func (s *scanner) value(data []byte, i, depth int) int {
	if i >= len(data) {
		return badSyntax
	}
	switch data[i] {
	case '"':
		return scanString(data, i)
	case '{':
		return s.object(data, i, depth+1)
	case '[':
		return s.array(data, i, depth+1)
	case 't':
		return scanLiteral(data, i, "true")
	case 'f':
		return scanLiteral(data, i, "false")
	case 'n':
		return scanLiteral(data, i, "null")
	default:
		return scanNumber(data, i)
	}
}

// object checks the object at data[i].
func (s *scanner) object(data []byte, i, depth int) int {
	if depth > MaxDepth {
		return badDepth
	}
	start := i
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return badSyntax
		}
		key := i
		keyEnd := scanString(data, i)
		if keyEnd < 0 {
			return keyEnd
		}
		i = skipSpace(data, keyEnd)
		if i >= len(data) || data[i] != ':' {
			return badSyntax
		}
		i = skipSpace(data, i+1)
		if depth == 1 {
			s.indexing = string(data[key:keyEnd]) == `"params"`
		}
		var end int
		if i < len(data) && data[i] == '"' { // value, inlined for what is most
			if end = scanString(data, i); i < s.differs && s.differs < end {
				s.varies = span{i, end}
			}
		} else {
			end = s.value(data, i, depth)
		}
		if end < 0 {
			return end
		}
		switch {
		case depth == 1:
			s.envelope.set(data[key:keyEnd], data[i:end])
		case depth <= indexDepth && s.indexing, depth == elementDepth && s.elements:
			s.index.add(depth, start, key, keyEnd, i, end)
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return badSyntax
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case '}':
			return i + 1
		default:
			return badSyntax
		}
	}
}

// array checks the array at data[i].
func (s *scanner) array(data []byte, i, depth int) int {
	if depth > MaxDepth {
		return badDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1
	}
	indexing, elements := s.indexing, s.elements
	s.indexing, s.elements = false, indexing && depth == indexDepth+1
	for {
		end := s.value(data, i, depth)
		if end < 0 {
			return end
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return badSyntax
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case ']':
			s.indexing, s.elements = indexing, elements
			return i + 1
		default:
			return badSyntax
		}
	}
}

func scanLiteral(data []byte, i int, want string) int {
	if len(data)-i < len(want) || string(data[i:i+len(want)]) != want {
		return badSyntax
	}
	return i + len(want)
}

// scanNumber checks the number at data[i] (RFC 8259, section 6).
func scanNumber(data []byte, i int) int {
	if i < len(data) && data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i = digits(data, i); i < 0 {
		return badSyntax
	}
	if i < len(data) && data[i] == '.' {
		if i = digits(data, i+1); i < 0 {
			return badSyntax
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i = digits(data, i); i < 0 {
			return badSyntax
		}
	}
	return i
}

// digits returns the index after the decimal digits that start at i, badSyntax
// if there is none.
func digits(data []byte, i int) int {
	start := i
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	if i == start {
		return badSyntax
	}
	return i
}

// skipSpace returns the index of the first byte at or after i that is no JSON
// white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' {
		switch data[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}
