package ignore

import (
	"bytes"
	"strings"
)

// Verdict is what rules say of a path.
type Verdict byte

const (
	Nothing Verdict = iota // no rule names it
	Ignored
	Kept  // the last rule that names it begins with "!"
	Doubt // it cannot be decided
)

// MaxSize is the most bytes of a .gitignore that is read.
const MaxSize = 64 << 10

// Rules are those of one .gitignore, in its order. They may be used concurrently.
type Rules struct {
	list []rule
}

// rule is one line.
type rule struct {
	text   string
	plain  int  // bytes before the first special character
	keeps  bool // begins with "!"
	folder bool // ends with "/"
	name   bool // has no other "/": names at any depth
	suffix bool // "*" and then nothing special
}

const special = `*?[\`

// Parse reads a .gitignore. Every text is well formed. Of one that is above MaxSize, every path is Doubt.
func Parse(text []byte) *Rules {
	if len(text) > MaxSize {
		return nil
	}
	r := &Rules{}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if end := bytes.IndexByte(line, 0); end >= 0 { // git's lines end there
			line = line[:end]
		}
		r.list = append(r.list, parse(string(trimSpaces(line))))
	}
	return r
}

// trimSpaces cuts spaces at the end that no backslash keeps.
func trimSpaces(line []byte) []byte {
	end := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = -1
	}
	if end < 0 {
		return line
	}
	return line[:end]
}

func parse(line string) rule {
	var r rule
	line, r.keeps = strings.CutPrefix(line, "!")
	whole := line
	line, r.folder = strings.CutSuffix(line, "/")
	r.name = !strings.Contains(line, "/")
	if r.plain = strings.IndexAny(line, special); r.plain < 0 {
		r.plain = len(line)
	}
	r.suffix = strings.HasPrefix(whole, "*") && !strings.ContainsAny(whole[1:], special)
	r.text = line
	return r
}

// Match says what the rules say of a path, which is slashed and relative to the folder of the .gitignore. The last rule that names it
// counts. A nil Rules has doubts.
func (r *Rules) Match(path string, folder bool) Verdict {
	if r == nil {
		return Doubt
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	m := matcher{steps: maxSteps}
	for i := len(r.list) - 1; i >= 0; i-- {
		rule := &r.list[i]
		if rule.folder && !folder {
			continue
		}
		named := false
		if rule.name {
			named = m.base(rule, base)
		} else {
			named = m.path(rule, path)
		}
		switch {
		case m.steps < 0:
			return Doubt
		case named && rule.keeps:
			return Kept
		case named:
			return Ignored
		}
	}
	return Nothing
}

// matcher bounds what all rules take for one path.
type matcher struct {
	steps int
}

const maxSteps = 200_000

func (m *matcher) base(r *rule, name string) bool {
	m.steps--
	switch {
	case r.plain == len(r.text):
		return r.text == name
	case r.suffix:
		return strings.HasSuffix(name, r.text[1:])
	default:
		return m.wild(r.text, name, false)
	}
}

// path matches a rule with a slash in it. As git does, what is before the first special character is compared and then left off, so that
// "a**" names what "**" names after an "a".
func (m *matcher) path(r *rule, path string) bool {
	m.steps--
	text, plain := r.text, r.plain
	if strings.HasPrefix(text, "/") {
		text, plain = text[1:], plain-1
	}
	if plain > 0 {
		if !strings.HasPrefix(path, text[:plain]) {
			return false
		}
		if text, path = text[plain:], path[plain:]; text == "" && path == "" {
			return true
		}
	}
	return m.wild(text, path, true)
}
