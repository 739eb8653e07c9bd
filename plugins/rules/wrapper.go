package rules

import (
	"regexp"
	"slices"
	"strings"
)

// wrapper is a program whose last arguments are the command that it runs.
type wrapper struct {
	flags    string   // letters of options without a value
	values   string   // letters of options with one
	long     []string // long options whose value is the next word
	operands int      // words between options and command
	assigns  bool     // name=value may stand there too
	kind     kind
	shell    bool // a shell reads the command, its words joined
}

// kind is what a wrapper means for rules that allow.
type kind int

const (
	named   kind = iota // the rule has to name the command in it
	neutral             // it changes nothing: the rule is about the command in it
	runner              // a rule of it covers whatever it runs: Claude Code has it so
	exact               // only a rule without wildcards covers it
)

// wrapperOf is the wrapper that a command is, and its words with the wrapper's
// name as the first.
func wrapperOf(program string, words []word) (w wrapper, from []word, ok bool) {
	if w, ok = wrappers[program]; ok {
		return w, words, true
	}
	if strings.HasPrefix(program, "ld-linux") || strings.HasPrefix(program, "ld-musl") || program == "ld.so" { // it runs any program
		return wrapper{kind: exact}, words, true
	}
	if program == "git" {
		words, _ = gitWords(words)
	} else if !subcommanded[program] {
		return wrapper{}, nil, false
	}
	options := false
	for i := 1; i < len(words) && i < 8; i++ {
		if strings.HasPrefix(words[i].text, "-") {
			options = true
			continue
		}
		name := program + " " + words[i].text
		if w, ok = wrappers[name]; ok {
			return w, words[i:], true
		}
		for k := i + 1; k < len(words); k++ {
			if strings.HasPrefix(words[k].text, "-") {
				continue
			}
			if w, ok = wrappers[name+" "+words[k].text]; ok {
				return w, words[k:], true
			}
			break
		}
		if !options { // what stands after an option may be its value
			break
		}
	}
	return wrapper{}, nil, false
}

// subcommanded are the programs of which only subcommands are wrappers.
var subcommanded = func() map[string]bool {
	all := map[string]bool{}
	for name := range wrappers {
		if program, _, ok := strings.Cut(name, " "); ok {
			all[program] = true
		}
	}
	return all
}()

// wrapped adds a wrapper and the command in it. words are those of c from the
// wrapper's own name on.
func (l *line) wrapped(c call, p part, w wrapper, words []word) {
	inner, why := w.unwrap(words)
	switch {
	case why != "" && w.kind == runner:
		for i := range words[1:min(len(words), 17)] { // any of them may begin the command
			p.also = append(p.also, spelling{join(words[i+1:]), false})
		}
	case why != "":
		p.unclear = why
	case len(inner) == 0 && len(words) > 1 && (p.program == "sudo" || p.program == "doas"):
		p.unclear = "it starts a shell whose commands are not known"
	}
	if p.program == "command" && len(words) > 1 && strings.HasPrefix(words[1].text, "-") && strings.ContainsAny(words[1].text, "vV") {
		inner = nil // it only says where the program is
	}
	p.limited(c, w, inner)
	if p.program == "env" || p.program == "sudo" {
		p.moves = folderOf(words[:len(words)-len(inner)])
	}
	if w.assigns {
		l.handed(words[1 : len(words)-len(inner)])
	}
	if w.kind == exact || w.kind == runner {
		l.strings(words)
	}
	l.add(p)
	switch {
	case len(inner) == 0:
	case w.shell:
		text, ok := values(inner)
		if !ok {
			l.unclear(join(inner), unknownCommands)
			return
		}
		l.nest(strings.Join(text, " "), true)
	default:
		l.command(c.within(inner, c.covered || p.allow != ""))
		if i := slices.IndexFunc(inner, func(w word) bool { return w.text == "--" }); w.kind == runner && i >= 0 && i+1 < len(inner) {
			l.command(c.within(inner[i+1:], true)) // mise exec node@20 -- ls
		}
	}
}

