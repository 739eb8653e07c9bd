package text

import "unicode/utf8"

// Encoding is the unit in which a [Position] counts characters; LSP 3.17,
// PositionEncodingKind. The zero value is UTF16, the protocol's default.
type Encoding uint8

const (
	UTF16 Encoding = iota // two units for a rune above U+FFFF, else one
	UTF8                  // bytes
	UTF32                 // runes
)

// ParseEncoding returns the encoding of an LSP name ("utf-8", "utf-16",
// "utf-32") and whether there is one of that name.
func ParseEncoding(s string) (Encoding, bool) {
	switch s {
	case "utf-16":
		return UTF16, true
	case "utf-8":
		return UTF8, true
	case "utf-32":
		return UTF32, true
	default:
		return UTF16, false
	}
}

// String returns the LSP name of e.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "utf-8"
	case UTF32:
		return "utf-32"
	default:
		return "utf-16"
	}
}

// width returns the units of a rune that takes size bytes. A byte that is not
// UTF-8 counts as one unit everywhere.
func (e Encoding) width(size int) int {
	switch {
	case e == UTF8:
		return size
	case e == UTF16 && size == utf8.UTFMax:
		return 2
	default:
		return 1
	}
}

// units counts the units of s.
func (e Encoding) units(s string) int {
	switch e {
	case UTF8:
		return len(s)
	case UTF32:
		return utf8.RuneCountInString(s)
	default:
		return utf8.RuneCountInString(s) + wide(s)
	}
}

// wide counts the runes of s that are a surrogate pair in UTF-16.
func wide(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < 0xF0 {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if size == utf8.UTFMax {
			n++
		}
		i += size
	}
	return n
}

// prefix returns the length in bytes of the longest start of s that is at most
// n units and ends between two runes: a position in the middle of a rune, of a
// surrogate pair for instance, belongs to the rune's start.
func (e Encoding) prefix(s string, n int) int {
	if e == UTF8 {
		if n >= len(s) {
			return len(s)
		}
		return runeStart(s, n)
	}
	i := 0
	for i < len(s) && n > 0 {
		size := 1
		if s[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if n -= e.width(size); n < 0 {
			break
		}
		i += size
	}
	return i
}

// runeStart returns the start of the rune that holds the byte s[i], or i where
// that byte is not UTF-8 or i is at an end of s.
func runeStart(s string, i int) int {
	if i <= 0 || i >= len(s) || utf8.RuneStart(s[i]) {
		return i
	}
	for j := i - 1; j >= 0 && j > i-utf8.UTFMax; j-- {
		if utf8.RuneStart(s[j]) {
			if _, size := utf8.DecodeRuneInString(s[j:]); j+size > i {
				return j
			}
			break
		}
	}
	return i
}
