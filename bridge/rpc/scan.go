package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"
)

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

// envelope holds the top-level members of one message.
type envelope struct {
	jsonrpc, id, method, params, result, errobj []byte
	twice                                       bool // a known member was repeated
}

// known reports whether any member of JSON-RPC is there.
func (e *envelope) known() bool {
	return e.jsonrpc != nil || e.id != nil || e.method != nil || e.params != nil || e.result != nil || e.errobj != nil
}

// set stores a member by its quoted key.
func (e *envelope) set(key, value []byte) {
	var slot *[]byte
	switch string(key) {
	case `"jsonrpc"`:
		slot = &e.jsonrpc
	case `"id"`:
		slot = &e.id
	case `"method"`:
		slot = &e.method
	case `"params"`:
		slot = &e.params
	case `"result"`:
		slot = &e.result
	case `"error"`:
		slot = &e.errobj
	default:
		if bytes.IndexByte(key, '\\') >= 0 { // "\u0069d" is id, too
			if name, err := Unquote(key); err == nil && special([]byte(name), 0) == len(name) {
				e.set([]byte(`"`+name+`"`), value)
			}
		}
		return
	}
	if *slot != nil {
		e.twice = true
	}
	*slot = value
}

// scanEnvelope checks that data is one valid JSON object, whole, and stores its
// members in e. It is the only full pass over a message: grammar, UTF-8 and
// depth are checked here, so that what is spliced on is known to be valid.
func scanEnvelope(data []byte, e *envelope) error {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		end, err := scanValue(data, i, 0)
		switch {
		case err != nil:
			return err
		case skipSpace(data, end) != len(data):
			return errSyntax
		case data[i] == '[':
			return errBatch
		default:
			return errForeign
		}
	}
	end, err := scanObject(data, i, 1, e)
	if err != nil {
		return err
	}
	if skipSpace(data, end) != len(data) {
		return errSyntax
	}
	return nil
}

// scanValue checks the value at data[i] and returns the index after it.
func scanValue(data []byte, i, depth int) (int, error) {
	if i >= len(data) {
		return i, errSyntax
	}
	switch data[i] {
	case '"':
		return scanString(data, i)
	case '{':
		return scanObject(data, i, depth+1, nil)
	case '[':
		return scanArray(data, i, depth+1)
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

// scanObject checks the object at data[i]; its members go to e unless it is nil.
func scanObject(data []byte, i, depth int, e *envelope) (int, error) {
	if depth > MaxDepth {
		return i, errDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return i, errSyntax
		}
		keyStart := i
		keyEnd, err := scanString(data, i)
		if err != nil {
			return keyEnd, err
		}
		i = skipSpace(data, keyEnd)
		if i >= len(data) || data[i] != ':' {
			return i, errSyntax
		}
		i = skipSpace(data, i+1)
		end, err := scanValue(data, i, depth)
		if err != nil {
			return end, err
		}
		if e != nil {
			e.set(data[keyStart:keyEnd], data[i:end])
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return i, errSyntax
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case '}':
			return i + 1, nil
		default:
			return i, errSyntax
		}
	}
}

func scanArray(data []byte, i, depth int) (int, error) {
	if depth > MaxDepth {
		return i, errDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := scanValue(data, i, depth)
		if err != nil {
			return end, err
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return i, errSyntax
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case ']':
			return i + 1, nil
		default:
			return i, errSyntax
		}
	}
}

// Words of eight equal bytes, for special.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns the index of the first byte at or after i that is no plain
// string content: a quote, a backslash, a control character, or part of a
// rune beyond ASCII. It looks at eight bytes at a time; a borrow can mark a
// byte falsely, but only above one that is marked rightly.
func special(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		quote := x ^ ones*'"'
		slash := x ^ ones*'\\'
		m := ((quote-ones)&^quote | (slash-ones)&^slash | (x - ones*0x20) | x) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c < 0x20 || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// scanString checks the string whose opening quote is data[i].
func scanString(data []byte, i int) (int, error) {
	i++
	for {
		i = special(data, i)
		if i >= len(data) {
			return i, errSyntax
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escapeLen(data[i:])
			if n == 0 {
				return i, errSyntax
			}
			i += n
		case c < 0x20:
			return i, errSyntax
		default:
			for i < len(data) && data[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(data[i:])
				if r == utf8.RuneError && n == 1 {
					return i, errUTF8
				}
				i += n
			}
		}
	}
}

// escapeLen returns the length of the escape that data begins with, 0 if bad.
func escapeLen(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(data[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits.
func hex4(data []byte) (rune, bool) {
	if len(data) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func scanLiteral(data []byte, i int, want string) (int, error) {
	if len(data)-i < len(want) || string(data[i:i+len(want)]) != want {
		return i, errSyntax
	}
	return i + len(want), nil
}

// scanNumber checks the number at data[i] (RFC 8259, section 6).
func scanNumber(data []byte, i int) (int, error) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else {
		end := digits(data, i)
		if end == i {
			return i, errSyntax
		}
		i = end
	}
	if i < len(data) && data[i] == '.' {
		end := digits(data, i+1)
		if end == i+1 {
			return i, errSyntax
		}
		i = end
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := digits(data, i)
		if end == i {
			return i, errSyntax
		}
		i = end
	}
	return i, nil
}

// digits returns the index after the decimal digits that start at i.
func digits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}

// skipSpace returns the index of the first byte at or after i that is no JSON
// white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}
