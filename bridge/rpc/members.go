package rpc

import (
	"bytes"
	"cmp"
	"fmt"
)

// Members calls fn for each member of the JSON object raw, in the order of the
// wire, with the key unquoted and the value as it stands; both are borrowed. It
// stops when fn returns false.
//
// It is made for the parts of a Message, which are valid: strings are skipped
// by their quotes and nothing else is checked, so that a large text costs
// hardly more than finding its end. On other input it returns an error or odd
// members, and never panics.
//
// A name that occurs twice is reported twice. The last one counts, as in
// JavaScript, Python and Go: whoever looks for one name must not stop at the
// first, or take Member, which does it right.
func Members(raw []byte, fn func(key, value []byte) bool) error {
	var bad error
	err := eachMember(raw, func(key, value []byte) bool {
		body, err := unquoteKey(key)
		if err != nil {
			bad = err
			return false
		}
		return fn(body, value)
	}, nil)
	if bad != nil {
		return bad
	}
	return err
}

// unquoteKey is a member's name, borrowed where it has no escapes.
func unquoteKey(key []byte) ([]byte, error) {
	body := key[1 : len(key)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return body, nil
	}
	s, err := Unquote(key)
	if err != nil {
		return nil, fmt.Errorf("reading a member's name: %w", err)
	}
	return []byte(s), nil
}

// Member returns the value of the last member of the object raw that is called
// name, borrowed, and whether there is one. Malformed input has none.
func Member(raw []byte, name string) (value []byte, ok bool) {
	err := Members(raw, func(key, v []byte) bool {
		if string(key) == name {
			value, ok = v, true
		}
		return true
	})
	if err != nil {
		return nil, false
	}
	return value, ok
}

// WithoutMember is the object raw without its members called name, in the order of
// the wire. raw itself where it has none.
func WithoutMember(raw []byte, name string) ([]byte, error) {
	if _, there := Member(raw, name); !there {
		return raw, nil
	}
	out := []byte{'{'}
	var bad error
	err := eachMember(raw, func(key, value []byte) bool {
		body, err := unquoteKey(key)
		if err != nil {
			bad = err
			return false
		}
		if string(body) == name {
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
		return true
	}, nil)
	if err := cmp.Or(bad, err); err != nil {
		return nil, fmt.Errorf("leaving out member %s: %w", name, err)
	}
	return append(out, '}'), nil
}

// eachMember calls fn with each quoted key and value. If the object ends within
// a value, *cut is set to that value's key.
func eachMember(raw []byte, fn func(key, value []byte) bool, cut *[]byte) error {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return errSyntax
	}
	i = skipSpace(raw, i+1)
	if i < len(raw) && raw[i] == '}' {
		return nil
	}
	for i < len(raw) && raw[i] == '"' {
		keyEnd := skipString(raw, i)
		if keyEnd < 0 {
			return errSyntax
		}
		key := raw[i:keyEnd]
		i = skipSpace(raw, keyEnd)
		if i == len(raw) || raw[i] != ':' {
			return errSyntax
		}
		i = skipSpace(raw, i+1)
		end := skipValue(raw, i)
		if end < 0 {
			if cut != nil {
				*cut = key
			}
			return errSyntax
		}
		if !fn(key, raw[i:end]) {
			return nil
		}
		i = skipSpace(raw, end)
		if i < len(raw) && raw[i] == '}' {
			return nil
		}
		if i == len(raw) || raw[i] != ',' {
			return errSyntax
		}
		i = skipSpace(raw, i+1)
	}
	return errSyntax
}

// eachElement calls fn with each element of the array raw, which is valid.
func eachElement(raw []byte, fn func(element []byte)) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return
	}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != ']'; {
		end := skipValue(raw, i)
		if end < 0 {
			return
		}
		fn(raw[i:end])
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
}

// skipString returns the index after the string whose opening quote is raw[i],
// -1 if it does not end. A quote ends a string unless an odd number of
// backslashes stands before it.
func skipString(raw []byte, i int) int {
	start := i + 1
	for at := start; ; {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return -1
		}
		end := at + n
		slashes := 0
		for end-slashes > start && raw[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		at = end + 1
	}
}

// skipValue returns the index after the value at raw[i], -1 if it does not end.
func skipValue(raw []byte, i int) int {
	if i >= len(raw) {
		return -1
	}
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		return skipContainer(raw, i)
	}
	start := i
	for ; i < len(raw); i++ {
		switch raw[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			if i == start {
				return -1
			}
			return i
		}
	}
	return -1
}

func skipContainer(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			if i = skipString(raw, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