// limited notes which allow rules count for a wrapper of inner.
func (p *part) limited(c call, w wrapper, inner []word) {
	switch {
	case w.kind == exact:
		p.limit.exact = "it runs its arguments, which only a rule without wildcards covers"
		if c.stdin != nil {
			p.unclear = unknownCommands
		}
	case w.kind == runner || len(inner) == 0:
	case w.kind == neutral && len(c.assigns) == 0 && c.words[0].value == p.program: // not some other program of that name
		p.allow = ""
	default:
		p.limit.reach = len(p.text)
		if rest := beyond(inner); len(rest) > 0 {
			p.limit.reach -= len(join(rest)) + 1
		}
	}
}

// strings adds the command lines that a wrapper is given by -c.
func (l *line) strings(words []word) {
	for i, w := range words[1:] {
		switch w.text {
		case "-c", "--command", "-Command", "/c", "/C", "--call", "--run", "--exec":
			if i+2 < len(words) && words[i+2].known {
				l.nest(words[i+2].value, true)
			}
		}
	}
}

// beyond are the words of a command in a wrapper after the program that it runs
// in the end; none where that is not told by a name.
func beyond(words []word) []word {
	for {
		c := call{words: words}
		if !plainProgram(words[0]) {
			return nil
		}
		program := c.program()
		w, from, ok := wrapperOf(program, words)
		if !ok {
			if isShell(program) || program == "find" || program == "xargs" || program == "eval" {
				return nil
			}
			return words[1:]
		}
		inner, why := w.unwrap(from)
		if why != "" || len(inner) == 0 {
			return nil
		}
		words = inner
	}
}

var assigning = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// unwrap finds the command in a wrapper's words, or says why it cannot.
func (w wrapper) unwrap(words []word) (inner []word, why string) {
	i := 1
	for ; i < len(words); i++ {
		text := words[i].text
		if strings.HasPrefix(text, "-") && !words[i].known {
			return nil, "its options are not known"
		}
		if text == "--" {
			i++
			break
		}
		if !strings.HasPrefix(text, "-") {
			break
		}
		takes, ok := w.option(text)
		if !ok {
			return nil, "its option " + shown(text) + " is not known here"
		}
		if takes {
			i++
			if i < len(words) && words[i].splits {
				return nil, "the value of its option is not known"
			}
		}
	}
	for n := 0; n < w.operands && i < len(words); n++ {
		if words[i].splits {
			return nil, "it is not known where its command begins"
		}
		i++
	}
	for w.assigns && i < len(words) && assigning.MatchString(words[i].text) {
		if words[i].splits {
			return nil, "it is not known where its command begins"
		}
		i++
	}
	if i < len(words) && words[i].text == "--" && w.operands > 0 { // docker exec c -- ls
		i++
	}
	if i >= len(words) {
		return nil, ""
	}
	return words[i:], ""
}

// option says whether the next word is the option's value; false if the option
// is not listed.
func (w wrapper) option(text string) (takes, ok bool) {
	if text == "-" {
		return false, w.assigns // env's own spelling of -i
	}
	if strings.HasPrefix(text, "--") {
		name, _, has := strings.Cut(text, "=")
		for _, long := range w.long {
			if name == long {
				return !has, true
			}
		}
		switch name {
		case "--foreground", "--preserve-status", "--verbose", "--ignore-environment", "--null", "--login", "--preserve-env",
			"--non-interactive", "--stdin", "--set-home", "--background", "--wait", "--fork", "--ctty", "--ignore", "--recursive", "--quiet":
			return false, true
		}
		return false, false
	}
	for i := 1; i < len(text); i++ {
		switch {
		case strings.IndexByte(w.flags, text[i]) >= 0:
		case strings.IndexByte(w.values, text[i]) >= 0:
			return i+1 == len(text), true
		default:
			return false, false
		}
	}
	return false, true
}
