package ignore

import "strings"

// outcome of a match. The last two tell callers further up that trying again further right cannot help.
type outcome byte

const (
	matched outcome = iota
	differs
	over       // the text is at its end
	overInPart // a "*" met a slash: only a "**" may go on
)

// wild is git's wildmatch: "*" and "?" stop at slashes when paths is true, and then "**" between slashes does not.
func (m *matcher) wild(pattern, text string, paths bool) bool {
	return m.match(pattern, 0, text, paths) == matched
}

// at is a byte of a string, 0 past its end: no pattern, name or path has that byte.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// match matches what pattern has from p on. Stars look back at what is before, but not before p.
func (m *matcher) match(pattern string, p int, text string, paths bool) outcome {
	start := p
	for ; p < len(pattern); p++ {
		if m.steps--; m.steps < 0 {
			return over
		}
		c := pattern[p]
		if text == "" && c != '*' {
			return over
		}
		switch c {
		case '*':
			return m.star(pattern, start, p, text, paths)
		case '?':
			if paths && text[0] == '/' {
				return differs
			}
		case '[':
			end, in := m.set(pattern, p+1, text[0])
			if end < 0 {
				return over
			}
			if !in || paths && text[0] == '/' {
				return differs
			}
			p = end
		case '\\':
			p++
			c = at(pattern, p)
			fallthrough
		default:
			if text[0] != c {
				return differs
			}
		}
		text = text[1:]
	}
	if text != "" {
		return differs
	}
	return matched
}

// star goes on at a star of the pattern, at p.
func (m *matcher) star(pattern string, start, p int, text string, paths bool) outcome {
	slashes := !paths
	first := p
	for p++; at(pattern, p) == '*'; p++ {
	}
	rest := pattern[min(p, len(pattern)):]
	if paths && p-first > 1 && (first == start || pattern[first-1] == '/') && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
		if strings.HasPrefix(rest, "/") && m.match(pattern, p+1, text, paths) == matched {
			return matched // "**/" that stands for nothing
		}
		slashes = true
	}
	if rest == "" {
		if !slashes && strings.Contains(text, "/") {
			return overInPart
		}
		return matched
	}
	if !slashes && rest[0] == '/' { // one star and a slash: the next name
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return over
		}
		return m.match(pattern, p+1, text[i+1:], paths)
	}
	return m.further(pattern, p, text, paths, slashes)
}

// further tries what follows a star at each place of the text.
func (m *matcher) further(pattern string, p int, text string, paths, slashes bool) outcome {
	for ; text != ""; text = text[1:] {
		if m.steps--; m.steps < 0 {
			return over
		}
		if c := pattern[p]; !strings.ContainsRune(special, rune(c)) {
			i := strings.IndexByte(text, c)
			if slash := strings.IndexByte(text, '/'); !slashes && slash >= 0 && (i < 0 || slash < i) {
				return overInPart
			}
			if i < 0 {
				return over
			}
			text = text[i:]
		}
		switch o := m.match(pattern, p, text, paths); {
		case o == differs:
			if !slashes && text[0] == '/' {
				return overInPart
			}
		case !slashes || o != overInPart:
			return o
		}
	}
	return over
}

// set reads a bracket expression from p on, after the "[", and says where it ends, -1 if nowhere, and whether c is in it.
func (m *matcher) set(pattern string, p int, c byte) (end int, in bool) {
	negated := at(pattern, p) == '!' || at(pattern, p) == '^'
	if negated {
		p++
	}
	previous := byte(0)
	for first := true; first || at(pattern, p) != ']'; p++ {
		first = false
		m.steps--
		s := at(pattern, p)
		switch {
		case s == 0:
			return -1, false
		case s == '\\':
			if p++; at(pattern, p) == 0 {
				return -1, false
			}
			s = pattern[p]
			in = in || c == s
		case s == '-' && previous != 0 && at(pattern, p+1) != 0 && pattern[p+1] != ']':
			if p++; pattern[p] == '\\' {
				if p++; at(pattern, p) == 0 {
					return -1, false
				}
			}
			in = in || previous <= c && c <= pattern[p]
			s = 0 // the end of a range begins none
		case s == '[' && at(pattern, p+1) == ':':
			length := strings.IndexByte(pattern[p+2:], ']')
			if length < 0 {
				return -1, false
			}
			if length < 1 || pattern[p+2+length-1] != ':' {
				in = in || c == '[' // no class after all
				break
			}
			class, ok := classes[pattern[p+2:p+2+length-1]]
			if !ok {
				return -1, false
			}
			in = in || class(c)
			p += 2 + length
			s = 0
		default:
			in = in || c == s
		}
		previous = s
	}
	return p, in != negated
}

var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"alpha":  letter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < 0x20 || c == 0x7f },
	"digit":  digit,
	"graph":  func(c byte) bool { return 0x20 < c && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return 0x20 <= c && c < 0x7f },
	"punct":  func(c byte) bool { return 0x20 < c && c < 0x7f && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' },
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
