package rpc

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

var errSurrogate = errors.New("lone surrogate in a string")

// Unquote returns the text of a JSON string. What cannot be told exactly is an
// error and never a replacement: bad escapes, control characters, invalid
// UTF-8, lone surrogates.
func Unquote(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", errSyntax
	}
	body := raw[1 : len(raw)-1]
	i := special(body, 0)
	if i == len(body) {
		return string(body), nil
	}
	out := make([]byte, 0, len(body))
	start := 0
	for i < len(body) {
		switch c := body[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(body[i:])
			if r == utf8.RuneError && n == 1 {
				return "", errUTF8
			}
			i += n
		case c == '\\':
			out = append(out, body[start:i]...)
			r, n, err := unescape(body[i:])
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			i += n
			start = i
		default: // a bare quote or a control character
			return "", errSyntax
		}
		i = special(body, i)
	}
	out = append(out, body[start:]...)
	return unsafe.String(unsafe.SliceData(out), len(out)), nil // out is ours alone
}

// unescape decodes the escape that body begins with, a surrogate pair as one.
func unescape(body []byte) (r rune, n int, err error) {
	n = escapeLen(body)
	if n == 0 {
		return 0, 0, errSyntax
	}
	switch body[1] {
	case 'b':
		return '\b', n, nil
	case 'f':
		return '\f', n, nil
	case 'n':
		return '\n', n, nil
	case 'r':
		return '\r', n, nil
	case 't':
		return '\t', n, nil
	case 'u':
	default:
		return rune(body[1]), n, nil
	}
	r, _ = hex4(body[2:])
	if !utf16.IsSurrogate(r) {
		return r, n, nil
	}
	if rest := body[n:]; escapeLen(rest) == 6 {
		low, _ := hex4(rest[2:])
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 2 * n, nil
		}
	}
	return 0, 0, errSurrogate
}

// AppendQuote appends s to dst as a JSON string. Only what must be escaped is;
// invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	body := unsafe.Slice(unsafe.StringData(s), len(s)) // read only
	dst = append(dst, '"')
	start := 0
	for i := special(body, 0); i < len(body); i = special(body, i) {
		c := body[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(body[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, body[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, body[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, body[start:]...)
	return append(dst, '"')
}

// appendEscape appends the escape of a quote, backslash or control character.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
}
