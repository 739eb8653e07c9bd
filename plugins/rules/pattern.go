package rules

import (
	"strings"
)

// Commands are compared as text: words joined by spaces, quotes removed. Bytes
// that no command line may hold (see clean) stand for what a text cannot say.
const (
	gap     = '\x01' // white space inside of a word
	star    = '\x02' // in a pattern: any text
	unknown = '\x03' // in a command: some text that only the shell knows, spaces too
)

// pattern is the specifier of a Bash rule.
type pattern struct {
	text string // with star and gap
	tail string // text with a space and a star after it, if these may follow; empty: they may not
	need string // a piece of text that nothing without it matches; may be empty
}

// patternOf reads a specifier. A trailing `:*` or ` *` begins at a word's
// border and may be absent; `*` elsewhere stands for any text; `\*` is a star.
// Quotes group words as in a shell and are removed.
func patternOf(spec string) pattern {
	var p pattern
	spec, tail := strings.CutSuffix(spec, ":*")
	if !tail {
		spec, tail = strings.CutSuffix(spec, " *")
	}
	quotes := strings.Count(spec, `"`)%2 == 0 && strings.Count(spec, `'`)%2 == 0
	var b strings.Builder
	var quote byte
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case c == '\\' && i+1 < len(spec) && strings.IndexByte(`*\"'`, spec[i+1]) >= 0:
			i++
			b.WriteByte(spec[i])
		case quotes && quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && c == ' ':
			b.WriteByte(gap)
		case c == ' ' && i > 0 && spec[i-1] == ' ':
			// one space separates words
		case c == '*':
			b.WriteByte(star)
		default:
			b.WriteByte(c)
		}
	}
	p.text = strings.TrimRight(b.String(), " ")
	if tail {
		p.tail = p.text + " \x02"
	}
	for _, piece := range strings.FieldsFunc(p.text, func(c rune) bool { return c == star || c == gap || c == ' ' }) {
		if len(piece) > len(p.need) {
			p.need = piece
		}
	}
	return p
}

// head is the command word that a text must have to match, empty if any may.
func (p pattern) head() string {
	head, _, _ := strings.Cut(p.text, " ")
	if strings.IndexByte(head, star) >= 0 {
		return ""
	}
	return head
}

// spells reports whether the pattern spells what a part's limit wants to have
// spelt.
func (p pattern) spells(l limit) bool {
	fixed := strings.IndexByte(p.text, star)
	if fixed < 0 {
		fixed = len(p.text)
	}
	return fixed >= l.reach && (l.exact == "" || fixed == len(p.text) && p.tail == "")
}

// matches reports whether every command that text can stand for matches. With
// loose a space in the pattern also matches white space inside of a word: a
// rule that forbids sees through quotes, one that allows does not.
func (p pattern) matches(text string, loose bool) bool {
	if p.text != "" && p.text[0] == star && !strings.Contains(text, p.need) {
		return false // quickly
	}
	return glob(p.text, text, loose) || p.tail != "" && glob(p.tail, text, loose)
}

// glob matches with backtracking to the last star only, which is enough.
func glob(p, t string, loose bool) bool {
	pi, ti, back, mark := 0, 0, -1, 0
	for ti < len(t) {
		switch {
		case pi < len(p) && p[pi] == star:
			back, mark = pi, ti
			pi++
		case pi < len(p) && same(p[pi], t[ti], loose):
			pi++
			ti++
		case back >= 0:
			mark++
			pi, ti = back+1, mark
		default:
			return false
		}
	}
	for pi < len(p) && p[pi] == star {
		pi++
	}
	return pi == len(p)
}

func same(p, t byte, loose bool) bool {
	return p == t && t != unknown || loose && (p == ' ' || p == gap) && (t == ' ' || t == gap)
}

// might reports whether some command that an open text can stand for may match.
// It never says no to what could match; of a text with several unknown parts it
// does not look at the middle.
func (p pattern) might(open string) bool {
	return overlap(p.text, open) || p.tail != "" && overlap(p.tail, open)
}

// opened is a text to ask might about, empty if all of it is known. A word that
// is unknown may also be no word at all.
func opened(text string) string {
	if strings.IndexByte(text, unknown) < 0 {
		return ""
	}
	return strings.ReplaceAll(text, " \x03", "\x03")
}

// overlap compares what stands before the first and after the last part that
// either side leaves open. The text has an unknown part.
func overlap(p, t string) bool {
	for ; t[0] != unknown; p, t = p[1:], t[1:] {
		if p == "" {
			return false
		}
		if p[0] == star {
			break
		}
		if !same(p[0], t[0], true) {
			return false
		}
	}
	for ; t[len(t)-1] != unknown; p, t = p[:len(p)-1], t[:len(t)-1] {
		if p == "" {
			return false
		}
		if p[len(p)-1] == star {
			break
		}
		if !same(p[len(p)-1], t[len(t)-1], true) {
			return false
		}
	}
	return true
}
