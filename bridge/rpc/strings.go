package rpc

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Words of eight equal bytes, for marks.
const (
	ones  = 0x0101010101010101
	lows  = 0x7f * ones
	highs = 0x80 * ones
)

// marks returns a word with the high bit set in each byte of x that is no plain
// string content: a quote, a backslash, a control character, or part of a rune
// beyond ASCII. No sum carries into the next byte.
func marks(x uint64) uint64 {
	low := x & lows
	noControl, noQuote, noSlash := low+0x60*ones, low^'"'*ones+lows, low^'\\'*ones+lows
	return ^(noControl & noQuote & noSlash &^ x) & highs
}

// special returns the index of the first byte at or after i that is no plain
// string content, len(data) if there is none.
func special(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(data[i:])); m != 0 {
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
func scanString(data []byte, i int) int {
	i++
	if i+8 <= len(data) { // most strings are names, and short
		if m := marks(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			if end := i + bits.TrailingZeros64(m)>>3; data[end] == '"' {
				return end + 1
			}
		}
	}
	for i = skipPlain(data, i); i < len(data) && data[i] != '"'; i = skipPlain(data, i) {
		if i = scanSpecial(data, i); i < 0 {
			return i
		}
	}
	if i >= len(data) {
		return badSyntax
	}
	return i + 1
}

// skipPlain returns the index of the first byte at or after i in a string that is
// neither plain nor part of an escape of two bytes, len(data) if there is none.
//
// It takes a word at a time, and the escapes from the word's marks: where the next
// word begins does not hang on what is in this one, so that the processor need not
// wait for it.
func skipPlain(data []byte, i int) int {
	s := data[i:]
	escaped := uint64(0) // the mark of a word's first byte where the word before ends with its backslash
	j := 0
	for ; j+9 <= len(s); j += 8 {
		word := s[j : j+9]
		m := marks(binary.LittleEndian.Uint64(word)) &^ escaped
		escaped = 0
		for m != 0 {
			at := bits.TrailingZeros64(m) >> 3 & 7
			if word[at] != '\\' || escapes[word[at+1]] != 2 {
				return i + j + at
			}
			slash := m & -m
			m &^= slash | slash<<8
			escaped = slash >> 56
		}
	}
	if escaped != 0 {
		j++
	}
	for i += j; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\' && i+1 < len(data) && escapes[data[i+1]] == 2:
			i++
		case c == '"' || c == '\\' || c < 0x20 || c >= utf8.RuneSelf:
			return i
		}
	}
	return i
}

// scanSpecial checks an escape, or the runes beyond ASCII, at data[i] in a string.
func scanSpecial(data []byte, i int) int {
	switch c := data[i]; {
	case c == '\\':
		n := escapeLen(data[i:])
		if n == 0 {
			return badSyntax
		}
		return i + n
	case c < 0x20:
		return badSyntax
	default:
		return scanRunes(data, i)
	}
}

// scanRunes checks the runes beyond ASCII that start at data[i].
func scanRunes(data []byte, i int) int {
	for i < len(data) && data[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return badUTF8
		}
		i += n
	}
	return i
}

// escapes holds the length of each escape by the character after its backslash.
var escapes = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}

// escapeLen returns the length of the escape that data begins with, 0 if bad.
func escapeLen(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	n := int(escapes[data[1]])
	if n == 6 {
		if _, ok := hex4(data[2:]); !ok {
			return 0
		}
	}
	return n
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
