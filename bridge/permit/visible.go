package permit

import (
	"strings"
	"unicode"
)

// visible spells controls out, so that nothing of a text acts on a screen.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, s)
}
