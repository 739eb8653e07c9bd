package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s on one line with nothing in it that a terminal obeys or a
// reader cannot see: titles, noise and log lines from agents go through it
// before a person reads them. Nothing is cut.
//
//   - C0 controls and DEL become their pictures: "␊" for a newline, "␛" for ESC
//   - other controls, invisible and direction-changing characters become
//     "<U+202E>"
//   - bytes that are not UTF-8 become "<0xFF>"
func Visible(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7F {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r < ' ':
			b.WriteRune(0x2400 + r)
		case r == 0x7F:
			b.WriteRune(0x2421)
		case hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// hidden reports whether r shows nothing, or changes how its neighbours show.
func hidden(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // joiners and fillers that Unicode calls marks, letters or symbols
		return true
	}
	if 0xE0100 <= r && r <= 0xE01EF { // variation selectors that no emoji needs
		return true
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
