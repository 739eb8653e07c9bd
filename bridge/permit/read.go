package permit

import (
	"bytes"

	"sallyport/bridge/rpc"
)

// null reports whether a member says nothing: absent or null. ACP lets an
// agent write null for "not said"; an empty array or text is said.
func null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// str is the text of a JSON string. What is no string is empty. A string that
// is no text (a lone surrogate) is given as it is written, without its quotes,
// so that it is still seen and still refused.
func str(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	s, err := rpc.Unquote(value)
	if err != nil {
		return string(value[1 : len(value)-1])
	}
	return s
}

// textMember is the text of an object's last member called name.
func textMember(object []byte, name string) string {
	value, ok := rpc.Member(object, name)
	if !ok {
		return ""
	}
	return str(value)
}

// EachElement calls fn with each element of a JSON array; other values have
// none. The array is valid JSON, as every part of a message is.
func EachElement(array []byte, fn func(element []byte)) {
	array = bytes.TrimSpace(array)
	if len(array) < 2 || array[0] != '[' {
		return
	}
	depth, start := 0, -1
	for i := 1; i < len(array); i++ {
		switch array[i] {
		case '"':
			if start < 0 {
				start = i
			}
			if i = stringEnd(array, i); i < 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}':
			depth--
		case ']':
			if depth--; depth < 0 {
				if start >= 0 {
					fn(bytes.TrimSpace(array[start:i]))
				}
				return
			}
		case ',':
			if depth == 0 {
				if start >= 0 {
					fn(bytes.TrimSpace(array[start:i]))
				}
				start = -1
				continue
			}
		case ' ', '\t', '\r', '\n':
			continue
		}
		if start < 0 {
			start = i
		}
	}
}

// stringEnd is the index of the quote that closes the string at array[i], -1 if
// none does. A quote closes it unless an odd number of backslashes precedes.
func stringEnd(array []byte, i int) int {
	for at := i + 1; ; {
		n := bytes.IndexByte(array[at:], '"')
		if n < 0 {
			return -1
		}
		end, slashes := at+n, 0
		for end-slashes > i+1 && array[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		at = end + 1
	}
}
