package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a command line. What lies past them is not judged, hence asked.
const (
	maxLine    = 16 << 10 // bytes
	maxParts   = 512      // commands and redirections
	maxNested  = 6        // command lines within command lines, by -c or eval
	maxWrapped = 16       // commands within commands
)

// part is one thing that a command line does.
type part struct {
	text    string     // as words, for people and for deny and ask
	program string     // of a command, as its name is compared
	also    []spelling // for deny and ask
	allow   string     // what an allow rule must match; empty: nothing has to
	limit   limit      // which allow rules count
	unclear string     // why it is not known what this does; empty: it is
	moves   string     // the folder that it changes to, as a word's path; empty: none
	touched
}

// touched are the files that a part reads and writes, as words' paths.
type touched struct {
	reads, writes []string
	redirect      bool // it is a redirection that writes
	whole         bool // a folder stands for all that is in it
}

// limit is what an allow rule has to spell for a part of which a rule's writer
// may not think: a rule of find is not meant for find -exec.
type limit struct {
	reach int    // so many bytes of the text, without a wildcard
	exact string // if not empty all of it, and why
}

// line collects the parts of a command line.
type line struct {
	parts   []part
	nested  int
	full    bool
	repeats bool // something in it may run more than once
}

// partsOf takes a command line apart.
func partsOf(command string) []part {
	l := &line{}
	switch {
	case len(command) > maxLine:
		l.unclear(cut(command), fmt.Sprintf("it is longer than %d bytes", maxLine))
	case !clean(command):
		l.unclear(cut(command), "it holds a character that cannot be seen")
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

// clean refuses control characters, which terminals hide and shells disagree on,
// characters that hide or turn the text that a person sees, and what is no text.
func clean(command string) bool {
	for i, c := range command {
		switch {
		case c == '\n' || c == '\t':
		case c < ' ' || 0x7f <= c && c <= 0x9f:
			return false
		case c < 0x7f:
		case c == utf8.RuneError && !strings.HasPrefix(command[i:], "\ufffd"):
			return false
		case c == '\u2028', c == '\u2029', unicode.Is(unicode.Cf, c) && c != '\u200d': // which joins emoji
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
	case *syntax.SglQuoted:
		if end := strings.TrimRight(n.Value, `\`); !n.Dollar && (len(n.Value)-len(end))%2 == 1 { // fish escapes the quote
			l.unclear(cut("'"+n.Value+"'"), "shells do not agree where this text ends")
		}
	case *syntax.ParamExp:
		l.parameter(n)
	case *syntax.ArithmExp:
		l.arithmetic(n.X)
	case *syntax.ArithmCmd:
		l.arithmetic(n.X)
	case *syntax.CStyleLoop:
		l.arithmetic(n.Init)
		l.arithmetic(n.Cond)
		l.arithmetic(n.Post)
	case *syntax.ArrayElem:
		l.arithmetic(n.Index)
	case *syntax.BinaryTest:
		l.comparison(n)
	case *syntax.UnaryTest:
		l.question(n)
	case *syntax.ForClause, *syntax.WhileClause, *syntax.FuncDecl:
		l.repeats = true
	case *syntax.WordIter:
		l.sets(n.Name.Value)
	case *syntax.CoprocClause:
		if n.Name != nil {
			l.sets(wordOf(n.Name).text)
		}
	case *syntax.LetClause:
		l.unclear("let …", "arithmetic may run commands")
	case *syntax.ExtGlob:
		l.unclear("*(…)", "a wildcard may run commands")
	case *syntax.TestDecl:
		l.unclear("@test …", "it is not known what runs this")
	}
	return true
}

// redirect notes a redirection: one that writes is a part of its own.
func (l *line) redirect(r *syntax.Redirect) {
	if r.N != nil && r.N.Value[0] == '{' {
		l.sets(strings.Trim(r.N.Value, "{}"))
	}
	w := wordOf(r.Word)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if w.known && strings.Trim(w.value, "0123456789-") == "" {
			return
		}
	}
	p := part{text: r.Op.String() + " " + w.text}
	if strings.HasPrefix(w.value, "/dev/tcp/") || strings.HasPrefix(w.value, "/dev/udp/") {
		p.unclear = "the shell opens a connection"
	}
	switch {
	case r.Op == syntax.RdrIn:
		p.reads = []string{w.path()}
	case w.known && w.value == "/dev/null":
		return
	default:
		p.redirect, p.writes = true, []string{w.path()}
		if r.Op == syntax.RdrInOut {
			p.reads = p.writes
		}
	}
	l.add(p)
}

// call is a simple command.
func (l *line) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	assigns := make([]word, len(c.Assigns))
	for i, a := range c.Assigns {
		assigns[i] = assignment(a)
		l.arithmetic(a.Index)
	}
	l.handed(assigns)
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
		l.arithmetic(a.Index)
	}
	l.handed(words[1:])
	text := join(words)
	l.add(part{text: text, allow: text, unclear: declared(words)})
}

// stdin is what a here-document or a here-string feeds to a command, and
// whether there is one.
func stdin(redirs []*syntax.Redirect) *word {
	var in *word
	for _, r := range redirs {
		w := something
		switch {
		case r.N != nil && r.N.Value != "0":
			continue // not its standard input
		case r.Op == syntax.WordHdoc:
			w = wordOf(r.Word)
		case r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc:
			w = heredoc(r)
		case r.N == nil && r.Op != syntax.RdrIn && r.Op != syntax.RdrInOut && r.Op != syntax.DplIn:
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
			if c == '\n' || c == '\t' || !clean(string(c)) {
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
