package rules

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a shell reads a second time may run a command that nobody sees in the
// line: bash runs rm when it computes $((x)) and x is 'a[$(rm f)]'. So whatever is
// computed, or looked up by a name, has to be a number or a plain name here.

const computed = "arithmetic may run commands"

// arithmetic refuses all but numbers, and what is always one.
func (l *line) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if ok && !numeric(w.Parts) && w.Lit() != "@" && w.Lit() != "*" {
			l.unclear("$((…))", computed)
		}
		return !ok
	})
}

func numeric(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if p.Value == "" || p.Value[0] < '0' || p.Value[0] > '9' || strings.ContainsAny(p.Value, "[$`\\") {
				return false
			}
		case *syntax.DblQuoted:
			if !numeric(p.Parts) {
				return false
			}
		case *syntax.ParamExp:
			if name := p.Param.Value; !p.Length && (!p.Short || name != "#" && name != "?" && name != "$" && name != "!") {
				return false
			}
		case *syntax.ArithmExp: // looked at by itself
		default:
			return false
		}
	}
	return true
}

// parameter is an expansion of a variable.
func (l *line) parameter(p *syntax.ParamExp) {
	switch {
	case p.Exp == nil:
	case p.Exp.Op == syntax.OtherParamOps:
		l.unclear("${…@…}", "a value may be run as a prompt")
	case p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull:
		l.sets(p.Param.Value)
	}
	if all, _ := p.Index.(*syntax.Word); p.Excl && p.Names == 0 && (all == nil || all.Lit() != "@" && all.Lit() != "*") {
		l.unclear("${!…}", "the value of a variable is looked up as a name, which may run commands")
	}
	l.arithmetic(p.Index)
	if p.Slice != nil {
		l.arithmetic(p.Slice.Offset)
		l.arithmetic(p.Slice.Length)
	}
}

// comparison computes both sides of -eq and its like in [[ ]].
func (l *line) comparison(t *syntax.BinaryTest) {
	switch t.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{t.X, t.Y} {
			if w, ok := side.(*syntax.Word); !ok || !numeric(w.Parts) && !negative(w) {
				l.unclear("[[ … ]]", computed)
			}
		}
	}
}

func negative(w *syntax.Word) bool {
	rest, minus := strings.CutPrefix(w.Lit(), "-")
	return minus && rest != "" && strings.Trim(rest, "0123456789") == ""
}

// question looks a name up: -v and -R in [[ ]].
func (l *line) question(t *syntax.UnaryTest) {
	if t.Op != syntax.TsVarSet && t.Op != syntax.TsRefVar {
		return
	}
	if w, ok := t.X.(*syntax.Word); !ok || indexed(wordOf(w)) {
		l.unclear("[[ -v … ]]", index)
	}
}

const index = "an index may be run as a command"

// indexed reports whether a word that names a variable may hold an index.
func indexed(w word) bool { return !w.known || strings.IndexByte(w.text, '[') >= 0 }

// looksUp says why a builtin that is told names of variables is unclear: in
// `read 'a[$(rm x)]'` the shell runs rm.
func (l *line) looksUp(program string, words []word) string {
	after := func(options ...string) string {
		for i, w := range words[1:] {
			for _, o := range options {
				if rest, ok := strings.CutPrefix(w.text, o); ok && rest == "" && i+2 < len(words) && indexed(words[i+2]) || ok && rest != "" && strings.IndexByte(rest, '[') >= 0 {
					return index
				}
			}
		}
		return ""
	}
	switch program {
	case "git":
		return configured(words)
	case "let":
		return computed
	case "printf":
		if len(words) > 2 && words[1].text == "-v" {
			l.sets(words[2].text)
		}
		return after("-v")
	case "wait":
		return after("-p")
	case "test", "[":
		for _, w := range words[1:] {
			if strings.IndexByte(w.text, '[') >= 0 && strings.ContainsAny(w.text, "$`") {
				return index
			}
		}
		return after("-v", "-R")
	case "read", "unset", "getopts":
		for _, w := range words[1:] {
			if indexed(w) {
				return index
			}
			if program != "unset" && !strings.HasPrefix(w.text, "-") {
				l.sets(w.text)
			}
		}
	case "export", "declare", "local", "readonly", "typeset", "integer", "float":
		return declared(words)
	}
	return ""
}

// declared says why a declaration is unclear: what it is told may be computed.
func declared(words []word) string {
	options := words[0].text == "integer" || words[0].text == "float"
	for _, w := range words[1:] {
		if text := w.text; len(text) > 1 && (text[0] == '-' || text[0] == '+') {
			options = true
			if strings.ContainsAny(text, "inEF") { // numbers, and names of others
				return computed
			}
		}
	}
	for _, w := range words[1:] {
		name, value, has := strings.Cut(w.text, "=")
		switch {
		case strings.IndexByte(name, unknown) >= 0, strings.IndexByte(name, '[') >= 0:
			return index
		case has && options && (!w.known || strings.ContainsAny(value, "[$`")): // an array, spelt in a text
			return index
		}
	}
	return ""
}
