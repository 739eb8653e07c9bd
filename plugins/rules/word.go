package rules

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command as far as it can be known without a shell.
type word struct {
	text   string // to compare: gap for white space, unknown for what is not known
	value  string // what it is, if known
	known  bool
	splits bool   // the shell may make several words of it
	file   string // if it is not known: value with wild, unknown and ~
}

// opens reports whether a word may become several of any text. Names of files by
// a wildcard all begin and end as it does.
func (w word) opens() bool { return w.splits && strings.IndexByte(w.file, unknown) >= 0 }

// path is the file that a word names, with wild and unknown in it.
func (w word) path() string {
	if w.known {
		return w.value
	}
	return w.file
}

func literal(value string) word {
	return word{text: blank.Replace(value), value: value, known: true}
}

// something is a word, or several, that nobody knows before the line runs.
var something = word{text: string(rune(unknown)), splits: true, file: string(rune(unknown))}

// What a word may hold while it is read, besides unknown.
const (
	wild = '\x04' // some text without a slash
	home = '\x05' // $HOME where a word begins
	here = '\x06' // $PWD where a word begins
	pipe = '\x07' // <(…)
)

var (
	blank  = strings.NewReplacer(" ", "\x01", "\t", "\x01", "\n", "\x01", "\x04", "\x03", "\x05", "\x03", "\x06", "\x03", "\x07", "\x03")
	places = strings.NewReplacer("\x05", "~", "\x06", ".", "\x07", "/dev/fd/")
)

// wordOf evaluates quotes and escapes. Expansions are unknown, names of files
// by wildcards and braces too.
func wordOf(w *syntax.Word) word {
	if w == nil {
		return literal("")
	}
	if lit := w.Lit(); lit == "[" { // a command
		return literal(lit)
	}
	var r reader
	r.parts(w.Parts, false)
	value := r.b.String()
	if !r.unknown {
		return literal(value)
	}
	return word{text: blank.Replace(value), splits: r.splits, file: places.Replace(value)}
}

// reader collects a word's value.
type reader struct {
	b       strings.Builder
	unknown bool
	splits  bool
	lost    bool // the rest cannot be told apart
}

func (r *reader) hole(mark byte) {
	if !r.lost {
		r.b.WriteByte(mark)
	}
	r.unknown = true
}

// expansion is what only the shell knows.
func (r *reader) expansion(part syntax.WordPart, quoted bool) {
	if _, ok := part.(*syntax.ProcSubst); ok {
		r.hole(pipe)
		return
	}
	mark := byte(unknown)
	p, param := part.(*syntax.ParamExp)
	if param && r.b.Len() == 0 && (p.Short || p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && !p.Excl && !p.Length) {
		switch p.Param.Value {
		case "HOME":
			mark = home
		case "PWD":
			mark = here
		}
	}
	r.splits = r.splits || !quoted || param && (p.Param.Value == "@" || p.Index != nil || p.Excl)
	r.hole(mark)
}

func (r *reader) parts(parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		if r.lost {
			return
		}
		switch part := part.(type) {
		case *syntax.Lit:
			if quoted {
				r.quoted(part.Value, i+1 == len(parts))
			} else {
				r.bare(part.Value, i+1 == len(parts))
			}
		case *syntax.SglQuoted:
			if part.Dollar && strings.IndexByte(part.Value, '\\') >= 0 {
				r.hole(unknown)
			} else {
				r.b.WriteString(part.Value)
			}
		case *syntax.DblQuoted:
			if part.Dollar { // translated by a catalogue
				r.hole(unknown)
			} else {
				r.parts(part.Parts, true)
			}
		default:
			r.expansion(part, quoted)
		}
	}
}

// bare is text outside of quotes; last: nothing of the word is after it.
func (r *reader) bare(s string, last bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				r.b.WriteByte('\\')
			} else if s[i] != '\n' {
				r.b.WriteByte(s[i])
			}
		case '*', '?':
			r.hole(wild)
			r.splits = true
		case '[', '{': // where it ends may be in a later part
			if strings.HasPrefix(s[i:], "{}") { // the place of find and xargs is no brace expansion
				r.b.WriteString("{}")
				i++
				continue
			}
			if rest := s[i:]; c == '{' && last && strings.IndexByte(rest, '}') > 0 && !strings.Contains(rest, ",") && !strings.Contains(rest, "..") { // HEAD@{1}
				r.b.WriteByte(c)
				continue
			}
			r.hole(unknown)
			r.splits, r.lost = true, true
			return
		case '$':
			if zshFlag(s[i+1:], last) {
				r.hole(unknown)
				r.splits = true
			} else {
				r.b.WriteByte(c)
			}
		default:
			r.b.WriteByte(c)
		}
	}
}

// zshFlag reports whether zsh takes a $ before rest for an expansion: $=x is x in
// several words.
func zshFlag(rest string, last bool) bool {
	return rest == "" && !last || rest != "" && strings.IndexByte("=~^+", rest[0]) >= 0
}

// quoted is text inside of double quotes.
func (r *reader) quoted(s string, last bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		} else if s[i] == '$' && zshFlag(s[i+1:], last) {
			r.hole(unknown)
			r.splits = true
			continue
		}
		r.b.WriteByte(s[i])
	}
}

// join is words as a command's text.
func join(words []word) string {
	n := 0
	for _, w := range words {
		n += len(w.text) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// values are the values of words, false if one of them is not known.
func values(words []word) ([]string, bool) {
	all := make([]string, len(words))
	for i, w := range words {
		if !w.known {
			return nil, false
		}
		all[i] = w.value
	}
	return all, true
}

// shown is a text for people.
func shown(text string) string { return spoken.Replace(text) }

var spoken = strings.NewReplacer("\x01", " ", "\x03", "…", "\x04", "*")
