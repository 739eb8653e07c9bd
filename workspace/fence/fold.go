package fence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings a name into the form in which deny lists compare it: two names that some file system takes for the same have
// the same fold. Runes that HFS+ ignores are dropped, then NFC, then simple case folding, then the trailing dots and spaces
// that Windows and SMB strip. Comparing folds agrees with strings.EqualFold.
func fold(name string) string {
	if plain(name) {
		return name
	}
	ascii := true
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.TrimRight(strings.ToLower(name), ". ")
	}
	s := strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, name)
	s = strings.Map(foldRune, norm.NFC.String(s))
	return strings.TrimRight(s, ". ")
}

// plain reports that name is its own fold: lower-case ASCII without a trailing dot or space.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return name == "" || name[len(name)-1] != '.' && name[len(name)-1] != ' '
}

// foldRune maps every rune of one case-folding orbit to the same rune; to the lower-case letter where ASCII is in the orbit.
func foldRune(r rune) rune {
	low := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		low = min(low, c)
	}
	if 'A' <= low && low <= 'Z' {
		low += 'a' - 'A'
	}
	return low
}

// ignorable reports runes that some file system drops when it compares names.
func ignorable(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r))
}

// foldAll folds each component.
func foldAll(comps []string) []string {
	out := make([]string, len(comps))
	for i, c := range comps {
		out[i] = fold(c)
	}
	return out
}
