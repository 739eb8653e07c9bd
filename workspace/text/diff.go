package text

// Diff returns the edits that turn old into new.
func Diff(old, new string) []Edit {
	if old == new {
		return nil
	}
	p, q := trim(old, new)
	return []Edit{{p, len(old) - q, new[p : len(new)-q]}}
}

// trim returns the lengths of the common start and of the common end of a and
// b; the two do not overlap and neither splits a rune or a line ending.
func trim(a, b string) (prefix, suffix int) {
	n := min(len(a), len(b))
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	for prefix > 0 && !(whole(a, prefix) && whole(b, prefix)) {
		prefix--
	}
	n -= prefix
	for suffix < n && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	for suffix > 0 && !(whole(a, len(a)-suffix) && whole(b, len(b)-suffix)) {
		suffix--
	}
	return prefix, suffix
}

// whole reports whether an edit may start or end at the offset at of s: not
// inside a rune, not inside "\r\n".
func whole(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return true
	}
	return !(s[at] == '\n' && s[at-1] == '\r') && runeStart(s, at) == at
}
