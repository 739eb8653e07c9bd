package rules

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a command line. What lies past them is not judged, hence asked.
const (
	maxLine   = 16 << 10 // bytes
	maxParts  = 512      // commands and redirections
	maxNested = 6        // command lines within command lines, by -c or eval
)

// part is one thing that a command line does.
type part struct {
	text     string   // as words, for people and for deny and ask
	also     []string // other spellings of it for deny and ask
	allow    string   // what an allow rule must match; empty: nothing has to
	unclear  string   // why it is not known what this does; empty: it is
	reads    []string // files, as words' texts
	writes   []string
	redirect bool // a redirection that writes
}

// line collects the parts of a command line.
type line struct {
	parts  []part
	nested int
	full   bool
}

// partsOf takes a command line apart.
func partsOf(command string) []part {
	l := &line{}
	switch {
	case len(command) > maxLine:
		l.unclear(cut(command), fmt.Sprintf("it is longer than %d bytes", maxLine))
	case !clean(command):
		l.unclear(cut(command), "it holds a control character")
	default:
		l.guarded(command)
	}
	return l.parts
}

// guarded reads a line. A mistake in a parser of this size must not end the
// program: what it chokes on is unclear.
func (l *line) guarded(command string) {
	defer func() {
		if r := recover(); r != nil {
			l.unclear(cut(command), fmt.Sprintf("the parser broke on it: %v", r))
		}
	}()
	l.read(command)
}

// clean refuses control characters: terminals hide them, and shells disagree
// on them.
func clean(command string) bool {
	for i := range len(command) {
		if c := command[i]; c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func (l *line) add(p part) {
	if len(l.parts) >= maxParts {
		if !l.full {
			l.full = true
			l.parts = append(l.parts, part{text: "…", unclear: fmt.Sprintf("the line has more than %d parts", maxParts)})
		}
		return
	}
	l.parts = append(l.parts, p)
}

func (l *line) unclear(text, why string) { l.add(part{text: text, unclear: why}) }

// read parses a command line. A shell runs what stands before a mistake, so
// that is judged, too.
func (l *line) read(command string) {
	if l.nested >= maxNested {
		l.unclear(cut(command), "command lines are nested too deep")
		return
	}
	l.nested++
	defer func() { l.nested-- }()
	var mistake error
	for stmt, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(command)) {
		switch {
		case err == nil:
			syntax.Walk(stmt, l.visit)
		case mistake == nil: // the parser says it again and minds a break
			mistake = err
		}
	}
	if mistake != nil {
		l.unclear(cut(command), "it cannot be parsed: "+mistake.Error())
	}
}

// visit is called with every node, those of nested commands too.
func (l *line) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		for _, r := range n.Redirs {
			l.redirect(r)
		}
		if c, ok := n.Cmd.(*syntax.CallExpr); ok {
			l.call(c, n.Redirs)
		}
	case *syntax.DeclClause:
		l.declare(n)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
			l.unclear("${…@…}", "a value may be run as a prompt")
		}
		l.arithmetic(n.Index)
	case *syntax.ArithmExp:
		l.arithmetic(n.X)
	case *syntax.ArithmCmd:
		l.arithmetic(n.X)
	case *syntax.CStyleLoop:
		l.arithmetic(n.Init)
		l.arithmetic(n.Cond)
		l.arithmetic(n.Post)
	case *syntax.LetClause:
		l.unclear("let …", "arithmetic may run commands")
	case *syntax.ExtGlob:
		l.unclear("*(…)", "a wildcard may run commands")
	case *syntax.TestDecl:
		l.unclear("@test …", "it is not known what runs this")
	}
	return true
}

// arithmetic refuses what a shell would evaluate once more: indices.
func (l *line) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		for _, p := range w.Parts {
			switch p := p.(type) {
			case *syntax.Lit:
				if !strings.ContainsAny(p.Value, "[\\`$") {
					continue
				}
			case *syntax.ParamExp:
				continue // walked by itself
			case *syntax.CmdSubst, *syntax.ArithmExp:
				continue
			}
			l.unclear("$((…))", "arithmetic may run commands")
		}
		return false
	})
}

// redirect notes a redirection: one that writes is a part of its own.
func (l *line) redirect(r *syntax.Redirect) {
	w := wordOf(r.Word)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if w.known && strings.Trim(w.value, "0123456789-") == "" {
			return
		}
	case syntax.RdrIn:
		l.add(part{text: "< " + w.text, reads: []string{w.text}})
		return
	}
	if w.known && w.value == "/dev/null" {
		return
	}
	p := part{text: r.Op.String() + " " + w.text, redirect: true, writes: []string{w.text}}
	if r.Op == syntax.RdrInOut {
		p.reads = p.writes
	}
	l.add(p)
}

// call is a simple command.
func (l *line) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	assigns := make([]word, len(c.Assigns))
	for i, a := range c.Assigns {
		assigns[i] = assignment(a)
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordOf(w)
	}
	if len(words) == 0 {
		if len(assigns) > 0 { // PATH=… changes what later commands are
			text := join(assigns)
			l.add(part{text: text, allow: text})
		}
		return
	}
	l.command(call{assigns: assigns, words: words, stdin: stdin(redirs)})
}

// assignment is name=value as a word; an array's value is not known.
func assignment(a *syntax.Assign) word {
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	switch {
	case a.Index != nil || a.Array != nil:
		return word{text: name + "=" + something.text}
	case a.Naked && a.Name == nil:
		return wordOf(a.Value)
	case a.Naked:
		return literal(name)
	case a.Append:
		name += "+"
	}
	value := wordOf(a.Value)
	return word{text: name + "=" + value.text, value: name + "=" + value.value, known: value.known}
}

// declare is export, declare, local and the like.
func (l *line) declare(n *syntax.DeclClause) {
	words := []word{literal(n.Variant.Value)}
	for _, a := range n.Args {
		words = append(words, assignment(a))
	}
	text := join(words)
	l.add(part{text: text, allow: text, unclear: subscript(words)})
}

// stdin is what a here-document or a here-string feeds to a command, and
// whether there is one.
func stdin(redirs []*syntax.Redirect) *word {
	var in *word
	for _, r := range redirs {
		var w word
		switch r.Op {
		case syntax.WordHdoc:
			w = wordOf(r.Word)
		case syntax.Hdoc, syntax.DashHdoc:
			w = heredoc(r)
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			w = something
		default:
			continue
		}
		in = &w
	}
	return in
}

// heredoc is the body of a here-document if no expansion is in it.
func heredoc(r *syntax.Redirect) word {
	if r.Hdoc == nil {
		return literal("")
	}
	lit := r.Hdoc.Lit()
	if len(r.Hdoc.Parts) > 1 || lit == "" || r.Op == syntax.DashHdoc || strings.IndexByte(lit, '\\') >= 0 {
		return something
	}
	return literal(lit)
}

// cut is a text for people that is not too long.
func cut(s string) string {
	const most = 200
	if !clean(s) || strings.ContainsAny(s, "\n\t") {
		s = strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f {
				return ' '
			}
			return c
		}, s)
	}
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
