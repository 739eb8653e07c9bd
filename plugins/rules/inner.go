package rules

import (
	"strings"
)

// find adds the commands that find runs.
func (l *line) find(c call, p part) {
	var inner [][]word
	for i := 1; i < len(c.words); i++ {
		switch text := c.words[i].text; text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.words) && c.words[end].text != ";" && !(c.words[end].text == "+" && c.words[end-1].text == "{}") {
				end++
			}
			if words := placed(c.words[i+1:end], "{}"); len(words) > 0 {
				inner = append(inner, words)
			}
			i = end
		case "-delete":
			p.unclear = "it deletes whatever it finds"
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			p.redirect = true
			if i++; i < len(c.words) {
				p.writes = append(p.writes, c.words[i].text)
			}
		case "-files0-from":
			i++
		default:
			for _, action := range []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls"} {
				if open := opened(text); open != "" && overlap(action, open) {
					p.unclear = "it may run something or delete what it finds"
				}
			}
		}
	}
	l.add(p)
	for _, words := range inner {
		l.command(c.within(words, c.covered))
	}
}

// placed fills the place of what find or xargs puts into a command.
func placed(words []word, place string) []word {
	all := make([]word, len(words))
	for i, w := range words {
		if place != "" && strings.Contains(w.text, place) {
			w = word{text: strings.ReplaceAll(w.text, place, something.text)}
		}
		all[i] = w
	}
	return all
}

var xargsOptions = wrapper{
	flags: "0optrx", values: "EILnPsdaRSJ",
	long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"},
}

// xargsFlags are the long options of xargs without a value, or with one after =.
var xargsFlags = []string{"--null", "--no-run-if-empty", "--verbose", "--interactive", "--open-tty", "--exit", "--max-lines", "--eof", "--show-limits"}

// xargs adds the command that xargs runs with words of its input.
func (l *line) xargs(c call, p part) {
	place, rest, options := "", c.words[1:], false
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "--" {
		text, n := rest[0].text, 1
		options = true
		name, value, has := strings.Cut(text, "=")
		long := false
		for _, flag := range xargsFlags {
			long = long || name == flag
		}
		switch {
		case !rest[0].known:
			p.unclear = "its options are not known"
		case name == "--replace", text == "-i":
			if place = "{}"; has {
				place = value
			}
		case strings.HasPrefix(text, "-i") || strings.HasPrefix(text, "-I") && len(text) > 2:
			place = text[2:]
		case text == "-I" || text == "-J":
			n = 2
			if len(rest) > 1 {
				place = rest[1].text
			}
		case strings.HasPrefix(text, "-l") || strings.HasPrefix(text, "-e"), long:
		default:
			takes, ok := xargsOptions.option(text)
			if !ok {
				p.unclear = "its option " + shown(text) + " is not known here"
			}
			if takes {
				n = 2
			}
		}
		rest = rest[min(n, len(rest)):]
	}
	if len(rest) > 0 && rest[0].text == "--" {
		rest = rest[1:]
	}
	words := placed(rest, place)
	if p.unclear != "" || len(words) == 0 { // xargs alone is echo
		l.add(p)
		return
	}
	if place == "" {
		words = append(words, something)
	}
	if !options && len(c.assigns) == 0 && c.words[0].value == "xargs" { // as Claude Code has it
		p.allow = ""
	}
	l.add(p)
	inner := c.within(words, c.covered)
	inner.stdin = nil
	l.command(inner)
}

const unknownCommands = "it is not known which commands it runs"

// shell adds the command line that a shell is given by -c or on its input.
func (l *line) shell(c call, p part) {
	script, direct := 1, false
options:
	for ; script < len(c.words); script++ {
		w := c.words[script]
		switch {
		case !w.known:
			p.unclear = unknownCommands
			l.add(p)
			return
		case w.value == "--" || w.value == "-":
			script++
			break options
		case w.value == "--version" || w.value == "--help":
			l.add(p)
			return
		case w.value == "--rcfile" || w.value == "--init-file":
			p.unclear = unknownCommands
			script++
		case strings.HasPrefix(w.value, "--"):
		case len(w.value) > 1 && (w.value[0] == '-' || w.value[0] == '+'):
			direct = direct || w.value[0] == '-' && strings.Contains(w.value, "c")
			for range strings.Count(w.value, "o") + strings.Count(w.value, "O") {
				script++
			}
		default:
			break options
		}
	}
	var text *word
	switch {
	case script < len(c.words) && (direct || strings.HasPrefix(c.words[script].text, "/dev/") || !c.words[script].known):
		text = &c.words[script]
		if !direct {
			text = nil
			p.unclear = unknownCommands
		}
	case script < len(c.words): // a file, as any program is
		l.add(p)
		return
	case direct:
		p.unclear = unknownCommands
	default:
		text = c.stdin
	}
	if text == nil || !text.known {
		p.unclear = unknownCommands
		l.add(p)
		return
	}
	l.add(p)
	l.nest(text.value, c.covered)
}

// nest reads a command line that a command is given. When it is covered by an
// allow rule of what gives it, it needs none of its own.
func (l *line) nest(command string, covered bool) {
	from := len(l.parts)
	l.read(command)
	if covered {
		for i := from; i < len(l.parts); i++ {
			l.parts[i].allow = ""
		}
	}
}

// eval adds the command line that eval makes of its words.
func (l *line) eval(c call, p part, words []word) {
	if len(words) > 0 && words[0].value == "--" {
		words = words[1:]
	}
	all, ok := values(words)
	if !ok {
		p.unclear = unknownCommands
	}
	l.add(p)
	if ok {
		l.nest(strings.Join(all, " "), c.covered)
	}
}

// trap adds the command line that runs on a signal.
func (l *line) trap(c call, p part) {
	words := c.words[1:]
	if len(words) > 0 && words[0].value == "--" {
		words = words[1:]
	}
	if len(words) > 1 {
		l.eval(c, p, words[:1])
		return
	}
	l.add(p)
}

// alias adds what the aliases stand for. Where they will be used nobody knows.
func (l *line) alias(c call, p part) {
	for _, w := range c.words[1:] {
		if name, value, ok := strings.Cut(w.value, "="); ok || !w.known {
			p.unclear = "it gives another meaning to " + name
			if w.known {
				l.nest(value, c.covered)
			}
		}
	}
	l.add(p)
}
